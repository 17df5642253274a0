/* SPDX-License-Identifier: MIT */
/*
 * children.c: processes and threads that the program starts: fork(2), vfork(2), clone(2) and
 * clone3(2).
 *
 * A child with a copy of the memory also has a copy of the engine, and begins to count from 0.
 * Its counts are added to the shared memory when it ends or executes a program.
 *
 * A vfork child runs in its parent's memory while the parent waits (vfork, posix_spawn), on
 * another engine stack with the parent's units.  The parent then continues with its saved state,
 * and the sum is the same.  If such a child is killed, what it did since then is not counted,
 * and the units are reset.
 *
 * A thread has its own context and units (threads.c).  So has a child that shares the memory
 * while its parent continues.
 *
 * The kernel is called by the number that the program used, so that it checks the arguments as
 * natively.  Two arguments are left out.  One is the child's stack, because the child begins on a
 * stack of the engine.  The other is CLONE_CLEAR_SIGHAND, because the engine's handlers stay.
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/sched.h>

#include "engine/cache/cache.h"
#include "engine/count/client.h"
#include "engine/count/count.h"
#include "engine/count/flow.h"
#include "engine/count/lending.h"
#include "engine/count/meter_list.h"
#include "engine/count/opened.h"
#include "engine/linux/children.h"
#include "engine/linux/clocks.h"
#include "engine/linux/descriptors.h"
#include "engine/linux/filters.h"
#include "engine/memory/access.h"
#include "engine/memory/regions.h"
#include "engine/persist/persist.h"
#include "engine/rt/call.h"
#include "engine/rt/context.h"
#include "engine/rt/context_words.h"
#include "engine/rt/contexts.h"
#include "engine/rt/descriptor_table.h"
#include "engine/rt/engine.h"
#include "engine/rt/filter_chain.h"
#include "engine/rt/lock.h"
#include "engine/rt/run_state.h"
#include "engine/rt/segments.h"
#include "engine/rt/signal_state.h"
#include "engine/rt/sys.h"
#include "engine/rt/threads.h"
#include "engine/signal/finish.h"
#include "engine/signal/signals.h"
#include "engine/translate/lessons.h"
#include "engine/translate/path.h"
#include "engine/translate/translate.h"
#include "engine/x86/emit.h"

#define STACK_BYTES   (256u << 10)
#define CLEAR_SIGHAND UINT64_C(0x100000000)

/* The arguments of the call, whichever of them it is. */
struct clone_call {
	uint64_t flags;
	uint64_t stack;		       /* end of its stack; 0: the parent's stack */
	struct syscall_arguments call; /* arguments for the kernel */
	struct clone_args args;	       /* arguments of clone3(2) */
	uint64_t mask;		       /* the kernel's mask, for both */
};

/* State that a child would change while it runs in the parent's memory. */
struct saved_state {
	struct signals signals;
	struct dispatch run;
	struct restartable restartable;
	uint64_t *sequence;
	uint64_t gpr[16], rflags, pc, program_gs;
	uint32_t pid, tid, pending;
	struct filter *vfork_filters;
	enum counting_mode mode;
	bool is_vfork_child, observed, strict;
	struct lending events;
};

/* enter.S: makes the system call.  If `entry` is not NULL, the child calls it on the stack that
 * ends at `stack_end`. */
long clone_process(long nr, const uint64_t a[6], void (*entry)(void), void *stack_end);

__attribute__((noreturn)) void (*children_run)(void);

/* Returns whether the part of the structure that is not known here has bytes that are not 0. */
static bool has_more(uint64_t from, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++)
		if (((const uint8_t *)from)[i])
			return true;
	return false;
}

static bool is_stack(const struct clone_args *args)
{
	if (!args->stack)
		return !args->stack_size;
	return args->stack_size && args->stack < PROGRAM_END &&
	       args->stack_size <= PROGRAM_END - args->stack;
}

