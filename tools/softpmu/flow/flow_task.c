/* SPDX-License-Identifier: MIT */
/*
 * flow_task.c: takes the records of a thread.
 *
 * A record is a branch, the begin or end of a run of code, or the meter of an event.  A clock
 * advances by what was used of the headroom of its meter between two records.
 */
#include "tools/softpmu/flow/flow_task.h"

/* Records: their jumps, and they themselves, are fetched into the caches so early. */
#define AHEAD	  8
#define FAR_AHEAD 64

struct record {
	uint64_t from, to, third;
	int64_t left[]; /* of the headroom of each meter */
};

/* Takes the code up to the place where the program continued without a branch, instruction by
 * instruction. */
static void take_stop(struct task *task, uint64_t stop)
{
	while (task->at > IN_FILE && task->at < stop) {
		struct segment *segment =
			segments_find(&task->segments, task->at, task->at | LINK_FLOW_BREAK);

		segment->count++;
		if (!segment->insns)
			break;
		task->at += segment->length;
	}
}

static const struct record *record_at(const struct flow_events *events, const void *records,
				      size_t i)
{
	size_t bytes = link_flow_bytes((unsigned)events->count);

	return (const struct record *)((const char *)records + i * bytes);
}

/* Begins with what is left of the headroom now. */
static void begin_clock(const struct flow_events *events, struct task *task,
			const struct record *record)
{
	for (size_t e = 0; e < events->count; e++) {
		if (task->meter[e] != NO_METER)
			task->left[e] = record->left[task->meter[e]] + task->held[task->meter[e]];
	}
}

/* Advances the clock of the current stack by what was used of the headroom. */
static inline void advance(const struct flow_events *events, struct task *task,
			   const struct record *record)
{
	uint64_t *clock = stacks_clock(task->stacks);
	size_t count = events->count;

	for (size_t e = 0; e < count; e++) {
		unsigned m = task->meter[e];
		int64_t left;

		if (m == NO_METER)
			continue;
		left = record->left[m] + task->held[m];
		clock[e] += (uint64_t)(task->left[e] - left);
		task->left[e] = left;
	}
}

static void take_meter(const struct flow_events *events, struct task *task,
		       const struct record *record)
{
	uint64_t m = record->from & ~LINK_FLOW_FLAGS;

	if (m >= LINK_FLOW_METERS_MAX)
		return;
	task->held[m] = record->left[0];
	for (size_t e = 0; e < events->count; e++) {
		if (events->signals[e] == record->to)
			task->meter[e] = (unsigned)m;
	}
}

static void take_break(const struct flow_events *events, struct task *task,
		       const struct record *record)
{
	const struct jump *jump;
	uint64_t stop = record->from & ~LINK_FLOW_FLAGS;

	if (stop)
		advance(events, task, record);
	else
		begin_clock(events, task, record);
	take_stop(task, stop);
	if (stop == record->to) { /* what is here already was left, and comes back */
		jumps_count(&task->jumps, LINK_FLOW_BREAK | stop, 0, 1);
		jumps_complete(&task->jumps);
		jump = jumps_count(&task->jumps, LINK_FLOW_BREAK, stop, 1);
	} else {
		jump = jumps_count(&task->jumps, LINK_FLOW_BREAK | stop, record->to, 1);
	}
	if (record->from & LINK_FLOW_LEAVES)
		stacks_leave_handler(task->stacks);
	else if (record->to && (!task->at || record->from & LINK_FLOW_HANDLER))
		stacks_begin(task->stacks, record->to, record->third,
			     record->from & LINK_FLOW_HANDLER);
	task->at = jump->to_memory ? record->to : record->to ? IN_FILE : 0;
}

static void take_end(struct task *task, enum jump_end end, const struct record *record)
{
	struct stacks *stacks = task->stacks;

	switch (end) {
	case JUMP_CALL:
		stacks_call(stacks, record->from, record->to, record->third);
		break;
	case JUMP_RETURN:
		stacks_return(stacks, record->from, record->to, record->third);
		break;
	case JUMP_DIRECT:
		stacks_jump(stacks, record->from, record->to, 0);
		break;
	case JUMP_INDIRECT:
		stacks_jump(stacks, record->from, record->to, record->third);
		break;
	default:
		break;
	}
}

/* Takes a jump of code that is not, or goes to code that is not, that of a file. */
static void take_in_memory(struct task *task, const struct jump *jump)
{
	if (jump->from_memory && task->at > IN_FILE)
		segments_find(&task->segments, task->at, jump->from)->count++;
	task->at = jump->to_memory ? jump->to : IN_FILE;
}

/* Takes calls that were counted: of each event what they cost on its meter. */
static void take_called(const struct flow_events *events, struct task *task,
			const struct record *record)
{
	uint64_t from = record->from & ~LINK_FLOW_FLAGS, cost[EXACT_EVENTS_MAX] = {0};
	const struct jump *jump = jumps_count(&task->jumps, from, record->to, record->third);

	for (size_t e = 0; e < events->count; e++) {
		if (task->meter[e] != NO_METER)
			cost[e] = (uint64_t)record->left[task->meter[e]];
	}
	if (jump->end != JUMP_INSIDE)
		stacks_add(task->stacks, &(struct stacks_calls){from, record->to, record->third,
								jump->end == JUMP_CALL, cost});
}

static void take_special(const struct flow_events *events, struct task *task,
			 const struct record *record)
{
	uint64_t from = record->from & ~LINK_FLOW_COUNTED;
	struct jump *jump;

	if (from & LINK_FLOW_BREAK) {
		take_break(events, task, record);
	} else if (from & LINK_FLOW_METER) {
		take_meter(events, task, record);
	} else if (from & LINK_FLOW_CALLED) {
		take_called(events, task, record);
	} else if (from != record->from) {
		jumps_count(&task->jumps, from, record->to, record->third);
	} else {
		jump = jumps_count(&task->jumps, from, record->to, 1);
		if (jump->from_memory || jump->to_memory)
			take_in_memory(task, jump);
	}
}

void flow_task_take(struct task *task, const struct flow_events *events, const void *records,
		    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct record *record = record_at(events, records, i);
		const struct jump *jump;

		__builtin_prefetch(record_at(events, records, i + FAR_AHEAD));
		if (i + AHEAD < count)
			jumps_prefetch(&task->jumps, record_at(events, records, i + AHEAD)->from,
				       record_at(events, records, i + AHEAD)->to);
		if (__builtin_expect((record->from & LINK_FLOW_FLAGS) != 0, 0)) {
			take_special(events, task, record);
			continue;
		}
		jump = jumps_count(&task->jumps, record->from, record->to, 1);
		if (__builtin_expect(jump->from_memory | jump->to_memory, 0))
			take_in_memory(task, jump);
		if (jump->end != JUMP_INSIDE) {
			advance(events, task, record);
			take_end(task, jump->end, record);
		}
	}
}
