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
 * units of its own (threads.c).
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/sched.h>

#include "descriptors.h"
#include "emit.h"
#include "engine.h"
#include "keep.h"
#include "signals.h"
#include "sys.h"
#include "threads.h"

#define STACK_BYTES   (256u << 10)
#define CLEAR_SIGHAND UINT64_C(0x100000000)
#define INTO_CGROUP   UINT64_C(0x200000000)

/* What is asked for, whichever call it is. */
struct wish {
	uint64_t flags;
	uint64_t exit_signal;
	uint64_t stack; /* its end, 0: the parent's goes on */
	uint64_t parent_tid, child_tid, tls;
	uint64_t mask; /* the kernel's, of both */
};

/* What a child that borrows the memory would change. */
struct put_away {
	struct signals signals;
	struct dispatch run;
	uint64_t gpr[16], rflags, pc, program_gs;
	uint32_t pid, tid, pending;
	int lent_kept;
	enum counting_mode mode;
	bool borrowed, observed, strict;
};

/* enter.S: clone(2).  The child calls `entry` on its stack when there is one. */
long clone_process(uint64_t flags, uint64_t stack, uint64_t parent_tid, uint64_t child_tid,
		   uint64_t tls, void (*entry)(void));

bool children_is_first(void)
{
	return current->pid == engine_link->first_pid;
}

static bool wish_of_clone3(struct wish *w, const struct syscall_arguments *c)
{
	struct clone_args args = {0};
	uint64_t bytes = c->a[1] < sizeof(args) ? c->a[1] : sizeof(args);

	if (!memory_readable(c->a[0], bytes))
		return false;
	memcpy(&args, (const void *)c->a[0], bytes);
	if (args.set_tid_size || args.flags & INTO_CGROUP ||
	    (args.flags & CLONE_PIDFD && args.flags & CLONE_PARENT_SETTID))
		engine_unsupported("the program starts a process with options of clone3 that "
				   "cannot be followed yet");
	*w = (struct wish){
		.flags = args.flags,
		.exit_signal = args.exit_signal,
		.stack = args.stack ? args.stack + args.stack_size : 0,
		.parent_tid = args.flags & CLONE_PIDFD ? args.pidfd : args.parent_tid,
		.child_tid = args.child_tid,
		.tls = args.tls,
	};
	return true;
}

static bool wish_of(struct wish *w, const struct syscall_arguments *c)
{
	switch (c->nr) {
	case __NR_fork:
		*w = (struct wish){.exit_signal = SIGCHLD};
		return true;
	case __NR_vfork:
		*w = (struct wish){.flags = CLONE_VFORK | CLONE_VM, .exit_signal = SIGCHLD};
		return true;
	case __NR_clone:
		*w = (struct wish){
			.flags = c->a[0] & ~UINT64_C(0xff) & UINT32_MAX,
			.exit_signal = c->a[0] & 0xff,
			.stack = c->a[1],
			.parent_tid = c->a[2],
			.child_tid = c->a[3],
			.tls = c->a[4],
		};
		return true;
	default:
		return wish_of_clone3(w, c);
	}
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
	signals_forget_held();
	restore_mask(w->mask);
	if (w->flags & CLEAR_SIGHAND)
		signals_clear_handlers();
	if (w->stack)
		current->gpr[4] = w->stack;
	children_count(1);
	ring_begin(parent->ppid, parent->ptid);
}

/* --- with a copy of the memory --- */

static long copy(const struct wish *w)
{
	uint64_t flags = (w->flags & ~CLEAR_SIGHAND) | w->exit_signal;
	struct link_task parent = {.ppid = current->pid, .ptid = current->tid};
	long pid;

	counting_drain(); /* what went before is the parent's alone */
	engine_lock();	  /* nothing shared is half done in the copy */
	pid = clone_process(flags, 0, w->parent_tid, w->child_tid, w->tls, NULL);
	if (pid) {
		engine_unlock();
		return pid;
	}
	threads_forget_others();
	hot_forget();
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

	current->lent_kept = descriptors_kept();
	current->borrowed = true;
	current->observed = current->observed && !(engine_link->want & LINK_WANT_ONE);
	current->gpr[0] = 0;
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
	p->lent_kept = current->lent_kept;
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
	current->lent_kept = p->lent_kept;
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
	pid = clone_process((w->flags & ~CLEAR_SIGHAND) | w->exit_signal,
			    (uint64_t)(stack + STACK_BYTES), w->parent_tid, w->child_tid, w->tls,
			    run_borrower);
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

/* --- threads --- */

static _Noreturn __attribute__((noinline)) void begin_thread(void)
{
	current->tid = (uint32_t)syscall1(__NR_gettid, 0);
	signals_start_thread();
	thread_inside();
	counting_start();
	ring_begin(current->pid, current->starter);
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
	memcpy(c->gpr, current->gpr, sizeof(c->gpr));
	c->gpr[0] = 0;
	if (w->stack)
		c->gpr[4] = w->stack;
	c->rflags = current->rflags;
	c->pc = current->pc;
	c->pending = 0;
	c->pid = current->pid;
	c->starter = current->tid;
	c->first_mask = w->mask;
	c->borrowed = false;
	c->observed = current->observed;
	c->program_gs = current->program_gs;
	c->strict = false;
	c->sequence = NULL;
	memset(&c->run, 0, sizeof(c->run));
	signals_inherit(&c->signals);
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
static long start_thread(const struct wish *w)
{
	struct context *c;
	long tid;

	if (w->flags & CLONE_VFORK || current->borrowed)
		engine_unsupported("the program starts a thread in a way that cannot be followed");
	engine_lock();
	expect_threads();
	c = thread_new();
	inherit(c, w);
	tid = clone_process(w->flags | w->exit_signal, (uint64_t)context_stack_end(c),
			    w->parent_tid, w->child_tid, w->tls, enter_thread);
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
		return start_thread(w);
	return w->flags & CLONE_VM ? lend(w) : copy(w);
}

long children_fork(const struct syscall_arguments *c)
{
	struct wish w;
	long pid;

	if (!wish_of(&w, c))
		return -EFAULT;
	if (contradicts(w.flags))
		return -EINVAL;
	if (!(w.flags & CLONE_THREAD) &&
	    (w.flags & CLONE_SIGHAND || (w.flags & CLONE_VM && !(w.flags & CLONE_VFORK))))
		engine_unsupported("the program starts a process that shares its memory, which "
				   "cannot be run yet");
	/* No signal comes between: each process gets its own. */
	set_mask(~FAULT_SIGNALS, &w.mask);
	if (current->pending)
		return SYSCALL_NOT_BEGUN; /* signals_check() sets the mask */
	pid = start(&w);
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
	if (current->borrowed || !thread_end((int)c->a[0])) {
		set_mask(mask, NULL);
		engine_exit(__NR_exit, (int)c->a[0]);
	}
	return 0;
}