/* Returns the error that the kernel would find in the arguments that it does not get. */
static long call_of_clone3(struct clone_call *w, const struct syscall_arguments *c)
{
	uint64_t bytes = c->a[1], known = bytes < sizeof(w->args) ? bytes : sizeof(w->args);

	if (bytes > PAGE)
		return -E2BIG;
	if (bytes < CLONE_ARGS_SIZE_VER0)
		return -EINVAL;
	if (!access_readable(c->a[0], bytes))
		return -EFAULT;
	if (has_more(c->a[0] + known, bytes - known))
		return -E2BIG;
	memcpy(&w->args, (const void *)c->a[0], known);
	if (!is_stack(&w->args) || (w->args.flags & CLEAR_SIGHAND && w->args.flags & CLONE_SIGHAND))
		return -EINVAL;
	w->flags = w->args.flags;
	w->stack = w->args.stack ? w->args.stack + w->args.stack_size : 0;
	w->args.flags &= ~CLEAR_SIGHAND;
	w->args.stack = w->args.stack_size = 0;
	w->call = (struct syscall_arguments){__NR_clone3, {(uint64_t)&w->args, known}};
	return 0;
}

static long clone_call_of(struct clone_call *w, const struct syscall_arguments *c)
{
	*w = (struct clone_call){.call = *c};
	switch (c->nr) {
	case __NR_fork:
		return 0;
	case __NR_vfork:
		w->flags = CLONE_VFORK | CLONE_VM;
		return 0;
	case __NR_clone:
		w->flags = c->a[0] & ~UINT64_C(0xff) & UINT32_MAX;
		w->stack = c->a[1];
		w->call.a[1] = 0;
		return 0;
	default:
		return call_of_clone3(w, c);
	}
}

static long make(const struct clone_call *w, void (*entry)(void), void *stack_end)
{
	current->call = CALL_MADE;
	return clone_process(w->call.nr, w->call.a, entry, stack_end);
}

static void set_mask(uint64_t new, uint64_t *old)
{
	syscall4(__NR_rt_sigprocmask, SIG_SETMASK, (long)&new, (long)old, 8);
}

/* Restores the program's mask; if a signal has come meanwhile, after its delivery. */
static void restore_mask(uint64_t mask)
{
	set_mask(mask, NULL);
	if (current->pending)
		current->signals.mask = mask;
}

static void begin(const struct clone_call *w, const struct link_task *parent)
{
	current->pid = current->tid = (uint32_t)syscall1(__NR_getpid, 0);
	if (current->is_vfork_child)
		lending_child();
	else
		current->process = current->pid;
	held_forget();
	restore_mask(w->mask);
	if (w->flags & CLEAR_SIGHAND)
		actions_clear_handlers();
	if (w->stack)
		current->gpr[4] = w->stack;
	record_begin(parent->ppid, parent->ptid, parent->fork);
}

/* --- with a copy of the memory --- */

static long copy(const struct clone_call *w)
{
	struct link_task parent = {.ppid = current->pid, .ptid = current->tid};
	long pid;

	counting_drain(); /* what happened before is only the parent's */
	parent.fork = record_fork();
	lock_take(); /* no shared structure is in the middle of a change in the copy */
	lessons_learn();
	units_expect_child();
	pid = make(w, NULL, NULL);
	if (pid) {
		lock_release();
		if (is_error(pid))
			record_no_fork(parent.fork);
		return pid;
	}
	current->follower = NULL; /* its parent's */
	opened_begin_process();
	threads_forget_others();
	hot_forget();
	lessons_begin_process();
	path_begin_process();
	filters_begin_process();
	current->is_vfork_child = false;
	if (engine_link->want & LINK_WANT_ONE)
		current->observed = false;
	begin(w, &parent);
	units_begin_child();
	clocks_begin_again();
	return 0;
}

/* --- in the same memory --- */

/* What the child needs to know.  It is on the parent's stack, because the parent waits. */
struct vfork_child {
	struct clone_call clone;
	struct link_task parent;
	struct dispositions dispositions;
};

static void run_vfork_child(void)
{
	struct vfork_child *vfork_child = current->vfork_child;

	current->is_vfork_child = true;
	current->sequence = NULL; /* the kernel knows of none in the child */
	current->observed = current->observed && !(engine_link->want & LINK_WANT_ONE);
	current->gpr[0] = 0;
	if (!(vfork_child->clone.flags & CLONE_SIGHAND))
		actions_own_dispositions(&vfork_child->dispositions);
	begin(&vfork_child->clone, &vfork_child->parent);
	lending_child_follows();
	flow_begin();
	children_run();
}

