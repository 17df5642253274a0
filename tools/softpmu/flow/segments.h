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

#include "tools/softpmu/exact/exact.h"
#include "tools/softpmu/symbols/code.h"

struct segment {
	uint64_t at, from; /* `from` with the flags of the log */
	uint64_t count;	   /* of runs */
	size_t first;	   /* of its instructions, in segments.insns */
	uint16_t insns;
	uint8_t length; /* of the last instruction */
	bool is_used;	/* otherwise it is a free place */
};

struct segment_insn {
	uint64_t signals;
	uint8_t length;
};

struct segments {
	struct segment *table;
	unsigned shift; /* 64 minus the logarithm of the number of places */
	uint32_t used;
	struct segment_insn *insns;
	size_t insn_count, insn_room;
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

/* Adds up what ran for the thread, and forgets it. */
void segments_fold(struct segments *segments, struct exact *exact, size_t thread);

/* Returns the segment, which is added if it is new.  Valid until the next call. */
struct segment *segments_find(struct segments *segments, uint64_t at, uint64_t from);

#endif
