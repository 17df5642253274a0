/* SPDX-License-Identifier: MIT */
/*
 * stacks.c: follows the calls of a thread.
 *
 * A call is known by the address of its return address on the stack, its slot.  It has ended when
 * the stack pointer is above the slot.  So a return, longjmp() and an exception are one case.  A
 * jump to another function adds a call with the slot of the call before, and both end together.
 *
 * A call through a procedure linkage table becomes a call of the function that the table leads to.
 * The dynamic linker may find the function first; that is a call of its own.
 *
 * Which stack is in use follows from the stack pointer.  A switch to an unknown stack is noticed at
 * a return or jump, and at a call above all that is known.
 */
#include "tools/softpmu/flow/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/flow/frames.h"

#define TAILS_MAX   32		/* jumps from function to function without a return in between */
#define NEAR_BYTES  1024	/* certainly on the same stack */
#define JUMP_BYTES  4096	/* a jump further down begins another stack */
#define CALL_BYTES  (64u << 20) /* a call further down does */
#define ABOVE_BYTES 256 /* above the first stack pointer that was seen, it is the same stack */

struct stacks *stacks_new(struct targets *targets, struct exact *exact, size_t thread)
{
	struct stacks *stacks = tool_alloc(sizeof(*stacks));

	stacks->targets = targets;
	stacks->exact = exact;
	stacks->events = exact->event_count;
	stacks->thread = exact->threads[thread];
	stacks->clock = stacks->idle;
	stacks->ways = tool_alloc(CACHE_PLACES * sizeof(*stacks->ways));
	stacks->cache = tool_alloc(CACHE_PLACES * sizeof(*stacks->cache));
	return stacks;
}

void stacks_forget(struct stacks *stacks)
{
	memset(stacks->cache, 0, CACHE_PLACES * sizeof(*stacks->cache));
	memset(stacks->ways, 0, CACHE_PLACES * sizeof(*stacks->ways));
}

/* --- stacks ----------------------------------------------------------------------------------- */

static void make_current(struct stacks *stacks, struct stack *stack)
{
	stacks->current = stack;
	stacks->clock = stack->clock;
	stack->used = ++stacks->switches;
}

static void end_stack(struct stacks *stacks, struct stack *stack)
{
	struct stack *before = stacks->current;
	size_t i = 0;

	stacks->current = stack;
	while (stack->count)
		pop(stacks);
	stacks->current = before == stack ? NULL : before;
	stacks->clock = stacks->current ? stacks->current->clock : stacks->idle;
	while (stacks->stack[i] != stack)
		i++;
	stacks->stack[i] = stacks->stack[--stacks->count];
	for (i = 0; i < stacks->count; i++) {
		if (stacks->stack[i]->interrupted == stack)
			stacks->stack[i]->interrupted = NULL;
	}
	free(stack->frames);
	free(stack->calls.list);
	free(stack->functions.list);
	free(stack);
}

/* Ends the stack that was not used for the longest time. */
static void end_oldest(struct stacks *stacks)
{
	struct stack *oldest = NULL;

	for (size_t i = 0; i < stacks->count; i++) {
		struct stack *stack = stacks->stack[i];

		if (stack != stacks->current && (!oldest || stack->used < oldest->used))
			oldest = stack;
	}
	if (oldest)
		end_stack(stacks, oldest);
}

static struct stack *add_stack(struct stacks *stacks, uint64_t to, uint64_t pointer)
{
	struct stack *stack;
	const struct target *target;
	struct frame root = {.slot = NO_SLOT, .call = NO_CALL};

	if (stacks->count == STACKS_MAX)
		end_oldest(stacks);
	stack = tool_alloc(sizeof(*stack));
	stack->low = stack->high = stack->last = pointer;
	stacks->stack[stacks->count++] = stack;
	make_current(stacks, stack);
	target = targets_find(stacks->targets, to);
	root.function = number_of_function(stacks, target->at);
	root.is_stub = target->is_stub;
	root.is_resolver = target->is_resolver;
	push(stacks, &root);
	return stack;
}

void stacks_begin(struct stacks *stacks, uint64_t to, uint64_t pointer, bool handler)
{
	struct stack *before = stacks->current;

	if (before && !handler)
		return; /* a forked process continues */
	add_stack(stacks, to, pointer)->interrupted = before;
}

