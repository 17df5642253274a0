/* SPDX-License-Identifier: MIT */
/* escr.h: what ESCRs of NetBurst select, and what they tag (escr_select.c, tagging.c). */
#ifndef SPMU_SRC_ESCR_H
#define SPMU_SRC_ESCR_H

#include "src/pmu/core.h"

/* escr_select.c: what an ESCR selects. */
struct escr_selection {
	uint32_t code, mask; /* of an event code */
	uint8_t tag;	     /* the tag for what it selects; 0: none */
	uint8_t rings[SPMU_THREADS_MAX];
};
struct escr_selection escr_selection(const struct spmu_core *core, unsigned number);
void escr_count(const struct spmu_core *core, const struct escr_selection *selection,
		uint32_t counters, struct counter *counter);

/*
 * tagging.c. tagging_counts() returns true if the selection is an event that counts tags.
 * tagging_select() lets the counter count what has these tags, and sets the rings of the selection.
 * tagging_splits() returns the signals of an event that separates tagged from untagged
 * instructions, and removes from the mask what is unknown.
 */
bool tagging_counts(const struct spmu_core *core, const struct escr_selection *selection);
void tagging_select(const struct spmu_core *core, struct escr_selection *selection,
		    struct counter *counter);
uint64_t tagging_splits(const struct spmu_core *core, struct escr_selection *selection);

#endif
