/* SPDX-License-Identifier: MIT */
/*
 * event_legacy.h: events of the units before architectural performance monitoring.  Their codes are
 * not values of IA32_PERFEVTSELx.  NetBurst's have event masks and tags.
 */
#ifndef SOFTPMU_EVENT_LEGACY_H
#define SOFTPMU_EVENT_LEGACY_H

#include "tools/softpmu/events/event_names.h"

/*
 * A metric of the manual's tables 19-31 to 19-33: an event that counts tags, and what sets them.
 * What a metric of replays counts is a set of signals, a tally, or, if both are 0, absent.
 */
struct event_legacy_metric {
	const char *name, *event;
	const char *tagger; /* event whose ESCR sets the tag; NULL: replay */
	uint32_t replay;    /* as in struct spmu_request.tagger */
	const char *description;
	uint64_t signals;
	uint16_t tally;
};

/* Returns metric `index` of the model, NULL after the last one. */
const struct event_legacy_metric *event_legacy_metric(const struct spmu_model *model, size_t index);

/*
 * Returns the model's row of a code, or NULL.  For a NetBurst code with several mask bits that the
 * table does not list, makes a row that says what they count together.
 */
const struct spmu_event *event_legacy_row(const struct spmu_model *model, uint64_t code);

/* Finds a NetBurst event with bits of its mask ("branch_retired:MMTP:MMTM"), or a metric. */
bool event_legacy_find(const struct spmu_model *model, const char *name, struct event_code *code);

/* Returns the code of a NetBurst event that libpfm4 encoded as an ESCR and a CCCR. */
uint32_t event_legacy_of_escr(const struct spmu_model *model, const char *name, uint64_t escr,
			      uint64_t cccr);

/* Makes `tagger` set the tags that the code counts.  Returns false, with a phrase in *why, if it
 * cannot. */
bool event_legacy_tag(const struct spmu_model *model, struct event_code *code, const char *tagger,
		      const char **why);

/* Returns true if the code counts tags and nothing sets them yet. */
bool event_legacy_wants_tag(const struct spmu_model *model, const struct event_code *code);

/* Returns why the counters of the family cannot do what the modifiers ask, or NULL if they can. */
const char *event_legacy_cannot(const struct spmu_model *model, uint64_t select);

/* Returns the counters that take a code which is not in the table. */
uint32_t event_legacy_counters(const struct spmu_model *model, uint32_t code);

#endif
