/* SPDX-License-Identifier: MIT */
/* catalog.h: every event that libpfm4 has for a model, and what a count is worth. */
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
 * Call `each` for every event that libpfm4's table `pfm` ("skl") holds.  False when there is no
 * such table.
 */
bool catalog_each(const char *pfm, void (*each)(void *opaque, const struct catalog_event *event),
		  void *opaque);

/*
 * What a count of the named event is worth in a program run by softpmu, exactly as
 * `softpmu stat` takes it.  *reason gets one phrase when it is absent, else NULL.
 */
enum spmu_fidelity catalog_fidelity(const struct spmu_model *model, const char *name,
				    const char **reason);

/* "exact", "modelled", "absent". */
const char *catalog_fidelity_text(enum spmu_fidelity fidelity);

#endif