void stacks_leave_handler(struct stacks *stacks)
{
	struct stack *stack = stacks->current, *interrupted = stack ? stack->interrupted : NULL;

	if (!interrupted)
		return;
	end_stack(stacks, stack);
	make_current(stacks, interrupted);
}

static bool is_interrupted(const struct stack *handler, const struct stack *stack)
{
	while (handler && handler != stack)
		handler = handler->interrupted;
	return handler;
}

/* Makes another stack the current one.  Handlers of signals that were left for it have ended. */
static void switch_to(struct stacks *stacks, struct stack *stack)
{
	while (stacks->current != stack && is_interrupted(stacks->current, stack))
		stacks_leave_handler(stacks);
	make_current(stacks, stack);
}

static uint64_t size_of(const struct stack *stack)
{
	return stack->high - stack->low;
}

/* Returns the smallest stack that contains the address, or NULL. */
static struct stack *find_stack(const struct stacks *stacks, uint64_t pointer)
{
	struct stack *found = NULL;

	for (size_t i = 0; i < stacks->count; i++) {
		struct stack *stack = stacks->stack[i];

		if (pointer >= stack->low && pointer <= stack->high &&
		    (!found || size_of(stack) < size_of(found)))
			found = stack;
	}
	return found;
}

static inline uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Returns whether an address that was not seen before can be of the current stack. */
static bool extends(const struct stack *stack, uint64_t pointer, uint64_t down_bytes)
{
	return pointer > stack->high
		       ? pointer - stack->high <= (stack->interrupted ? 0 : ABOVE_BYTES)
		       : stack->low - pointer <= down_bytes;
}

/* Makes the stack that contains the stack pointer the current one.  Returns false if it is a new
 * one, which begins at `to`. */
static inline bool follow(struct stacks *stacks, uint64_t to, uint64_t pointer, uint64_t down_bytes)
{
	struct stack *stack = stacks->current, *found;

	if (distance(pointer, stack->last) > NEAR_BYTES || pointer > stack->high) {
		found = find_stack(stacks, pointer);
		if (!found && !extends(stack, pointer, down_bytes)) {
			add_stack(stacks, to, pointer);
			return false;
		}
		if (found && found != stack) {
			switch_to(stacks, found);
			stack = found;
		}
	}
	stack->last = pointer;
	if (pointer < stack->low)
		stack->low = pointer;
	if (pointer > stack->high)
		stack->high = pointer;
	return true;
}

/* --- what instructions do --------------------------------------------------------------------- */

/* Ends the calls whose slots are below the stack pointer.  Returns whether there was one. */
static inline bool unwind(struct stacks *stacks, uint64_t pointer)
{
	bool some = false;

	/* The first frame was not called, and has no slot. */
	while (top(stacks)->slot < pointer) {
		pop(stacks);
		some = true;
	}
	return some;
}

void stacks_call(struct stacks *stacks, uint64_t from, uint64_t to, uint64_t pointer)
{
	if (!stacks->current || !follow(stacks, to, pointer, CALL_BYTES))
		return;
	unwind(stacks, pointer + 1);
	push_call(stacks, from, to, pointer);
}

/* Adds a call for a jump to another function. */
static void tail_call(struct stacks *stacks, uint64_t from, uint64_t to)
{
	struct stack *stack = stacks->current;
	uint64_t slot = top(stacks)->slot;

	if (stack->count > TAILS_MAX && stack->frames[stack->count - TAILS_MAX].slot == slot)
		pop(stacks);
	push_call(stacks, from, to, slot);
}

static enum way_kind kind_of(struct stacks *stacks, uint64_t from, uint64_t to)
{
	const struct target source = *targets_find(stacks->targets, from);
	const struct target *target = targets_find(stacks->targets, to);
	bool other =
		target->at.address != source.at.address || target->at.object != source.at.object;

	if (source.is_stub)
		return WAY_OUT_OF_STUB;
	if (source.is_resolver && target->is_start)
		return WAY_OUT_OF_RESOLVER;
	return target->is_stub || (target->known && target->is_start && !target->is_part && other)
		       ? WAY_TO_FUNCTION
		       : WAY_INSIDE;
}

static inline enum way_kind way_of(struct stacks *stacks, uint64_t from, uint64_t to)
{
	struct way *way = &stacks->ways[(from * 31 ^ to ^ to >> 12) % CACHE_PLACES];

	if (way->from != from || way->to != to)
		*way = (struct way){from, to, kind_of(stacks, from, to)};
	return way->kind;
}

