/* SPDX-License-Identifier: MIT */
/*
 * units.h: what a thread counts with: its units, and the lanes that their headroom is shared out
 * to (units.c, lanes.c, counting.c).
 */
#ifndef SOFTPMU_ENGINE_UNITS_H
#define SOFTPMU_ENGINE_UNITS_H

#include <softpmu/softpmu.h>

#include "path.h"

struct unit {
	struct spmu_core *core;
	struct spmu_meters meters;
	struct spmu_driver driver;
	bool interrupt_due;
	/* Stays when the unit is made anew. */
	struct {
		void *core;
		struct spmu_meters *sibling;
		uint8_t *ds;
	} memory;
};

/* What a thread has of its own. */
struct counting {
	unsigned units;
	enum counting_mode mode;
	uint64_t now_next_ip; /* of the instruction that is being retired */
	int64_t handed_out;   /* headroom, since a portion was last over */
	uint64_t start_tsc, start_ns;
	/* In bulk mode a unit's headroom stands in the lanes. */
	struct {
		struct spmu_meter *unit;
		int64_t reserve; /* kept back in the present mode */
		int64_t held;	 /* what is not in the lanes of bulk code: its next portions */
		int64_t granted[LANES];
		uint64_t used[LANES]; /* lately: how the next grant is shared out */
	} meter[LANED_METERS];
	struct unit unit[UNITS_MAX];
	struct {
		uint8_t unit;
		uint8_t slot;
		uint64_t last_tsc;
		uint64_t period;
		uint64_t published; /* what of its count the tool has been told */
	} event[LINK_EVENTS_MAX];
};

#endif
