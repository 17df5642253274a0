/* SPDX-License-Identifier: MIT */
/*
 * lock.c: the lock on what threads share, and how its owner stops the other threads.
 *
 * The lock is taken to translate, to link, and for system calls that change the memory map,
 * never in translated code.  Its owner may stop the others: to discard translations, or to end
 * the process.  A thread counts as stopped while it is `outside`: in a system call of the
 * program, waiting for the lock, or waiting because it must stop.  The others get a signal,
 * leave translated code at the next boundary between two instructions, and wait.  A thread in a
 * system call does not get that signal, so no call is interrupted.
 */
#include <hosts/user/link.h>

#include "engine/rt/lock.h"

#include <asm/unistd.h>
#include <linux/futex.h>

#include "engine/rt/context.h"
#include "engine/rt/contexts.h"
#include "engine/rt/sys.h"

#define ASK_AGAIN_NS  2000000
#define LOOK_AGAIN_NS 100000000 /* how often to check that a task of another process is alive */
#define STOP_SIGNAL   SIGTRAP	/* the kernel never blocks it */

/* The engine lock: 0 if free, otherwise the number of the context that owns it, plus two flags:
 * a vfork child owns it in that context; another thread waits. */
static uint32_t lock;
#define LOCK_WAITED	    (1u << 31)
#define LOCK_OF_VFORK_CHILD (1u << 30)
static unsigned stops; /* nested */
static const char stop_mark;

/* Why a context must stop; GO: it need not. */
enum { GO = 0, STAND = 1, STAND_FOR_GOOD = 2, STAND_TRACED = 4 };

static void futex_wait(uint32_t *word, uint32_t value, long ns)
{
	long timeout[2] = {0, ns};

	syscall4(__NR_futex, (long)word, FUTEX_WAIT_PRIVATE, value, ns ? (long)timeout : 0);
}

static void futex_wake(uint32_t *word, long how_many)
{
	syscall3(__NR_futex, (long)word, FUTEX_WAKE_PRIVATE, how_many);
}

/* --- inside and outside --- */

static void go_outside(void)
{
	__atomic_store_n(&current->outside, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&current->stop, __ATOMIC_SEQ_CST))
		futex_wake(&current->outside, 1);
}

static bool take_over_stopped(void);

/* The owner of the stop, or a tracer, may have died: then nobody stops the thread. */
static void wait_while_stopped(void)
{
	uint32_t stop;

	while ((stop = __atomic_load_n(&current->stop, __ATOMIC_SEQ_CST)) != GO) {
		futex_wait(&current->stop, stop, LOOK_AGAIN_NS);
		if (stop & STAND_TRACED && context_is_dead(current->tracer))
			__atomic_fetch_and(&current->stop, ~STAND_TRACED, __ATOMIC_SEQ_CST);
		if (stop & STAND && take_over_stopped())
			lock_release();
	}
}

void lock_outside(void)
{
	if (contexts_alone())
		return;
	go_outside();
	wait_while_stopped();
}

void lock_inside(void)
{
	while (__atomic_load_n(&current->outside, __ATOMIC_RELAXED)) {
		__atomic_store_n(&current->outside, 0, __ATOMIC_SEQ_CST);
		if (!__atomic_load_n(&current->stop, __ATOMIC_SEQ_CST))
			return;
		go_outside();
		wait_while_stopped();
	}
}

void lock_stand(void)
{
	go_outside();
	lock_inside();
}

/* --- the lock --- */

/* Addresses have 47 bits, 18 of them within a context's memory. */
static uint32_t holder(bool is_vfork_child)
{
	return (uint32_t)((uint64_t)current / THREAD_BYTES) |
	       (is_vfork_child ? LOCK_OF_VFORK_CHILD : 0);
}

