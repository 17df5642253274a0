/* SPDX-License-Identifier: MIT */
/*
 * children.c: processes and threads that the program starts: fork(2), vfork(2), clone(2) and
 * clone3(2).
 *
 * A child that gets a copy of the memory gets a copy of the engine with it, and begins
 * to count from 0; what it counted is added to the shared memory when it ends or
 * executes a program.  A child that borrows its parent's memory while the parent waits
 * (vfork, posix_spawn) runs on another engine stack with the parent's units, and the parent
 * then goes on with what it had put away: the sum is the same.  When such a child is killed what it
 * did since is not counted, and the units begin anew.  A thread has a context and
 * units of its own (threads.c), and so has a child that shares the memory while its parent goes on.
 *
 * The kernel is called by the number that the program used, so that it checks the arguments as it
 * does natively.  What it is not told: the child's stack, as the child begins on one of the
 * engine's, and CLONE_CLEAR_SIGHAND, as the engine's handlers stay.
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/sched.h>

#include "descriptors.h"
#include "emit.h"
#include "engine.h"
#include "keep.h"
#include "path.h"
#include "signals.h"
#include "sys.h"
#include "threads.h"

#define STACK_BYTES   (256u << 10)
#define CLEAR_SIGHAND UINT64_C(0x100000000)
#define PAGE_BYTES    4096

/* What is asked for, whichever call it is. */
struct wish {
	uint64_t flags;
	uint64_t stack;		       /* its end, 0: the parent's goes on */
	struct syscall_arguments call; /* of the kernel */
	struct clone_args args;	       /* of clone3(2) */
	uint64_t mask;		       /* the kernel's, of both */
};

/* What a child that borrows the memory would change. */
struct put_away {
	struct signals signals;
	struct dispatch run;
	uint64_t gpr[16], rflags, pc, program_gs;
	uint32_t pid, tid, pending;
	int own_kept;
	enum counting_mode mode;
	bool borrowed, observed, strict;
};

/* enter.S: makes the system call.  The child calls `entry` on the stack that ends there when that
 * is not NULL. */
long clone_process(long nr, const uint64_t a[6], void (*entry)(void), void *stack_end);

bool children_is_first(void)
{
	return current->pid == engine_link->first_pid;
}

/* Bytes that are not 0 in a part of the structure that is not known here. */
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

/* What the kernel would find wrong with what it is not told. */
static long wish_of_clone3(struct wish *w, const struct syscall_arguments *c)
{
	uint64_t bytes = c->a[1], known = bytes < sizeof(w->args) ? bytes : sizeof(w->args);

	if (bytes > PAGE_BYTES)
		return -E2BIG;
	if (bytes < CLONE_ARGS_SIZE_VER0)
		return -EINVAL;
	if (!memory_readable(c->a[0], bytes))
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

static long wish_of(struct wish *w, const struct syscall_arguments *c)
{
	*w = (struct wish){.call = *c};
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
		return wish_of_clone3(w, c);
	}
}

static long make(const struct wish *w, void (*entry)(void), void *stack_end)
{
	return clone_process(w->call.nr, w->call.a, entry, stack_end);
}

static void set_mask(uint64_t new, uint64_t *old)
{
	syscall4(__NR_rt_sigprocmask, SIG_SETMASK, (long)&new, (long)old, 8);
}

void children_count(int change)
{
	if (current->observed)
		__atomic_add_fetch(&engine_link->processes, (uint32_t)change, __ATOMIC_RELAXED);
}

/* The program's mask again; if a signal has come meanwhile, behind its delivery. */
static void restore_mask(uint64_t mask)
{
	set_mask(mask, NULL);
	if (current->pending)
		current->signals.mask = mask;
}

static void begin(const struct wish *w, const struct link_task *parent)
{
	current->pid = current->tid = (uint32_t)syscall1(__NR_getpid, 0);
	if (!current->borrowed)
		current->process = current->pid;
	signals_forget_held();
	restore_mask(w->mask);
	if (w->flags & CLEAR_SIGHAND)
		signals_clear_handlers();
	if (w->stack)
		current->gpr[4] = w->stack;
	ring_begin(parent->ppid, parent->ptid);
}

/* --- with a copy of the memory --- */

static long copy(const struct wish *w)
{
	struct link_task parent = {.ppid = current->pid, .ptid = current->tid};
	long pid;

	counting_drain(); /* what went before is the parent's alone */
	engine_lock();	  /* nothing shared is half done in the copy */
	pid = make(w, NULL, NULL);
	if (pid) {
		engine_unlock();
		return pid;
	}
	threads_forget_others();
	hot_forget();
	path_begin_process();
	current->borrowed = false;
	if (engine_link->want & LINK_WANT_ONE)
		current->observed = false;
	begin(w, &parent);
	counting_begin_again();
	return 0;
}

/* --- in the same memory --- */

/* What the child is to know, on its parent's stack: the parent waits. */
struct loan {
	struct wish wish;
	struct link_task parent;
	struct dispositions dispositions;
};

static void run_borrower(void)
{
	struct loan *loan = current->loan;

	current->own_kept = descriptors_kept();
	current->borrowed = true;
	current->observed = current->observed && !(engine_link->want & LINK_WANT_ONE);
	current->gpr[0] = 0;
	if (!(loan->wish.flags & CLONE_SIGHAND))
		signals_own_dispositions(&loan->dispositions);
	begin(&loan->wish, &loan->parent);
	run_program();
}

static void put_away(struct put_away *p)
{
	p->signals = current->signals;
	p->run = current->run;
	p->program_gs = current->program_gs;
	p->pending = current->pending;
	p->own_kept = current->own_kept;
	memcpy(p->gpr, current->gpr, sizeof(p->gpr));
	p->rflags = current->rflags;
	p->pc = current->pc;
	p->pid = current->pid;
	p->tid = current->tid;
	p->mode = counting_mode_now();
	p->borrowed = current->borrowed;
	p->observed = current->observed;
	p->strict = current->strict;
}

