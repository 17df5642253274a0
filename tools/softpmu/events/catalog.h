/* SPDX-License-Identifier: MIT */
/* catalog.h: every event that libpfm4 has for a model, and how far its count can be trusted. */
#ifndef SOFTPMU_TOOL_CATALOG_H
#define SOFTPMU_TOOL_CATALOG_H

#include <softpmu/model.h>

/* An event of libpfm4's table with one unit mask.  Texts live until the callback returns. */
struct catalog_event {
	const char *name;	 /* "BR_INST_RETIRED.NEAR_TAKEN" */
	const char *description; /* one line */
	uint64_t select;	 /* event, unit mask, E, ANY, INV and CMASK of IA32_PERFEVTSELx */
	bool precise;
};

/*
 * Calls `each` for every event in libpfm4's table `pfm` ("skl").  Returns false if there is no such
 * table.
 */
bool catalog_each(const char *pfm, void (*each)(void *opaque, const struct catalog_event *event),
		  void *opaque);

/*
 * Returns how far a count of the named event can be trusted, as `softpmu stat` takes the event.
 * Sets *reason to a phrase that says why it is absent, otherwise to NULL.
 */
enum spmu_fidelity catalog_fidelity(const struct spmu_model *model, const char *name,
				    const char **reason);

/* Returns "exact", "modelled" or "absent". */
const char *catalog_fidelity_text(enum spmu_fidelity fidelity);

#endif
