/* SPDX-License-Identifier: MIT */
/*
 * stacks.h: the calls of a thread that have not returned, and what they cost.
 *
 * A thread has several stacks if it switches between contexts, and one more while a handler of a
 * signal runs.  Each stack has a clock of its own, which counts what runs on it.
 */
#ifndef SOFTPMU_TOOL_STACKS_H
#define SOFTPMU_TOOL_STACKS_H

#include "tools/softpmu/flow/targets.h"

struct stacks;

/* `thread` is the place of the thread in exact->threads. */
struct stacks *stacks_new(struct targets *targets, struct exact *exact, size_t thread);
void stacks_free(struct stacks *stacks);

/* Returns the calls in progress, for stacks_fork().  The caller frees them; NULL: the thread has
 * not begun. */
struct stacks_copy *stacks_copy(const struct stacks *stacks);

/* Makes the stacks of a forked process, which is within its parent's calls.  What these have cost
 * before is only the parent's.  `parent` may be NULL. */
struct stacks *stacks_fork(const struct stacks_copy *parent, struct targets *targets,
			   struct exact *exact, size_t thread);

/* Returns the clock of the current stack, which the caller advances.  Valid until the next call.
 * (The structure begins with its address.) */
static inline uint64_t *stacks_clock(const struct stacks *stacks)
{
	return *(uint64_t *const *)stacks;
}

/* An instruction calls, returns or jumps.  `pointer` is the stack pointer after it, 0: not known.
 * Jumps inside of a function need not be told. */
void stacks_call(struct stacks *stacks, uint64_t from, uint64_t to, uint64_t pointer);
void stacks_return(struct stacks *stacks, uint64_t from, uint64_t to, uint64_t pointer);
void stacks_jump(struct stacks *stacks, uint64_t from, uint64_t to, uint64_t pointer);

/* Calls of a function from one place, or jumps to it, that have returned.  It was not active
 * otherwise. */
struct stacks_calls {
	uint64_t from, to, times;
	bool is_call;
	const uint64_t *cost;
};
void stacks_add(struct stacks *stacks, const struct stacks_calls *calls);

/* The thread, or a handler of a signal, begins at this address. */
void stacks_begin(struct stacks *stacks, uint64_t to, uint64_t pointer, bool handler);
/* The handler returns. */
void stacks_leave_handler(struct stacks *stacks);

/* Ends all calls. */
void stacks_end(struct stacks *stacks);

/* Addresses have another meaning, because code was replaced. */
void stacks_forget(struct stacks *stacks);

#endif
