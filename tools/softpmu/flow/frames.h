/* SPDX-License-Identifier: MIT */
/*
 * frames.h: the calls of a thread that have not returned, and how one begins and ends.  It is a
 * part of stacks.c: each call of the program comes here.
 */
#ifndef SOFTPMU_TOOL_FRAMES_H
#define SOFTPMU_TOOL_FRAMES_H

#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/flow/targets.h"

#define STACKS_MAX   256
#define CACHE_PLACES 4096
#define NO_CALL	     UINT32_MAX
#define NO_SLOT	     UINT64_MAX

struct frame {
	uint64_t slot, site;
	uint32_t call, function; /* numbers in the thread; NO_CALL: it was not called */
	bool is_stub, is_resolver;
	uint64_t clock[EXACT_EVENTS_MAX]; /* of the stack when it began */
};

struct counters {
	uint32_t *list;
	size_t room;
};

struct stack {
	struct frame *frames;
	size_t count, room;
	uint64_t clock[EXACT_EVENTS_MAX];
	uint64_t low, high, last;	  /* stack pointers that were seen */
	uint64_t used;			  /* when it was the current one */
	struct counters calls, functions; /* how many of the frames are of each */
	struct stack *interrupted;	  /* of a handler of a signal; NULL: it is none */
};

/* What is known of a call from one address to another. */
struct known {
	uint64_t from, to;
	uint32_t call, function;
	bool is_stub, is_resolver;
};

/* What a jump from one address to another is. */
struct way {
	uint64_t from, to;
	enum way_kind {
		WAY_INSIDE = 1, /* of a function */
		WAY_OUT_OF_STUB,
		WAY_OUT_OF_RESOLVER,
		WAY_TO_FUNCTION,
	} kind;
};

struct stacks {
	uint64_t *clock; /* of the current stack: stacks_clock() */
	struct targets *targets;
	struct exact *exact;
	struct exact_thread *thread;
	size_t events; /* of `exact`; the other places of a clock are not used */
	struct stack *stack[STACKS_MAX];
	size_t count;
	struct stack *current; /* NULL: the thread has not begun */
	uint64_t switches;
	struct known *cache;
	struct way *ways;
	uint64_t idle[EXACT_EVENTS_MAX]; /* the clock before the thread has begun */
};

static inline void add_counters(struct counters *counters, uint32_t number)
{
	size_t room = 2 * (size_t)number + 64;

	counters->list = tool_grow(counters->list, room * sizeof(*counters->list));
	memset(counters->list + counters->room, 0,
	       (room - counters->room) * sizeof(*counters->list));
	counters->room = room;
}

/* Returns the counter of that number. */
static inline uint32_t *counter(struct counters *counters, uint32_t number)
{
	if (__builtin_expect(number >= counters->room, 0))
		add_counters(counters, number);
	return &counters->list[number];
}

static inline void add_cost(const struct stacks *stacks, const struct frame *frame, uint64_t *cost)
{
	const uint64_t *clock = stacks->current->clock;

	for (size_t e = 0; e < stacks->events; e++)
		cost[e] += clock[e] - frame->clock[e];
}

/* Ends the newest call. */
static inline void pop(struct stacks *stacks)
{
	struct stack *stack = stacks->current;
	struct frame *frame = &stack->frames[--stack->count];
	struct exact_thread *thread = stacks->thread;

	if (!--*counter(&stack->functions, frame->function))
		add_cost(stacks, frame, thread->functions[frame->function].cost);
	if (frame->call != NO_CALL && !--*counter(&stack->calls, frame->call))
		add_cost(stacks, frame, thread->calls[frame->call].cost);
}

static inline struct frame *top(const struct stacks *stacks)
{
	return &stacks->current->frames[stacks->current->count - 1];
}

static inline uint32_t number_of_function(struct stacks *stacks, struct exact_place at)
{
	const struct exact_function *function = exact_function(stacks->thread, at);

	return (uint32_t)(function - stacks->thread->functions);
}

static inline uint32_t number_of_call(struct stacks *stacks, struct exact_place at,
				      struct exact_place callee)
{
	const struct exact_call *call = exact_call(stacks->thread, at, callee);

	return (uint32_t)(call - stacks->thread->calls);
}

/* Returns what is known of the call, and finds it out the first time. */
static inline const struct known *know(struct stacks *stacks, uint64_t from, uint64_t to)
{
	struct known *known = &stacks->cache[(from * 31 ^ to ^ to >> 12) % CACHE_PLACES];
	const struct target *target;

	if (known->from == from && known->to == to)
		return known;
	target = targets_find(stacks->targets, to);
	*known = (struct known){
		.from = from,
		.to = to,
		.call = number_of_call(stacks, targets_place(stacks->targets, from), target->at),
		.function = number_of_function(stacks, target->at),
		.is_stub = target->is_stub,
		.is_resolver = target->is_resolver};
	return known;
}

/* Counts the frame, which is complete but for the clock. */
static inline void count_frame(struct stacks *stacks, const struct frame *frame)
{
	struct stack *stack = stacks->current;

	stacks->thread->functions[frame->function].times++;
	++*counter(&stack->functions, frame->function);
	if (frame->call == NO_CALL)
		return;
	stacks->thread->calls[frame->call].times++;
	++*counter(&stack->calls, frame->call);
}

/* Adds a frame that only has the time. */
static inline struct frame *add_frame(struct stacks *stacks)
{
	struct stack *stack = stacks->current;
	struct frame *frame;

	if (__builtin_expect(stack->count == stack->room, 0))
		stack->frames =
			tool_room(stack->frames, &stack->room, stack->count, sizeof(*frame));
	frame = &stack->frames[stack->count++];
	for (size_t e = 0; e < stacks->events; e++)
		frame->clock[e] = stack->clock[e];
	return frame;
}

/* Adds a copy of a frame. */
static inline void push(struct stacks *stacks, const struct frame *from)
{
	struct frame *frame = add_frame(stacks);

	frame->slot = from->slot;
	frame->site = from->site;
	frame->call = from->call;
	frame->function = from->function;
	frame->is_stub = from->is_stub;
	frame->is_resolver = from->is_resolver;
	count_frame(stacks, frame);
}

static inline void push_call(struct stacks *stacks, uint64_t from, uint64_t to, uint64_t slot)
{
	const struct known *known = know(stacks, from, to);
	struct frame *frame = add_frame(stacks);

	frame->slot = slot;
	frame->site = from;
	frame->call = known->call;
	frame->function = known->function;
	frame->is_stub = known->is_stub;
	frame->is_resolver = known->is_resolver;
	count_frame(stacks, frame);
}

/* The newest call turns out to be one of the function at `to`. */
static inline void retarget(struct stacks *stacks, uint64_t to)
{
	struct stack *stack = stacks->current;
	struct frame *frame = top(stacks);
	const struct known *known;

	stacks->thread->functions[frame->function].times--;
	--*counter(&stack->functions, frame->function);
	if (frame->call != NO_CALL) {
		stacks->thread->calls[frame->call].times--;
		--*counter(&stack->calls, frame->call);
		known = know(stacks, frame->site, to);
		frame->call = known->call;
		frame->function = known->function;
		frame->is_stub = known->is_stub;
		frame->is_resolver = known->is_resolver;
	} else {
		const struct target *target = targets_find(stacks->targets, to);

		frame->function = number_of_function(stacks, target->at);
		frame->is_stub = target->is_stub;
		frame->is_resolver = target->is_resolver;
	}
	count_frame(stacks, frame);
}

#endif
