/* SPDX-License-Identifier: MIT */
/*
 * lock.h: the lock on what the program's threads share, and how the other threads are stopped
 * (lock.c).
 */
#ifndef SOFTPMU_ENGINE_LOCK_H
#define SOFTPMU_ENGINE_LOCK_H

#include "engine/rt/contexts.h"

/*
 * The lock on everything that threads share: code cache, memory map, signal dispositions.  A
 * thread that waits for it counts as stopped.  So what it found in the code cache before must be
 * looked up again (cache_flushes changes).
 */
void lock_take(void);
void lock_release(void);

/* Handles the end of a vfork child in the running thread's context.  killed: it ended at any
 * place, perhaps as the owner of the lock. */
void lock_child_gone(bool killed);

/*
 * Between these two calls, other threads execute nothing, neither code of the program nor the
 * engine's.  Threads in a system call stay there.  The lock is held.  The calls may be nested.
 */
void lock_stop_others(void);
void lock_resume_others(void);

/* The program's system call, which may wait, is between these two calls. */
void lock_outside(void);
void lock_inside(void);

/* Prepares for execve, which a signal to stop would end: the thread is outside, and nobody sends
 * that signal any more.  lock_inside() undoes it. */
void lock_unasked(void);

/* Waits while the thread must stop, at a boundary between two instructions. */
void lock_stand(void);
static inline void lock_check(void)
{
	if (__atomic_load_n(&current->stop, __ATOMIC_RELAXED))
		lock_stand();
}

/* Returns whether this is the signal that stops a thread, or the signal by which the tool makes
 * it read a change (follow.c). */
bool lock_is_stop(const siginfo_t *info);

/*
 * Called when a process that shares the memory was killed while it owned the lock.  Its change
 * is half done.  The lock is held.  start.c sets the function, which belongs to the layers
 * above.
 */
extern void (*lock_after_death)(void);

/* Stops the other threads of the process permanently.  The lock is held. */
void lock_stop_process(void);
/* Resets the lock in a new process: nobody owns it, and no thread is stopped. */
void lock_begin_again(void);

/* Stops the thread outside for the running one, which traces it.  The lock is held. */
void lock_hold(struct context *c);
bool lock_holds(const struct context *c);
void lock_let_go(struct context *c);

#endif
