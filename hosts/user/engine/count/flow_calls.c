/* SPDX-License-Identifier: MIT */
/*
 * flow_calls.c: the records of calls and jumps, as they are before the tool gets them.
 *
 * The log of a thread ends with the calls that have not returned.  A return takes its call from the
 * log and adds it to the sums of that call (emit_flow.c, flow_sums.c).  What is left of the log is
 * for the tool: calls that have not returned yet, and everything that is not so simple.
 *
 * What a function has cost in a recursion is not added again.  So a call is only added to the sums
 * if its function is not active otherwise (flow_active.c).  Other calls remain in the log, and the
 * tool decides.
 */
#include "engine/count/flow_calls.h"

#include <softpmu/signals.h>

#include "engine/count/code_files.h"
#include "engine/count/flow_active.h"
#include "engine/count/flow_pairs.h"
#include "engine/count/flow_places.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"

struct record {
	union {
		uint64_t from, returns_to;
	};
	union {
		uint64_t to;
		struct flow_open open;
	};
	uint64_t third;
	int64_t left[];
};

uint64_t flow_calls_kind(uint64_t to, uint64_t signals)
{
	enum flow_kind kind = FLOW_OTHER;

	if (signals & (SPMU_SIGBIT(CALL_REL) | SPMU_SIGBIT(CALL_IND)))
		kind = FLOW_CALL;
	else if (signals & SPMU_SIGBIT(RET_NEAR))
		kind = FLOW_RETURN;
	else if (code_files_marked(LINK_MARK_START, to))
		kind = FLOW_JUMP;
	if (kind == FLOW_CALL || kind == FLOW_JUMP)
		flow_active_add(to);
	return (uint64_t)kind << FLOW_KIND_SHIFT;
}

/* `before`: where the sums are of the call that is the record before; 0: it is none. */
static void convert_jump(const struct record *record, uint32_t before)
{
	if (!code_files_marked(LINK_MARK_STUB, record->from))
		flow_pairs_learn(record->from, record->to, false);
	else if (before)
		flow_pairs_learn_stub(before, record->from, record->to);
	if (code_files_marked(LINK_MARK_START, record->to))
		flow_active_tell(record->third, flow_words_place(record->to));
	else
		flow_active_subtract(record->to); /* it was a jump within a function */
}

static void convert_branch(struct record *record, uint32_t before)
{
	enum flow_kind kind = (enum flow_kind)((record->from & FLOW_KIND_MASK) >> FLOW_KIND_SHIFT);

	record->from &= ~FLOW_KIND_MASK;
	switch (kind) {
	case FLOW_CALL:
		flow_active_tell(record->third, flow_words_place(record->to));
		flow_pairs_learn(record->from, record->to, true);
		break;
	case FLOW_JUMP:
		convert_jump(record, before);
		break;
	case FLOW_RETURN:
		flow_active_tell_return(record->third - 8);
		break;
	default:
		break;
	}
}

bool flow_calls_is_open(uint64_t from, uint64_t to)
{
	return !(from & LINK_FLOW_FLAGS) && (int64_t)to < 0;
}

/* Makes the record of an open call one of a branch. */
static void convert_open(struct record *record)
{
	const struct flow_call *call = flow_places_call(record->open.call);

	flow_active_tell(record->third, record->open.active);
	record->from = call->from;
	record->to = call->to;
}

void flow_calls_convert(void *records, size_t count)
{
	uint32_t before = 0;
	uint64_t slot = 0;

	for (size_t i = 0; i < count; i++) {
		struct record *record = (void *)((char *)records + i * engine_flow_bytes());
		bool is_open = flow_calls_is_open(record->from, record->to);
		uint32_t open = is_open ? record->open.call : 0;

		if (open)
			convert_open(record);
		else if (!(record->from & LINK_FLOW_FLAGS))
			convert_branch(record, slot == record->third ? before : 0);
		before = open;
		slot = record->third;
	}
}
