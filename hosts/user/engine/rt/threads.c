/* SPDX-License-Identifier: MIT */
/* threads.c: the start and end of the program's threads, and what a thread does for others. */
#include "engine/rt/threads.h"

#include <asm/prctl.h>
#include <asm/unistd.h>

#include "engine/rt/context.h"
#include "engine/rt/contexts.h"
#include "engine/rt/engine.h"
#include "engine/rt/lock.h"
#include "engine/rt/segments.h"
#include "engine/rt/sys.h"

/* enter.S: frees the thread's memory and ends the thread. */
_Noreturn void thread_leave(uint32_t *in_use, int status);

/* --- tracing --- */

static struct context *find_other(uint32_t tid)
{
	for (struct context *c = contexts; c; c = c->next)
		if (c != current && c->tid == tid)
			return c;
	return NULL;
}

struct context *thread_hold(uint32_t tid)
{
	struct context *c;

	lock_take();
	c = find_other(tid);
	if (c)
		lock_hold(c);
	lock_release();
	return c;
}

struct context *thread_held(uint32_t tid)
{
	struct context *c;

	if (contexts_alone())
		return NULL;
	lock_take();
	c = find_other(tid);
	if (c && !lock_holds(c))
		c = NULL;
	lock_release();
	return c;
}

/* Runs with another thread's context in GS.  It is not inlined, so that no code keeps `current`
 * across it. */
static __attribute__((noinline)) void in_place_of(struct context *c, void (*what)(void))
{
	struct context *own = current;

	own->stands_in = true;
	keep_gs_base((uint64_t)c);
	what();
	keep_gs_base((uint64_t)own);
	own->stands_in = false;
}

/* A thread that has not begun to count needs nothing. */
void threads_each_other(void (*what)(void))
{
	for (struct context *c = contexts; c; c = c->next)
		if (context_is_other(c, false) && c->counts)
			in_place_of(c, what);
}

void threads_all(void (*what)(void))
{
	for (struct context *c = contexts; c; c = c->next)
		if (c->counts)
			in_place_of(c, what);
}

void threads_of_process(void (*what)(struct context *c))
{
	for (struct context *c = contexts; c; c = c->next)
		if (c != current && c->process == current->process)
			what(c);
}

bool threads_have_list(const struct meter_list *list)
{
	for (const struct context *c = contexts; c; c = c->next)
		if (c->list == list)
			return true;
	return false;
}

void threads_finish(void (*last)(void))
{
	if (contexts_alone())
		return;
	lock_take();
	lock_stop_process();
	threads_each_other(last);
	lock_release();
}

/* --- beginning and end --- */

/* Drops the contexts of processes that shared the memory and were killed. */
static void drop_dead(void)
{
	struct context *next;

	for (struct context *c = contexts; c; c = next) {
		next = c->next;
		if (c->pid != current->pid && !c->is_vfork_child && context_is_dead(c->tid))
			thread_drop(c);
	}
}

struct context *thread_new(void)
{
	struct context *c;

	drop_dead();
	c = context_take_unused();
	if (!c)
		c = context_map();
	c->outside = 1;
	c->stop = 0;
	c->tid = 0; /* until it begins */
	c->counts = false;
	context_enlist(c);
	return c;
}

void thread_drop(struct context *c)
{
	c->in_use = 0;
	context_retire(c);
}

/* Returns true if the running thread's process has no other thread. */
static bool is_last(void)
{
	for (const struct context *c = contexts; c; c = c->next)
		if (c != current && c->process == current->process)
			return false;
	return true;
}

/* --- processes that share the memory --- */

static bool is_shared(void)
{
	for (const struct context *c = contexts; c; c = c->next)
		if (c->process != current->process)
			return true;
	return false;
}

bool threads_shared(void)
{
	bool shared;

	if (contexts_alone())
		return false;
	lock_take();
	shared = is_shared();
	lock_release();
	return shared;
}

void threads_leave(void)
{
	struct context *next;

	lock_take();
	for (struct context *c = contexts; c; c = next) {
		next = c->next;
		if (c->pid == current->pid)
			context_retire(c);
	}
	lock_release();
}

struct context *threads_take_out(void)
{
	struct context *out = NULL, *next;

	for (struct context *c = contexts; c; c = next) {
		next = c->next;
		if (c->pid != current->pid)
			continue;
		context_take_out(c);
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
		context_enlist(c);
	}
}

bool thread_end(int status, void (*last)(void))
{
	struct context *c = current;
	uint64_t all = ~UINT64_C(0);

	lock_take();
	if (contexts_alone() || is_last()) {
		lock_release();
		return false;
	}
	last();
	syscall4(__NR_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, 8);
	context_retire(c);
	lock_release();
	thread_leave(&c->in_use, status);
}

void threads_forget_others(void)
{
	struct context *next;

	for (struct context *c = contexts; c; c = next) {
		next = c->next;
		if (c != current)
			thread_drop(c);
	}
	contexts_free_unused();
	current->stop = 0;
	lock_begin_again();
}

void threads_start(struct context *c)
{
	context_enlist(c);
	if (is_error(syscall2(__NR_arch_prctl, ARCH_SET_GS, (long)c)))
		engine_fail(126, "the GS base cannot be set");
	sys_has_context = true;
}
