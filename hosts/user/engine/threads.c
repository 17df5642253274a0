/* SPDX-License-Identifier: MIT */
/*
 * threads.c: the program's threads.  Each is one of the kernel's, with a context of its own in
 * GS; translated code is the same for all.
 *
 * One lock guards what they share.  It is taken to translate, to link, and for system calls that
 * change the memory map, never in translated code.  Who holds the lock may stop the others: to
 * throw translations away, or to end the process.  A thread counts as stopped while it is
 * `outside`: in a system call of the program, waiting for the lock, or standing.  The others get a
 * signal, leave translated code at the next boundary between two instructions, and stand.  Nobody
 * in a system call gets that signal, so none is interrupted.
 *
 * Memory of threads that have ended is kept for those that begin.
 */
#include <asm/errno.h>
#include <asm/prctl.h>
#include <asm/unistd.h>
#include <linux/futex.h>
#include <linux/mman.h>

#include "emit.h"
#include "engine.h"
#include "places.h"
#include "signals.h"
#include "sys.h"
#include "threads.h"

#define ASK_AGAIN_NS  2000000
#define LOOK_AGAIN_NS 100000000 /* whether a task of another process still lives */
#define STOP_SIGNAL   SIGTRAP	/* never blocked for the kernel */

/* enter.S: the thread's memory is free from here on, and the thread ends. */
_Noreturn void thread_leave(uint32_t *in_use, int status);

uint32_t threads_live;
/* 0: free; else the number of the context that holds it, and whether a child that borrows that
 * does, and whether somebody waits. */
static uint32_t lock;
#define LOCK_WAITED (1u << 31)
#define LOCK_LENT   (1u << 30)
static struct context *first, *unused;
static unsigned stops; /* nested */
static const char stop_mark;

/* Why a context is to stand still; GO: it is not. */
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

/* Returns true if the task is dead.  (A dead task has no memory to read, even before it is waited
 * for.  The number 0: it has not begun yet.) */
static bool is_dead(uint32_t tid)
{
	uint64_t byte = 0, word = (uint64_t)&byte, local[2] = {word, 1}, remote[2] = {word, 1};

	return tid &&
	       syscall6(__NR_process_vm_readv, tid, (long)local, 1, (long)remote, 1, 0) == -ESRCH;
}

static bool take_over_stopped(void);

/* A tracer that died has let go of its threads, and so has who stopped them all. */
static void wait_while_stopped(void)
{
	uint32_t stop;

	while ((stop = __atomic_load_n(&current->stop, __ATOMIC_SEQ_CST)) != GO) {
		futex_wait(&current->stop, stop, LOOK_AGAIN_NS);
		if (stop & STAND_TRACED && is_dead(current->tracer))
			__atomic_fetch_and(&current->stop, ~STAND_TRACED, __ATOMIC_SEQ_CST);
		if (stop & STAND && take_over_stopped())
			engine_unlock();
	}
}

void thread_outside(void)
{
	if (threads_alone())
		return;
	go_outside();
	wait_while_stopped();
}

void thread_inside(void)
{
	while (__atomic_load_n(&current->outside, __ATOMIC_RELAXED)) {
		__atomic_store_n(&current->outside, 0, __ATOMIC_SEQ_CST);
		if (!__atomic_load_n(&current->stop, __ATOMIC_SEQ_CST))
			return;
		go_outside();
		wait_while_stopped();
	}
}

void thread_stand(void)
{
	go_outside();
	thread_inside();
}

/* --- the lock --- */

/* Addresses have 47 bits, 18 of them within a context's memory. */
static uint32_t holder(bool borrowed)
{
	return (uint32_t)((uint64_t)current / THREAD_BYTES) | (borrowed ? LOCK_LENT : 0);
}

