/* SPDX-License-Identifier: MIT */
/*
 * segments.h: what a thread ran: each straight piece of code once, with the number of its runs.
 *
 * A segment begins where a branch went and ends with the next branch that was taken.  It is decoded
 * once; a known segment costs one look into the table.
 */
#ifndef SOFTPMU_TOOL_SEGMENTS_H
#define SOFTPMU_TOOL_SEGMENTS_H

#include <hosts/user/decode/decode.h>
#include <hosts/user/hash.h>

#include "tools/softpmu/exact/exact.h"
#include "tools/softpmu/symbols/code.h"

/* What the last instruction does to the calls that have not returned. */
enum segment_end {
	SEGMENT_INSIDE, /* nothing */
	SEGMENT_CALL,
	SEGMENT_RETURN,
	SEGMENT_JUMP,	  /* a direct jump that leaves the function */
	SEGMENT_INDIRECT, /* a jump that is not always to the same place */
};

/* A cache line. */
struct segment {
	uint64_t at, from;   /* `from` with the flags of the log */
	uint64_t count;	     /* of runs */
	uint32_t number;     /* from 1 on; 0: a free place */
	uint8_t end, length; /* enum segment_end; bytes of the last instruction */
	uint16_t insns;
	uint32_t cost[EXACT_EVENTS_MAX]; /* of one run */
};

/* What is seldom needed of a segment. */
struct segment_rest {
	size_t first; /* of its instructions, in segments.insns */
	/* Of an indirect jump: the addresses of its function. */
	uint64_t low, high;
};

struct segment_insn {
	uint64_t signals;
	uint8_t length;
};

struct segments {
	struct segment *table;
	void *memory;	/* of the table */
	unsigned shift; /* 64 minus the logarithm of the number of places */
	uint32_t used;
	struct segment_insn *insns;
	size_t insn_count, insn_room;
	struct segment_rest *rest; /* of each segment, by its number */
	size_t rest_room;
	uint64_t lost;		/* segments that could not be decoded */
	const uint64_t *events; /* the signals of each event */
	size_t event_count;
	struct code *code;
};

void segments_begin(struct segments *segments, struct code *code, const uint64_t *events,
		    size_t event_count);
void segments_end(struct segments *segments);

/* Returns how many occurrences of an event an instruction with these signals is. */
unsigned segments_occurrences(uint64_t event, uint64_t signals);

/* Returns whether an indirect jump at the end stays in its function. */
bool segments_stays(const struct segments *segments, const struct segment *segment, uint64_t to);

/* Adds up what ran for the thread, and forgets it. */
void segments_fold(struct segments *segments, struct exact *exact, size_t thread);

static inline size_t segments_place(const struct segments *segments, uint64_t at, uint64_t from)
{
	uint64_t mix = at ^ (from << 24 | from >> 40);

	return (size_t)(hash_of(mix) >> segments->shift);
}

/* Loads the segment into the cache. */
static inline void segments_prefetch(const struct segments *segments, uint64_t at, uint64_t from)
{
	__builtin_prefetch(&segments->table[segments_place(segments, at, from)], 1);
}

/* Finds a segment that is not at its first place, or adds it.  Called by segments_find(). */
struct segment *segments_add(struct segments *segments, uint64_t at, uint64_t from, uint64_t to);

/* Returns the segment, valid until the next call.  `to` is where its end went. */
static inline struct segment *segments_find(struct segments *segments, uint64_t at, uint64_t from,
					    uint64_t to)
{
	struct segment *segment = &segments->table[segments_place(segments, at, from)];

	if (__builtin_expect(segment->at == at && segment->from == from && segment->number, 1))
		return segment;
	return segments_add(segments, at, from, to);
}

#endif