static void saved_state(struct saved_state *p)
{
	p->signals = current->signals;
	p->run = current->run;
	p->restartable = current->restartable;
	p->sequence = current->sequence;
	p->program_gs = current->program_gs;
	p->pending = current->pending;
	memcpy(p->gpr, current->gpr, sizeof(p->gpr));
	p->rflags = current->rflags;
	p->pc = current->pc;
	p->pid = current->pid;
	p->tid = current->tid;
	p->mode = counting_mode_now();
	p->is_vfork_child = current->is_vfork_child;
	p->observed = current->observed;
	p->strict = current->strict;
	p->vfork_filters = filters_lend();
}

static struct descriptor_table *lend_descriptors(const struct clone_call *w)
{
	struct descriptor_table *own = current->descriptors;

	lock_take();
	descriptors_inherit(current, w->flags & CLONE_FILES);
	lock_release();
	return own;
}

static void take_back_descriptors(struct descriptor_table *own)
{
	lock_take();
	descriptor_table_leave(current->descriptors);
	current->descriptors = own;
	lock_release();
}

static void restore_state(const struct saved_state *p)
{
	current->signals = p->signals;
	current->run = p->run;
	current->restartable = p->restartable;
	current->sequence = p->sequence;
	current->program_gs = p->program_gs;
	current->pending = p->pending;
	memcpy(current->gpr, p->gpr, sizeof(p->gpr));
	current->rflags = p->rflags;
	current->pc = p->pc;
	current->is_vfork_child = p->is_vfork_child;
	current->observed = p->observed;
	current->strict = p->strict;
	filters_take_back(p->vfork_filters);
	shards_set_mode(p->mode);
}

static long start_vfork_child(const struct clone_call *w)
{
	uint8_t *stack = heap_allocate(STACK_BYTES);
	struct vfork_child vfork_child = {
		.clone = *w,
		.parent = {.ppid = current->pid, .ptid = current->tid},
	};
	struct saved_state mine;
	struct descriptor_table *descriptors;
	uint32_t childs;
	bool killed;
	long pid;

	counting_publish(); /* samples have the number of their process, and a kill loses nothing */
	saved_state(&mine);
	descriptors = lend_descriptors(w);
	lending_begin(&mine.events);
	current->vfork_child = &vfork_child;
	current->left = false;
	flow_lend(true);
	pid = make(w, run_vfork_child, stack + STACK_BYTES);
	/* A task that wants this thread to stop asks it again, not the program that the child
	 * executes. */
	childs = current->tid;
	current->pid = mine.pid;
	current->tid = mine.tid;
	lock_inside(); /* a child that is gone may have been outside the engine */
	flow_lend(false);
	if (!is_error(pid))
		current->call = CALL_MADE; /* the child has changed them */
	killed = !is_error(pid) && !current->left;
	lending_end(&mine.events, childs, killed);
	if (killed) {
		ring_end_turn_of(childs);
		branches_end();
		units_begin_again();
		clocks_begin_again();
	} else if (engine_link->want & LINK_WANT_ONE) {
		counting_drain();
		counting_skip();
	}
	restore_state(&mine);
	flow_begin();
	lock_child_gone(killed);
	take_back_descriptors(descriptors);
	heap_release(stack, STACK_BYTES);
	return pid;
}

/* --- threads, and processes that share the memory --- */

static _Noreturn __attribute__((noinline)) void begin_thread(void)
{
	if (current->shares)
		current->pid = current->process = (uint32_t)syscall1(__NR_getpid, 0);
	current->tid = (uint32_t)syscall1(__NR_gettid, 0);
	signals_start_thread();
	if (current->clears_handlers)
		actions_clear_handlers();
	lock_inside();
	client_begin_thread();
	units_start();
	record_begin(current->shares ? current->starter_pid : current->pid, current->starter, 0);
	set_mask(current->first_mask, NULL);
	children_run();
}

static void enter_thread(void)
{
	keep_gs_base((uint64_t)context_of_stack(__builtin_frame_address(0)));
	begin_thread();
}

