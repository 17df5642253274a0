/* SPDX-License-Identifier: MIT */
/* flow_log.c: writes records of the log of control flow in a trace buffer of the link. */
#include "engine/count/flow_log.h"

#include "engine/count/count.h"
#include "engine/count/meter_list.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"

struct record {
	uint64_t from, to, third;
	int64_t left[LINK_FLOW_METERS_MAX];
};

static uint64_t guard(void)
{
	return current->flow.log + LINK_TRACE_BYTES;
}

static void take_buffer(void)
{
	size_t bytes;

	if (current->flow.log)
		return;
	current->flow.log = current->log = branches_buffer(false, &bytes);
}

void flow_log_hand_over(void)
{
	uint64_t bytes = current->log - current->flow.log;

	if (!current->flow.log)
		return;
	if (bytes)
		current->flow.log = branches_to_tool(NULL, (const void *)current->flow.log,
						     bytes / link_flow_bytes(engine_link->events),
						     current->flow.log);
	current->log = current->flow.log;
}

void flow_log_discard(void)
{
	current->log = current->flow.log;
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
	current->log += link_flow_bytes(engine_link->events);
	return record->left;
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
