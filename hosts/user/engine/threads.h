/* SPDX-License-Identifier: MIT */
/*
 * threads.h: the program's threads, the lock on what they share, and how all but one are
 * stopped (threads.c).
 */
#ifndef SOFTPMU_ENGINE_THREADS_H
#define SOFTPMU_ENGINE_THREADS_H

#include "context.h"

/* A thread's own memory, of THREAD_BYTES: context, the engine's signal stack, its stack. */
#define CONTEXT_BYTES  (32u << 10)
#define ALTSTACK_BYTES (64u << 10)
#define LINE_BYTES     64
_Static_assert(sizeof(struct context) <= CONTEXT_BYTES, "has room");

/* Whose memory this address, on one of the engine's stacks, is in. */
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

/* How many threads there are: with one, nothing has to be told to anybody. */
extern uint32_t threads_live;
static inline bool threads_alone(void)
{
	return __atomic_load_n(&threads_live, __ATOMIC_RELAXED) == 1;
}

/* The first thread's context: in GS from then on. */
void threads_start(void);

/* Memory for a thread that is going to start; it counts as one from now on.  The lock is held. */
struct context *thread_new(void);
/* It did not start after all.  The lock is held. */
void thread_drop(struct context *c);
/* The running thread ends; false: it is the last one, and with it the process ends. */
bool thread_end(int status);

/*
 * The lock on all that threads share: code cache, memory map, signal dispositions.  A thread that
 * waits for it counts as stopped, so whatever was looked up in the code cache before has to be
 * looked up again (blocks_flushes tells).
 */
void engine_lock(void);
void engine_unlock(void);

/* A child that borrowed the running thread's context is gone; killed: wherever it was, with the
 * lock perhaps. */
void threads_loan_ended(bool killed);

/*
 * Nothing is executed, by the program or of what the engine does for it, in other threads between
 * these two; those in a system call stay there.  The lock is held.  May be nested.
 */
void threads_stop(void);
void threads_go(void);

/* The program's system call, which may wait, is between these two. */
void thread_outside(void);
void thread_inside(void);

/* Before the process executes another program, which a signal to stand still would end: outside,
 * and nobody sends one any more.  Back by thread_inside(). */
void thread_unasked(void);

/* At a boundary between two instructions: wait while the thread is to stand still. */
void thread_stand(void);
static inline void thread_check(void)
{
	if (__atomic_load_n(&current->stop, __ATOMIC_RELAXED))
		thread_stand();
}

/* Is this the signal by which a thread is stopped? */
bool threads_is_stop(const siginfo_t *info);

/* The process ends: the others stand still for good, and `last` is done for each of them. */
void threads_finish(void (*last)(void));
/* Do this for each of the others, which have been stopped. */
void threads_each_other(void (*what)(void));
/* A new process has one thread. */
void threads_forget_others(void);

/* --- processes that share this memory (CLONE_VM without CLONE_THREAD) --- */

/* Returns true if there is one besides the running thread's process. */
bool threads_shared(void);
/* The running thread's process ends, and leaves the memory to the others. */
void threads_leave(void);
/* Takes the threads of the running one's process, and itself, out of the list of those that are
 * stopped, and returns them.  The lock is held.  threads_put_back() undoes it. */
struct context *threads_take_out(void);
void threads_put_back(struct context *out);

/* --- tracing by a task that shares this memory (tracing.c) --- */

/* Makes the thread stand still outside, with the program's registers in its context, until
 * thread_let_go() or the end of the running task.  Returns NULL if it is not one of this memory. */
struct context *thread_hold(uint32_t tid);
/* Returns the thread if the running task holds it, else NULL. */
struct context *thread_held(uint32_t tid);
void thread_let_go(struct context *c);

#endif
