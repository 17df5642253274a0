/* SPDX-License-Identifier: MIT */
/*
 * event_early.h: events of the units before the architectural one: codes that are no
 * IA32_PERFEVTSELx value, and NetBurst's event masks and tags.
 */
#ifndef SOFTPMU_EVENT_EARLY_H
#define SOFTPMU_EVENT_EARLY_H

#include "event_names.h"

/* A metric of the manual's tables 19-31 to 19-33: an event that counts tags, and what tags. */
struct event_metric {
	const char *name, *event;
	const char *tagger; /* event whose ESCR tags; NULL: replay */
	uint32_t replay;    /* as struct spmu_request.tagger */
	const char *description;
};

/* Number `index` of the model; NULL past the last. */
const struct event_metric *event_metric(const struct spmu_model *model, size_t index);

/*
 * The model's row of a code.  Of NetBurst's codes with several bits in the event mask, for which
 * the table has no row, one is made that says what they count together.  NULL: nothing is known.
 */
const struct spmu_event *event_row(const struct spmu_model *model, uint32_t code);

/* "branch_retired:MMTP:MMTM": an event of NetBurst and bits of its mask, or a metric. */
bool event_find_early(const struct spmu_model *model, const char *name, struct event_code *code);

/* The code behind what libpfm4 makes of a NetBurst event: an ESCR and a CCCR. */
uint32_t event_code_of_escr(const struct spmu_model *model, const char *name, uint64_t escr,
			    uint64_t cccr);

/* Let `tagger` tag what the code counts: false with a phrase when that cannot be. */
bool event_tag(const struct spmu_model *model, struct event_code *code, const char *tagger,
	       const char **why);

/* The code counts tags, and nothing is said of what tags. */
bool event_wants_tag(const struct spmu_model *model, const struct event_code *code);

/* Why the family's counters cannot do what the modifiers ask; NULL: they can. */
const char *event_cannot(const struct spmu_model *model, uint64_t select);

/* Counters that take a code of which the table says nothing. */
uint32_t event_counters(const struct spmu_model *model, uint32_t code);

#endif
