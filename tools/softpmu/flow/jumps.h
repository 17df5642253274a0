/* SPDX-License-Identifier: MIT */
/*
 * jumps.h: where a thread went from where, and how often: its branches, and its other changes of
 * the instruction pointer.
 */
#ifndef SOFTPMU_TOOL_JUMPS_H
#define SOFTPMU_TOOL_JUMPS_H

#include <hosts/user/hash.h>

#include "tools/softpmu/flow/straight.h"
#include "tools/softpmu/symbols/code.h"

/* What a branch does to the calls that have not returned. */
enum jump_end {
	JUMP_INSIDE, /* nothing */
	JUMP_CALL,
	JUMP_RETURN,
	JUMP_DIRECT,   /* it leaves the function */
	JUMP_INDIRECT, /* the same, not always to the same place */
};

struct jump {
	uint64_t from, to;	     /* `from` with the flags of the log */
	uint64_t complete, since;    /* how often: in complete parts of the log, and since then */
	uint32_t part;		     /* of the log that `since` is of */
	bool is_used;		     /* otherwise it is a free place */
	uint8_t end;		     /* enum jump_end */
	bool from_memory, to_memory; /* the code is not that of a file */
};

struct jumps {
	struct jump *table;
	unsigned shift; /* 64 minus the logarithm of the number of places */
	size_t used;
	uint32_t part;
	struct code *code;
};

void jumps_begin(struct jumps *jumps, struct code *code);
void jumps_end(struct jumps *jumps);

/* All that was counted until now is complete. */
void jumps_complete(struct jumps *jumps);

/* Moves everything to the places where it happened, and forgets it.  all: what is not complete,
 * too. */
void jumps_move(struct jumps *jumps, struct straight *straight, struct exact *exact, bool all);

static inline size_t jumps_place(const struct jumps *jumps, uint64_t from, uint64_t to)
{
	return (size_t)(hash_of(to ^ (from << 24 | from >> 40)) >> jumps->shift);
}

static inline void jumps_prefetch(const struct jumps *jumps, uint64_t from, uint64_t to)
{
	__builtin_prefetch(&jumps->table[jumps_place(jumps, from, to)], 1);
}

/* Finds a jump that is not at its first place, or adds it.  Called by jumps_count(). */
struct jump *jumps_add(struct jumps *jumps, uint64_t from, uint64_t to);

/* Counts a jump.  Returns it, valid until the next call. */
static inline struct jump *jumps_count(struct jumps *jumps, uint64_t from, uint64_t to,
				       uint64_t times)
{
	struct jump *jump = &jumps->table[jumps_place(jumps, from, to)];

	if (__builtin_expect(jump->from != from || jump->to != to || !jump->is_used, 0))
		jump = jumps_add(jumps, from, to);
	if (jump->part != jumps->part) {
		jump->complete += jump->since;
		jump->since = 0;
		jump->part = jumps->part;
	}
	jump->since += times;
	return jump;
}

#endif