static void inherit(struct context *c, const struct clone_call *w)
{
	bool shares = !(w->flags & CLONE_THREAD);

	memcpy(c->gpr, current->gpr, sizeof(c->gpr));
	c->gpr[0] = 0;
	if (w->stack)
		c->gpr[4] = w->stack;
	c->stack_top = w->stack ? w->stack : current->stack_top;
	c->rflags = current->rflags;
	c->pc = current->pc;
	c->pending = 0;
	c->pid = c->process = shares ? 0 : current->pid; /* 0: until it begins */
	c->starter_pid = current->pid;
	c->starter = current->tid;
	c->first_mask = w->mask;
	c->events_on = current->events_on;
	c->stopped = current->stopped;
	c->followed = current->followed;
	c->shares = shares || current->shares;
	c->clears_handlers = w->flags & CLEAR_SIGHAND;
	opened_inherit(c, !shares);
	descriptors_inherit(c, w->flags & CLONE_FILES);
	c->is_vfork_child = false;
	c->observed = current->observed && !(shares && engine_link->want & LINK_WANT_ONE);
	c->program_gs = current->program_gs;
	c->strict = current->strict;
	filters_inherit(c);
	if (!c->list)
		c->list = &meter_list_none;
	c->sequence = NULL;
	c->user_dispatch.of = 0;
	c->list = current->list;
	memset(&c->run, 0, sizeof(c->run));
	signals_inherit(&c->signals, shares && !(w->flags & CLONE_SIGHAND));
}

/* Prepares for code of more than one thread.  No code runs: the lock is held. */
static void expect_threads(void)
{
	if (!emit_context)
		return;
	blocks_flush();
	emit_context = 0;
	persist_load_again();
}

/* A new task counts as stopped until it enters the engine. */
static long start_task(const struct clone_call *w)
{
	struct context *c;
	long tid;

	if (w->flags & CLONE_VFORK || (current->is_vfork_child && w->flags & CLONE_SIGHAND))
		engine_unsupported("the program starts a thread in a way that cannot be followed");
	lock_take();
	expect_threads();
	c = thread_new();
	inherit(c, w);
	tid = make(w, enter_thread, context_stack_end(c));
	if (is_error(tid))
		thread_drop(c);
	lock_release();
	return tid;
}

/* Returns whether the flags contradict each other, which the kernel refuses. */
static bool contradicts(uint64_t flags)
{
	return (flags & CLONE_THREAD && !(flags & CLONE_SIGHAND)) ||
	       (flags & CLONE_SIGHAND && !(flags & CLONE_VM));
}

static long start(const struct clone_call *w)
{
	if (w->flags & CLONE_THREAD)
		return start_task(w);
	if (!(w->flags & CLONE_VM))
		return copy(w);
	return w->flags & CLONE_VFORK ? start_vfork_child(w) : start_task(w);
}

/* The parent counts the child before it exists.  So the tool knows of it, whichever ends first. */
static long start_counted(const struct clone_call *w)
{
	bool counts = !(w->flags & CLONE_THREAD) && !(engine_link->want & LINK_WANT_ONE);
	long pid;

	if (counts)
		engine_count_processes(1);
	pid = start(w);
	if (counts && is_error(pid))
		engine_count_processes(-1);
	return pid;
}

long children_fork(const struct syscall_arguments *c)
{
	struct clone_call w;
	long pid = clone_call_of(&w, c);

	if (pid)
		return pid;
	if (contradicts(w.flags))
		return -EINVAL;
	/* No signal comes in between: each process gets its own. */
	set_mask(~FAULT_SIGNALS, &w.mask);
	if (current->pending)
		return call_not_begun(); /* signals_check() sets the mask */
	pid = start_counted(&w);
	if (pid)
		restore_mask(w.mask);
	return pid;
}

long children_end_thread(const struct syscall_arguments *c)
{
	uint64_t mask;

	set_mask(~FAULT_SIGNALS, &mask);
	if (current->pending)
		return call_not_begun();
	held_leave();
	if (current->is_vfork_child || !thread_end((int)c->a[0], finish_thread)) {
		set_mask(mask, NULL);
		finish_by_exit(__NR_exit, (int)c->a[0]);
	}
	return 0;
}
