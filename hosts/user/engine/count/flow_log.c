/* SPDX-License-Identifier: MIT */
/* flow_log.c: writes records of the log of control flow in a trace buffer of the link. */
#include "engine/count/flow_log.h"

#include "engine/count/count.h"
#include "engine/count/flow_calls.h"
#include "engine/count/flow_pairs.h"
#include "engine/count/meter_list.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

struct record {
	uint64_t from, to, third;
	int64_t left[LINK_FLOW_METERS_MAX];
};

static uint64_t guard(void)
{
	return current->flow.log + LINK_TRACE_BYTES;
}

/* Begins an empty buffer.  It has a record that says nothing, because code looks at the newest
 * one. */
static void begin_buffer(void)
{
	struct record *record = (struct record *)current->flow.log;

	record->from = LINK_FLOW_METER | LINK_FLOW_METERS_MAX;
	record->to = 0;
	record->third = current->gpr[4];
	current->log = current->flow.log + engine_flow_bytes();
}

static void take_buffer(void)
{
	size_t bytes;

	if (current->flow.log)
		return;
	current->flow.log = branches_buffer(false, &bytes);
	begin_buffer();
}

void flow_log_hand_over(void)
{
	size_t records = (current->log - current->flow.log) / engine_flow_bytes();

	if (!current->flow.log || records == 1)
		return;
	flow_calls_convert((void *)current->flow.log, records);
	current->flow.log =
		branches_to_tool(NULL, (const void *)current->flow.log, records, current->flow.log);
	begin_buffer();
	flow_pairs_drain(flow_log_counted, false);
}

void flow_log_discard(void)
{
	if (current->flow.log)
		begin_buffer();
}

int64_t *flow_log_next(uint64_t from, uint64_t to, uint64_t third)
{
	struct record *record;

	take_buffer();
	if (current->log == guard())
		flow_log_hand_over();
	record = (struct record *)current->log;
	record->from = from;
	record->to = to;
	record->third = third;
	current->log += engine_flow_bytes();
	return record->left;
}

int64_t *flow_log_counted(uint64_t from, uint64_t to, uint64_t times)
{
	return flow_log_next(LINK_FLOW_COUNTED | from, to, times);
}

/* Returns how many records at the end of the log are calls that have not returned. */
static size_t open_at_end(void)
{
	unsigned bytes = engine_flow_bytes();
	size_t count = 0;

	for (uint64_t at = current->log - bytes; at > current->flow.log; at -= bytes, count++) {
		const struct record *record = (const struct record *)at;

		if (!flow_calls_is_open(record->from, record->to))
			break;
	}
	return count;
}

void flow_log_meter(unsigned m, int64_t held)
{
	unsigned bytes = engine_flow_bytes();
	struct flow *flow = &current->flow;
	struct record *record;
	size_t moved;

	take_buffer();
	if (current->log == guard())
		flow_log_hand_over();
	moved = open_at_end();
	record = (struct record *)(current->log - moved * bytes);
	memmove((char *)record + bytes, record, moved * bytes);
	current->log += bytes;
	record->from = LINK_FLOW_METER | m;
	record->to = flow->signals[m];
	record->third = current->gpr[4];
	record->left[0] = held;
	for (size_t i = 1; i <= moved; i++)
		((struct record *)((char *)record + i * bytes))->left[m] -= held - flow->held[m];
	flow->held[m] = held;
}

bool flow_log_full_at(uint64_t address)
{
	return current->list->flow && current->flow.log && address == guard() &&
	       current->log == address;
}

uint64_t flow_log_make_room(void)
{
	flow_log_hand_over();
	return current->log;
}