static void take_back(const struct put_away *p)
{
	current->signals = p->signals;
	current->run = p->run;
	current->program_gs = p->program_gs;
	current->pending = p->pending;
	current->own_kept = p->own_kept;
	memcpy(current->gpr, p->gpr, sizeof(p->gpr));
	current->rflags = p->rflags;
	current->pc = p->pc;
	current->borrowed = p->borrowed;
	current->observed = p->observed;
	current->strict = p->strict;
	counting_mode(p->mode);
}

static long lend(const struct wish *w)
{
	uint8_t *stack = engine_memory(STACK_BYTES);
	struct loan loan = {
		.wish = *w,
		.parent = {.ppid = current->pid, .ptid = current->tid},
	};
	struct put_away mine;
	uint32_t childs;
	bool killed;
	long pid;

	counting_publish(); /* samples get the number of their process; a kill loses nothing */
	put_away(&mine);
	current->loan = &loan;
	current->left = false;
	pid = make(w, run_borrower, stack + STACK_BYTES);
	/* Whoever wants the thread to stand still asks it again, not what the child has executed.
	 */
	childs = current->tid;
	current->pid = mine.pid;
	current->tid = mine.tid;
	thread_inside(); /* a child that is gone may have left from outside */
	killed = !is_error(pid) && !current->left;
	if (killed) {
		ring_end_turn_of(childs);
		branches_end();
		counting_begin_again();
	} else if (engine_link->want & LINK_WANT_ONE) {
		counting_drain();
		counting_skip();
	}
	take_back(&mine);
	threads_loan_ended(killed);
	engine_release(stack, STACK_BYTES);
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
		signals_clear_handlers();
	thread_inside();
	counting_start();
	ring_begin(current->shares ? current->starter_pid : current->pid, current->starter);
	set_mask(current->first_mask, NULL);
	run_program();
}

static void enter_thread(void)
{
	write_gs_base((uint64_t)context_of_stack(__builtin_frame_address(0)));
	begin_thread();
}

static void inherit(struct context *c, const struct wish *w)
{
	bool shares = !(w->flags & CLONE_THREAD);

	memcpy(c->gpr, current->gpr, sizeof(c->gpr));
	c->gpr[0] = 0;
	if (w->stack)
		c->gpr[4] = w->stack;
	c->rflags = current->rflags;
	c->pc = current->pc;
	c->pending = 0;
	c->pid = c->process = shares ? 0 : current->pid; /* 0: until it has begun */
	c->starter_pid = current->pid;
	c->starter = current->tid;
	c->first_mask = w->mask;
	c->shares = shares || current->shares;
	c->clears_handlers = w->flags & CLEAR_SIGHAND;
	c->own_kept = descriptors_kept();
	c->borrowed = false;
	c->observed = current->observed && !(shares && engine_link->want & LINK_WANT_ONE);
	c->program_gs = current->program_gs;
	c->strict = current->strict;
	c->sequence = NULL;
	c->user_dispatch.of = 0;
	memset(&c->run, 0, sizeof(c->run));
	signals_inherit(&c->signals, shares && !(w->flags & CLONE_SIGHAND));
}

/* From now on code is for more than one thread.  None of it runs: the lock is held. */
static void expect_threads(void)
{
	if (!emit_context)
		return;
	blocks_flush();
	emit_context = 0;
	keep_load_again();
}

/* Until it is inside it counts as stopped. */
static long start_task(const struct wish *w)
{
	struct context *c;
	long tid;

	if (w->flags & CLONE_VFORK || (current->borrowed && w->flags & CLONE_SIGHAND))
		engine_unsupported("the program starts a thread in a way that cannot be followed");
	engine_lock();
	expect_threads();
	c = thread_new();
	inherit(c, w);
	tid = make(w, enter_thread, context_stack_end(c));
	if (is_error(tid))
		thread_drop(c);
	engine_unlock();
	return tid;
}

/* What the kernel does not do. */
static bool contradicts(uint64_t flags)
{
	return (flags & CLONE_THREAD && !(flags & CLONE_SIGHAND)) ||
	       (flags & CLONE_SIGHAND && !(flags & CLONE_VM));
}

static long start(const struct wish *w)
{
	if (w->flags & CLONE_THREAD)
		return start_task(w);
	if (!(w->flags & CLONE_VM))
		return copy(w);
	return w->flags & CLONE_VFORK ? lend(w) : start_task(w);
}

/* The parent counts the child before it exists: so the tool hears of it, whoever ends first. */
static long start_counted(const struct wish *w)
{
	bool counts = !(w->flags & CLONE_THREAD) && !(engine_link->want & LINK_WANT_ONE);
	long pid;

	if (counts)
		children_count(1);
	pid = start(w);
	if (counts && is_error(pid))
		children_count(-1);
	return pid;
}

long children_fork(const struct syscall_arguments *c)
{
	struct wish w;
	long pid = wish_of(&w, c);

	if (pid)
		return pid;
	if (contradicts(w.flags))
		return -EINVAL;
	/* No signal comes between: each process gets its own. */
	set_mask(~FAULT_SIGNALS, &w.mask);
	if (current->pending)
		return SYSCALL_NOT_BEGUN; /* signals_check() sets the mask */
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
		return SYSCALL_NOT_BEGUN;
	signals_leave_held();
	if (current->borrowed || !thread_end((int)c->a[0])) {
		set_mask(mask, NULL);
		engine_exit(__NR_exit, (int)c->a[0]);
	}
	return 0;
}
