/* SPDX-License-Identifier: MIT */
/* contexts.h: the list of the program's threads (contexts.c). */
#ifndef SOFTPMU_ENGINE_CONTEXTS_H
#define SOFTPMU_ENGINE_CONTEXTS_H

#include "engine/rt/context.h"

/* A thread's own memory has THREAD_BYTES: context, the engine's signal stack, its stack. */
#define CONTEXT_BYTES  (32u << 10)
#define ALTSTACK_BYTES (64u << 10)
#define LINE_BYTES     64
_Static_assert(sizeof(struct context) <= CONTEXT_BYTES, "has room");

/* Returns the context whose memory contains this address on one of the engine's stacks. */
static inline struct context *context_of_stack(const void *at)
{
	return (struct context *)((uint64_t)at & ~(uint64_t)(THREAD_BYTES - 1));
}

static inline uint8_t *context_altstack(struct context *c)
{
	return (uint8_t *)c + CONTEXT_BYTES;
}

static inline uint8_t *context_stack_end(struct context *c)
{
	return (uint8_t *)c + THREAD_BYTES;
}

/* The number of threads.  A single thread need not inform others. */
extern uint32_t contexts_live;
static inline bool contexts_alone(void)
{
	return __atomic_load_n(&contexts_live, __ATOMIC_RELAXED) == 1;
}

/* All of them, linked by `next`. */
extern struct context *contexts;

/* Return memory for a context: that of a thread that has ended, or NULL; and new memory. */
struct context *context_take_unused(void);
struct context *context_map(void);
/* Returns the bytes of a context with what follows it. */
uint64_t context_bytes(void);
/* Put a context into the list, remove it, or move it to the unused ones. */
void context_enlist(struct context *c);
void context_take_out(struct context *c);
void context_retire(struct context *c);
/* Reuses the memory of the old process's threads in a new process, where they do not exist. */
void contexts_free_unused(void);
/* Returns true if the context belongs to another thread of the running one's process; with
 * `everybody`, of any process. */
bool context_is_other(const struct context *c, bool everybody);
/* Returns true if the task is dead.  (A dead task has no memory to read, even before its parent
 * has waited for it.  Number 0: it has not begun yet.) */
bool context_is_dead(uint32_t tid);

#endif
