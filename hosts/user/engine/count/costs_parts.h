/* SPDX-License-Identifier: MIT */
/* costs_parts.h: what costs.c and event_costs.c share. */
#ifndef SOFTPMU_ENGINE_COSTS_PARTS_H
#define SOFTPMU_ENGINE_COSTS_PARTS_H

#include <hosts/user/link.h>
#include <stdbool.h>
#include <stdint.h>

struct insn_cost {
	struct insn_cost *next; /* of the bucket */
	uint64_t pc;
	uint32_t bytes;
	/* Only for the costs of events: the signals that it has whenever it retires, what each
	 * event counts of them, and how often it has retired. */
	uint32_t signals;
	uint8_t each[LINK_COSTS];
	uint64_t times;
	uint64_t cost[LINK_COSTS];
};

#define COSTS_CALLS    64  /* in a record */
#define COSTS_COUNTERS 256 /* signals and tallies that events count */

/* Of a thread. */
struct costs {
	bool counts;
	uint64_t pointer; /* the stack pointer after the last access, if it was a call or return */
	uint64_t cost[LINK_COSTS];
	unsigned calls;
	uint64_t record[(sizeof(struct link_calls) + COSTS_CALLS * sizeof(struct link_call)) / 8];
	/* What the model has counted up to the last instruction; only for the costs of events. */
	uint64_t counted[COSTS_COUNTERS];
};

#endif
