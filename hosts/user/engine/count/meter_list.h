/* SPDX-License-Identifier: MIT */
/*
 * meter_list.h: what translated code charges and logs (meter_list.c).
 *
 * A thread runs code that was translated for its list, current->list.  Threads whose events differ
 * have different lists, and so has a thread before and after its events change.
 */
#ifndef SOFTPMU_ENGINE_METER_LIST_H
#define SOFTPMU_ENGINE_METER_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/rt/context.h"

#define NO_VARIANT UINT8_MAX

struct meter_list {
	struct meter_list *next; /* of all lists */
	uint8_t variant;   /* of the code cache; NO_VARIANT: the list has no code (variants.c) */
	bool unchecked;	   /* blocks that go forward are not checked (shards.c) */
	bool branch_kinds; /* records of the log of branches hold their kind */
	bool flow;	   /* the log of branches is that of control flow (flow.h) */
	bool clocks;	   /* a meter counts static clocks, in parts, or branches have them */
	bool addresses;	   /* precise steps list the accesses of what they report */
	unsigned shards;   /* that blocks use */
	/* ACTIVITY_ bits: what code logs for a model of the machine. */
	unsigned activity;
	uint64_t branch_signals; /* kinds of taken branches that are logged; 0: none */
	unsigned meters;
	/* Of each meter, those in user code; 0: a model counts it.  Block b charges meter m in the
	 * word current->shard[m][shard_of(b)]. */
	uint64_t signals[];
};

/* Memory for the longest. */
union meter_list_room {
	struct meter_list list;
	uint8_t bytes[sizeof(struct meter_list) + SHARDED_METERS * sizeof(uint64_t)];
};

static inline size_t meter_list_bytes(unsigned meters)
{
	return sizeof(struct meter_list) + meters * sizeof(uint64_t);
}

/* The empty list.  A thread that does not count yet has it. */
extern struct meter_list meter_list_none;

/* Returns the list that is equal to `wanted` but for `next` and `variant`.  A list is never
 * freed. */
struct meter_list *meter_list_find(const struct meter_list *wanted);

#endif