/* The dynamic linker jumps to the function that it has found. */
static void leave_resolver(struct stacks *stacks, uint64_t to)
{
	struct frame frame = *top(stacks);

	pop(stacks);
	if (frame.call == NO_CALL) /* the stack needs a first frame */
		push(stacks, &frame);
	push_call(stacks, frame.site, to, frame.slot);
}

static void jump(struct stacks *stacks, uint64_t from, uint64_t to)
{
	enum way_kind kind = way_of(stacks, from, to);

	if (kind == WAY_OUT_OF_STUB && top(stacks)->is_stub)
		retarget(stacks, to);
	else if (kind == WAY_OUT_OF_RESOLVER && top(stacks)->is_resolver)
		leave_resolver(stacks, to);
	else if (kind == WAY_TO_FUNCTION)
		tail_call(stacks, from, to);
}

void stacks_jump(struct stacks *stacks, uint64_t from, uint64_t to, uint64_t pointer)
{
	if (!stacks->current || (pointer && !follow(stacks, to, pointer, JUMP_BYTES)))
		return;
	if (pointer)
		unwind(stacks, pointer);
	jump(stacks, from, to);
}

void stacks_return(struct stacks *stacks, uint64_t from, uint64_t to, uint64_t pointer)
{
	if (!stacks->current || !follow(stacks, to, pointer, JUMP_BYTES))
		return;
	/* A return to an address that was pushed is a jump.  A handler returns to code that leaves
	 * it. */
	if (!unwind(stacks, pointer) &&
	    !(stacks->current->interrupted && stacks->current->count == 1))
		jump(stacks, from, to);
}

void stacks_add(struct stacks *stacks, const struct stacks_calls *calls)
{
	const struct known *known;
	struct exact_call *call;
	struct exact_function *function;

	if (!calls->is_call && way_of(stacks, calls->from, calls->to) != WAY_TO_FUNCTION)
		return;
	known = know(stacks, calls->from, calls->to);
	call = &stacks->thread->calls[known->call];
	function = &stacks->thread->functions[known->function];
	call->times += calls->times;
	function->times += calls->times;
	for (size_t e = 0; e < stacks->events; e++) {
		call->cost[e] += calls->cost[e];
		function->cost[e] += calls->cost[e];
	}
}

/* --- the thread ------------------------------------------------------------------------------- */

void stacks_end(struct stacks *stacks)
{
	while (stacks->count)
		end_stack(stacks, stacks->stack[stacks->count - 1]);
	stacks->current = NULL;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	stacks_end(stacks);
	free(stacks->cache);
	free(stacks->ways);
	free(stacks);
}

/* --- forks ------------------------------------------------------------------------------------ */

struct stacks_copy {
	const struct exact_thread *thread; /* that the frames have the numbers of */
	uint64_t low, high, last;
	size_t count;
	struct frame frames[];
};

struct stacks_copy *stacks_copy(const struct stacks *stacks)
{
	const struct stack *from = stacks->current;
	struct stacks_copy *copy;

	if (!from)
		return NULL;
	copy = tool_alloc(sizeof(*copy) + from->count * sizeof(from->frames[0]));
	copy->thread = stacks->thread;
	copy->low = from->low;
	copy->high = from->high;
	copy->last = from->last;
	copy->count = from->count;
	memcpy(copy->frames, from->frames, from->count * sizeof(from->frames[0]));
	return copy;
}

struct stacks *stacks_fork(const struct stacks_copy *parent, struct targets *targets,
			   struct exact *exact, size_t thread)
{
	struct stacks *stacks = stacks_new(targets, exact, thread);
	const struct exact_thread *old;
	struct stack *stack;

	if (!parent)
		return stacks;
	old = parent->thread;
	stack = tool_alloc(sizeof(*stack));
	stack->low = parent->low;
	stack->high = parent->high;
	stack->last = parent->last;
	stacks->stack[stacks->count++] = stack;
	make_current(stacks, stack);
	for (size_t i = 0; i < parent->count; i++) {
		struct frame frame = parent->frames[i];
		struct exact_place function = old->functions[frame.function].at;

		frame.function = number_of_function(stacks, function);
		if (frame.call != NO_CALL)
			frame.call = number_of_call(stacks, old->calls[frame.call].at, function);
		push(stacks, &frame);
		/* The parent has made the call. */
		stacks->thread->functions[frame.function].times--;
		if (frame.call != NO_CALL)
			stacks->thread->calls[frame.call].times--;
	}
	return stacks;
}