static bool change_lock(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&lock, &from, to, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void begin_anew(void);

/* Returns true if a process that shares the memory owned the lock and was killed.  The running
 * thread owns it now.  The dead process left its change half done. */
static bool take_over(uint32_t seen, uint32_t own)
{
	uint64_t number = seen & ~(LOCK_WAITED | LOCK_OF_VFORK_CHILD);
	const struct context *c = (const struct context *)(number * THREAD_BYTES);

	if (!seen || seen & LOCK_OF_VFORK_CHILD || !context_is_dead(c->tid) ||
	    !change_lock(seen, own | LOCK_WAITED))
		return false;
	begin_anew();
	return true;
}

static bool take_over_stopped(void)
{
	return take_over(__atomic_load_n(&lock, __ATOMIC_RELAXED), holder(current->is_vfork_child));
}

static void wait_for_lock(uint32_t own)
{
	uint32_t seen;

	go_outside();
	while (!change_lock(0, own | LOCK_WAITED)) {
		seen = __atomic_load_n(&lock, __ATOMIC_RELAXED);
		if (!seen || !(seen & LOCK_WAITED || change_lock(seen, seen | LOCK_WAITED)))
			continue;
		futex_wait(&lock, seen | LOCK_WAITED, LOOK_AGAIN_NS);
		if (take_over(seen | LOCK_WAITED, own))
			break;
	}
	__atomic_store_n(&current->outside, 0, __ATOMIC_SEQ_CST);
}

/* A thread that gets the lock although it must stop, stops permanently. */
void lock_take(void)
{
	uint32_t own = holder(current->is_vfork_child);

	for (;;) {
		if (!change_lock(0, own))
			wait_for_lock(own);
		if (!__atomic_load_n(&current->stop, __ATOMIC_SEQ_CST))
			return;
		lock_release();
		lock_stand();
	}
}

void lock_release(void)
{
	if (__atomic_exchange_n(&lock, 0, __ATOMIC_RELEASE) & LOCK_WAITED)
		futex_wake(&lock, 1);
}

/* --- stopping --- */

void (*lock_after_death)(void);

/* Handles the death of the lock's owner, which left its change half done. */
static void begin_anew(void)
{
	stops = 0;
	lock_after_death();
}

void lock_child_gone(bool killed)
{
	uint32_t held = __atomic_load_n(&lock, __ATOMIC_ACQUIRE) & ~LOCK_WAITED;

	if (killed) {
		if (held != holder(true))
			lock_take();
		begin_anew();
		lock_release();
	}
	if (!contexts_alone())
		futex_wake(&lock, 1); /* the wake-up that woke the child may have been for all */
}

bool lock_is_stop(const siginfo_t *info)
{
	return info->si_signo == STOP_SIGNAL && info->si_code == SI_QUEUE &&
	       (info->si_ptr == &stop_mark || info->si_ptr == (void *)LINK_ASK);
}

static void ask(const struct context *c)
{
	siginfo_t info = {0};

	info.si_signo = STOP_SIGNAL;
	info.si_code = SI_QUEUE;
	info.si_ptr = (void *)(uint64_t)&stop_mark;
	syscall4(__NR_rt_tgsigqueueinfo, c->pid, c->tid, STOP_SIGNAL, (long)&info);
}

/* Asks a thread to stop.  Returns false if it need not be asked. */
static bool ask_if_inside(struct context *c)
{
	bool inside;

	__atomic_add_fetch(&c->askers, 1, __ATOMIC_SEQ_CST);
	inside = !__atomic_load_n(&c->outside, __ATOMIC_SEQ_CST);
	if (inside)
		ask(c);
	__atomic_sub_fetch(&c->askers, 1, __ATOMIC_SEQ_CST);
	return inside;
}

/* A vfork child takes over the numbers of its context when it begins, so they are read again.  A
 * process that shares the memory may be killed meanwhile. */
static void wait_until_outside(struct context *c)
{
	while (ask_if_inside(c)) {
		futex_wait(&c->outside, 0, ASK_AGAIN_NS);
		if (c->pid != current->pid && !c->is_vfork_child && context_is_dead(c->tid))
			__atomic_store_n(&c->outside, 1, __ATOMIC_SEQ_CST);
	}
}

void lock_unasked(void)
{
	if (contexts_alone())
		return;
	go_outside();
	while (__atomic_load_n(&current->askers, __ATOMIC_SEQ_CST))
		syscall1(__NR_sched_yield, 0);
	syscall1(__NR_getpid, 0); /* a signal that was sent arrives when this call returns */
}

/* Stops all threads; or permanently those of this process, except vfork children in its memory. */
static void stop(bool everybody)
{
	for (struct context *c = contexts; c; c = c->next)
		if (context_is_other(c, everybody))
			__atomic_fetch_or(&c->stop, everybody ? STAND : STAND_FOR_GOOD,
					  __ATOMIC_SEQ_CST);
	for (struct context *c = contexts; c; c = c->next)
		if (context_is_other(c, everybody))
			wait_until_outside(c);
}

static void stand_no_more(struct context *c, uint32_t why)
{
	if (__atomic_fetch_and(&c->stop, ~why, __ATOMIC_SEQ_CST) & why)
		futex_wake(&c->stop, 1);
}

void lock_stop_others(void)
{
	if (!stops++ && !contexts_alone())
		stop(true);
}

void lock_resume_others(void)
{
	if (--stops)
		return;
	for (struct context *c = contexts; c; c = c->next)
		stand_no_more(c, STAND);
}

void lock_stop_process(void)
{
	stop(false);
}

void lock_begin_again(void)
{
	stops = 0;
	lock = 0;
}

/* --- tracing --- */

void lock_hold(struct context *c)
{
	c->tracer = current->tid;
	__atomic_fetch_or(&c->stop, STAND_TRACED, __ATOMIC_SEQ_CST);
	wait_until_outside(c);
}

bool lock_holds(const struct context *c)
{
	return c->stop & STAND_TRACED && c->tracer == current->tid;
}

void lock_let_go(struct context *c)
{
	stand_no_more(c, STAND_TRACED);
}
