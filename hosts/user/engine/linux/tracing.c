/* SPDX-License-Identifier: MIT */
/*
 * tracing.c: a task of the program traces another one in the same memory (ptrace(2)). The leak
 * checkers of sanitizers do so: a process that shares the program's memory traces its threads.
 *
 * A traced thread could be stopped anywhere in the engine, with its lock held or with registers
 * that are not the program's.  So the engine stops it outside first, and then asks the kernel to
 * stop it.  Its registers are those in its context.  It continues when it is detached, or continued
 * without a signal.  A signal that comes before the awaited stop is passed on while the thread is
 * stopped.  The registers of a traced thread cannot be set.  The engine does not handle tasks in
 * other memory.
 */
#include <asm/errno.h>
#include <asm/ptrace-abi.h>
#include <asm/unistd.h>
#include <linux/elf.h>
#include <linux/ptrace.h>
#include <linux/uio.h>
#include <linux/wait.h>

#include "engine/linux/pass_on.h"
#include "engine/linux/tracing.h"
#include "engine/rt/call.h"
#include "engine/rt/context.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"
#include "engine/rt/threads.h"

/* In the layout of PTRACE_GETREGS (sys/user.h). */
struct registers {
	uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
	uint64_t system_call, rip, cs, rflags, rsp, ss, fs_base, gs_base, ds, es, fs, gs;
};

/* Registers that are not in the context keep the kernel's values. */
static void take_from_context(struct registers *r, const struct context *c)
{
	const uint64_t *g = c->gpr;

	r->rax = g[0];
	r->rcx = g[1];
	r->rdx = g[2];
	r->rbx = g[3];
	r->rsp = g[4];
	r->rbp = g[5];
	r->rsi = g[6];
	r->rdi = g[7];
	r->r8 = g[8];
	r->r9 = g[9];
	r->r10 = g[10];
	r->r11 = g[11];
	r->r12 = g[12];
	r->r13 = g[13];
	r->r14 = g[14];
	r->r15 = g[15];
	r->system_call = UINT64_MAX; /* none */
	r->rip = c->pc;
	r->rflags = c->rflags;
	r->gs_base = c->program_gs;
}

/* Corrects registers that the kernel has written there: `bytes` of them, from `offset` on. */
static void correct(const struct context *c, uint64_t to, uint64_t offset, uint64_t bytes)
{
	struct registers r = {0};

	if (offset > sizeof(r) || bytes > sizeof(r) - offset)
		return;
	memcpy((uint8_t *)&r + offset, (const void *)to, bytes);
	take_from_context(&r, c);
	memcpy((void *)to, (const uint8_t *)&r + offset, bytes);
}

static long get(const struct syscall_arguments *call, const struct context *c)
{
	long result = pass_on(call);
	struct iovec set;

	if (result)
		return result;
	switch (call->a[0]) {
	case PTRACE_GETREGS:
		correct(c, call->a[3], 0, sizeof(struct registers));
		break;
	case PTRACE_PEEKUSR:
		correct(c, call->a[3], call->a[2], 8);
		break;
	default: /* PTRACE_GETREGSET */
		memcpy(&set, (const void *)call->a[3], sizeof(set));
		if (call->a[2] == NT_PRSTATUS)
			correct(c, (uint64_t)set.iov_base, 0, set.iov_len);
		break;
	}
	return 0;
}

/* Skips a signal by which the engine asked the thread to stop, which may be reported first.  The
 * tracer does not see it. */
static void skip_own_signals(long tid)
{
	siginfo_t info;

	while (!sys_call6(__NR_waitid, P_PID, tid, (long)&info, WSTOPPED | __WALL | WNOWAIT, 0,
			  0) &&
	       !syscall4(__NR_ptrace, PTRACE_GETSIGINFO, tid, 0, (long)&info) &&
	       lock_is_stop(&info))
		syscall4(__NR_ptrace, PTRACE_CONT, tid, 0, 0);
}

/* PTRACE_ATTACH, PTRACE_INTERRUPT */
static long attach(const struct syscall_arguments *call)
{
	struct context *c = thread_hold((uint32_t)call->a[1]);
	long result = pass_on(call);

	if (result && c)
		lock_let_go(c);
	else if (c)
		skip_own_signals((long)call->a[1]);
	return result;
}

static long let_go(const struct syscall_arguments *call, struct context *c)
{
	long result = pass_on(call);

	if (!result)
		lock_let_go(c);
	return result;
}

long tracing_run(const struct syscall_arguments *call)
{
	struct context *c = thread_held((uint32_t)call->a[1]);

	if (call->a[0] == PTRACE_ATTACH || call->a[0] == PTRACE_INTERRUPT)
		return attach(call);
	if (!c)
		return pass_on(call);
	switch (call->a[0]) {
	case PTRACE_GETREGS:
	case PTRACE_GETREGSET:
	case PTRACE_PEEKUSR:
		return get(call, c);
	case PTRACE_SETREGS:
	case PTRACE_SETREGSET:
	case PTRACE_SETFPREGS:
	case PTRACE_POKEUSR:
	case PTRACE_SINGLESTEP:
	case PTRACE_SYSCALL:
		return -EIO;
	case PTRACE_CONT:
		return call->a[3] ? pass_on(call) : let_go(call, c);
	case PTRACE_DETACH:
		return let_go(call, c);
	default:
		return pass_on(call);
	}
}