static bool change_lock(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&lock, &from, to, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void begin_anew(void);

/* Returns true if the lock was held by a process that shares the memory and was killed: it is the
 * running thread's now.  What the dead one was doing is half done. */
static bool take_over(uint32_t seen, uint32_t own)
{
	uint64_t number = seen & ~(LOCK_WAITED | LOCK_LENT);
	const struct context *c = (const struct context *)(number * THREAD_BYTES);

	if (!seen || seen & LOCK_LENT || !is_dead(c->tid) || !change_lock(seen, own | LOCK_WAITED))
		return false;
	begin_anew();
	return true;
}

static bool take_over_stopped(void)
{
	return take_over(__atomic_load_n(&lock, __ATOMIC_RELAXED), holder(current->borrowed));
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

/* Whoever gets the lock and is to stand still, stands still for good. */
void engine_lock(void)
{
	uint32_t own = holder(current->borrowed);

	for (;;) {
		if (!change_lock(0, own))
			wait_for_lock(own);
		if (!__atomic_load_n(&current->stop, __ATOMIC_SEQ_CST))
			return;
		engine_unlock();
		thread_stand();
	}
}

void engine_unlock(void)
{
	if (__atomic_exchange_n(&lock, 0, __ATOMIC_RELEASE) & LOCK_WAITED)
		futex_wake(&lock, 1);
}

/* --- stopping --- */

/* What it was doing is half done: nothing is kept of the code cache, nor of the pages that were
 * watched for it. */
static void begin_anew(void)
{
	if (memory_is_changing())
		engine_unsupported("a child that shares the program's memory (vfork) was killed "
				   "while it changed the memory map");
	stops = 0;
	threads_stop();
	memory_unwatch_range(0, PROGRAM_END);
	blocks_flush();
	hot_abandon();
	threads_go();
}

void threads_loan_ended(bool killed)
{
	uint32_t held = __atomic_load_n(&lock, __ATOMIC_ACQUIRE) & ~LOCK_WAITED;

	if (killed) {
		if (held != holder(true))
			engine_lock();
		begin_anew();
		engine_unlock();
	}
	if (!threads_alone())
		futex_wake(&lock, 1); /* what woke the child may have been meant for all */
}

bool threads_is_stop(const siginfo_t *info)
{
	return info->si_signo == STOP_SIGNAL && info->si_code == SI_QUEUE &&
	       info->si_ptr == &stop_mark;
}

static void ask(const struct context *c)
{
	siginfo_t info = {0};

	info.si_signo = STOP_SIGNAL;
	info.si_code = SI_QUEUE;
	info.si_ptr = (void *)(uint64_t)&stop_mark;
	syscall4(__NR_rt_tgsigqueueinfo, c->pid, c->tid, STOP_SIGNAL, (long)&info);
}

/* False: it does not need to be asked. */
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

/* A child of vfork takes the context's numbers over when it begins: so they are looked at anew.  A
 * process that shares the memory may be killed meanwhile. */
static void wait_until_outside(struct context *c)
{
	while (ask_if_inside(c)) {
		futex_wait(&c->outside, 0, ASK_AGAIN_NS);
		if (c->pid != current->pid && !c->borrowed && is_dead(c->tid))
			__atomic_store_n(&c->outside, 1, __ATOMIC_SEQ_CST);
	}
}

void thread_unasked(void)
{
	if (threads_alone())
		return;
	go_outside();
	while (__atomic_load_n(&current->askers, __ATOMIC_SEQ_CST))
		syscall1(__NR_sched_yield, 0);
	syscall1(__NR_getpid, 0); /* what has been sent arrives on the way back */
}

static bool is_other(const struct context *c, bool everybody)
{
	return c != current && (everybody || c->pid == current->pid);
}

/* Everybody; or for good this process, without the children that borrow its memory. */
static void stop(bool everybody)
{
	for (struct context *c = first; c; c = c->next)
		if (is_other(c, everybody))
			__atomic_fetch_or(&c->stop, everybody ? STAND : STAND_FOR_GOOD,
					  __ATOMIC_SEQ_CST);
	for (struct context *c = first; c; c = c->next)
		if (is_other(c, everybody))
			wait_until_outside(c);
}

static void stand_no_more(struct context *c, uint32_t why)
{
	if (__atomic_fetch_and(&c->stop, ~why, __ATOMIC_SEQ_CST) & why)
		futex_wake(&c->stop, 1);
}

void threads_stop(void)
{
	if (!stops++ && !threads_alone())
		stop(true);
}

void threads_go(void)
{
	if (--stops)
		return;
	for (struct context *c = first; c; c = c->next)
		stand_no_more(c, STAND);
}

/* --- tracing --- */

static struct context *find_other(uint32_t tid)
{
	for (struct context *c = first; c; c = c->next)
		if (c != current && c->tid == tid)
			return c;
	return NULL;
}

struct context *thread_hold(uint32_t tid)
{
	struct context *c;

	engine_lock();
	c = find_other(tid);
	if (c) {
		c->tracer = current->tid;
		__atomic_fetch_or(&c->stop, STAND_TRACED, __ATOMIC_SEQ_CST);
		wait_until_outside(c);
	}
	engine_unlock();
	return c;
}

struct context *thread_held(uint32_t tid)
{
	struct context *c;

	if (threads_alone())
		return NULL;
	engine_lock();
	c = find_other(tid);
	if (c && (!(c->stop & STAND_TRACED) || c->tracer != current->tid))
		c = NULL;
	engine_unlock();
	return c;
}

void thread_let_go(struct context *c)
{
	stand_no_more(c, STAND_TRACED);
}

/* With the other's context in GS; not inlined, so that nobody keeps `current` across it. */
static __attribute__((noinline)) void in_place_of(struct context *c, void (*what)(void))
{
	uint64_t own = read_gs_base();

	write_gs_base((uint64_t)c);
	what();
	write_gs_base(own);
}

/* A thread that has not begun to count has nothing to do. */
void threads_each_other(void (*what)(void))
{
	for (struct context *c = first; c; c = c->next)
		if (is_other(c, false) && c->counts)
			in_place_of(c, what);
}

void threads_finish(void (*last)(void))
{
	if (threads_alone())
		return;
	engine_lock();
	stop(false);
	threads_each_other(last);
	engine_unlock();
}

/* --- beginning and end --- */

/* The mapping is as large as it must be to hold an aligned piece. */
static struct context *map_context(void)
{
	uint64_t at = (uint64_t)engine_memory(2 * THREAD_BYTES);
	uint64_t start = (at + THREAD_BYTES - 1) & ~(uint64_t)(THREAD_BYTES - 1);

	if (start != at)
		engine_release((void *)at, start - at);
	engine_release((void *)(start + THREAD_BYTES), at + THREAD_BYTES - start);
	return (struct context *)start;
}

static void enlist(struct context *c)
{
	c->self = c;
	c->in_use = 1;
	c->next = first;
	first = c;
	__atomic_add_fetch(&threads_live, 1, __ATOMIC_RELAXED);
}

static void take_out(struct context *c)
{
	struct context **at = &first;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	__atomic_sub_fetch(&threads_live, 1, __ATOMIC_RELAXED);
}

/* Moves the context from the list to those that are not used. */
static void retire(struct context *c)
{
	take_out(c);
	dispositions_leave(c->signals.process);
	c->next = unused;
	unused = c;
}

/* Returns a context whose thread has let go of it, or ended with its process; NULL: there is none.
 */
static struct context *take_unused(void)
{
	for (struct context **at = &unused; *at; at = &(*at)->next) {
		struct context *c = *at;

		if (__atomic_load_n(&c->in_use, __ATOMIC_ACQUIRE) && !is_dead(c->tid))
			continue;
		*at = c->next;
		return c;
	}
	return NULL;
}

/* Drops the contexts of processes that shared the memory and were killed. */
static void drop_dead(void)
{
	struct context *next;

	for (struct context *c = first; c; c = next) {
		next = c->next;
		if (c->pid != current->pid && !c->borrowed && is_dead(c->tid))
			thread_drop(c);
	}
}

struct context *thread_new(void)
{
	struct context *c;

	drop_dead();
	c = take_unused();
	if (!c)
		c = map_context();
	c->outside = 1;
	c->stop = 0;
	c->tid = 0; /* until it has begun */
	c->counts = false;
	enlist(c);
	return c;
}

void thread_drop(struct context *c)
{
	c->in_use = 0;
	retire(c);
}

/* Returns true if the running thread's process has no other thread. */
static bool is_last(void)
{
	for (const struct context *c = first; c; c = c->next)
		if (c != current && c->process == current->process)
			return false;
	return true;
}

/* --- processes that share the memory --- */

static bool is_shared(void)
{
	for (const struct context *c = first; c; c = c->next)
		if (c->process != current->process)
			return true;
	return false;
}

bool threads_shared(void)
{
	bool shared;

	if (threads_alone())
		return false;
	engine_lock();
	shared = is_shared();
	engine_unlock();
	return shared;
}

void threads_leave(void)
{
	struct context *next;

	engine_lock();
	for (struct context *c = first; c; c = next) {
		next = c->next;
		if (c->pid == current->pid)
			retire(c);
	}
	engine_unlock();
}

struct context *threads_take_out(void)
{
	struct context *out = NULL, *next;

	for (struct context *c = first; c; c = next) {
		next = c->next;
		if (c->pid != current->pid)
			continue;
		take_out(c);
		c->next = out;
		out = c;
	}
	return out;
}

void threads_put_back(struct context *out)
{
	struct context *next;

	for (struct context *c = out; c; c = next) {
		next = c->next;
		enlist(c);
	}
}

bool thread_end(int status)
{
	struct context *c = current;
	uint64_t all = ~UINT64_C(0);

	engine_lock();
	if (threads_alone() || is_last()) {
		engine_unlock();
		return false;
	}
	engine_finish_thread();
	syscall4(__NR_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, 8);
	retire(c);
	engine_unlock();
	thread_leave(&c->in_use, status);
}

void threads_forget_others(void)
{
	struct context *next;

	for (struct context *c = first; c; c = next) {
		next = c->next;
		if (c != current)
			thread_drop(c);
	}
	for (struct context *c = unused; c; c = c->next)
		c->in_use = 0;
	current->stop = 0;
	stops = 0;
	lock = 0;
}

/* Where code can name it by its distance, if the program leaves room there. */
static struct context *first_context(void)
{
	long at = -1;

	if (place_is_free(CONTEXT_PLACE, THREAD_BYTES))
		at = map_memory(CONTEXT_PLACE, THREAD_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
				-1, 0);
	if (is_error(at)) {
		emit_start(0);
		return map_context();
	}
	places_keep((uint64_t)at, THREAD_BYTES);
	emit_start((uint64_t)at);
	return (struct context *)at;
}

void threads_start(void)
{
	struct context *c = first_context();

	enlist(c);
	if (is_error(syscall2(__NR_arch_prctl, ARCH_SET_GS, (long)c)))
		engine_fail(126, "the GS base cannot be set");
}
