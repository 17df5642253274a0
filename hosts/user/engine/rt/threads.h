/* SPDX-License-Identifier: MIT */
/* threads.h: the start and end of the program's threads (threads.c). */
#ifndef SOFTPMU_ENGINE_THREADS_H
#define SOFTPMU_ENGINE_THREADS_H

#include "engine/rt/lock.h"

/* Puts the first thread's context into GS. */
void threads_start(struct context *c);

/* Returns memory for a thread that is about to start, and counts it as one.  The lock is held. */
struct context *thread_new(void);
/* Undoes that, because the thread did not start.  The lock is held. */
void thread_drop(struct context *c);
/* Ends the running thread, after `last`.  Returns false if it is the last thread, whose end is
 * that of the process. */
bool thread_end(int status, void (*last)(void));

/* Stops the other threads permanently, because the process ends, and calls `last` for each of
 * them. */
void threads_finish(void (*last)(void));
/* Returns true if a thread may run code of this list.  The other threads are stopped. */
bool threads_have_list(const struct meter_list *list);
/* Calls `what` for each other thread.  They are stopped. */
void threads_each_other(void (*what)(void));
/* Calls `what` for each thread that uses the memory and counts.  The others are stopped. */
void threads_all(void (*what)(void));
/* Calls `what` for each other thread of the running one's process.  The lock is held. */
void threads_of_process(void (*what)(struct context *c));
/* Leaves one thread in a new process. */
void threads_forget_others(void);

/* --- processes that share this memory (CLONE_VM without CLONE_THREAD) --- */

/* Returns true if another process shares the memory. */
bool threads_shared(void);
/* Leaves the memory to the other processes, because this one ends. */
void threads_leave(void);
/* Takes the threads of the running one's process, and itself, out of the list of those that are
 * stopped, and returns them.  The lock is held.  threads_put_back() undoes it. */
struct context *threads_take_out(void);
void threads_put_back(struct context *out);

/* --- tracing by a task that shares this memory (tracing.c) --- */

/* Stops the thread outside, with the program's registers in its context, until lock_let_go() or
 * the end of the running task.  Returns NULL if it is not a thread of this memory. */
struct context *thread_hold(uint32_t tid);
/* Returns the thread if the running task holds it, otherwise NULL. */
struct context *thread_held(uint32_t tid);

#endif
