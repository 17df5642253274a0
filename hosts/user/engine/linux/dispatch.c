/* SPDX-License-Identifier: MIT */
/*
 * dispatch.c: syscall user dispatch (prctl(2), PR_SET_SYSCALL_USER_DISPATCH).
 *
 * A thread chooses a range of addresses and a byte in its memory.  While the byte says so, each of
 * its system calls from outside the range raises SIGSYS instead.
 *
 * The kernel compares the address of the SYSCALL instruction, which is in the engine for every
 * call.  So the engine makes the comparison itself, before anything else handles the call.  A child
 * or a new thread begins without dispatch.
 */
#include <asm/errno.h>
#include <linux/audit.h>
#include <linux/prctl.h>

#include "engine/linux/dispatch.h"
#include "engine/memory/access.h"
#include "engine/memory/regions.h"
#include "engine/rt/call.h"
#include "engine/rt/context.h"
#include "engine/rt/run_state.h"
#include "engine/rt/signal_state.h"
#include "engine/signal/signals.h"

long dispatch_set(const struct syscall_arguments *c)
{
	struct dispatch_range *d = &current->user_dispatch;
	uint64_t start = c->a[2], bytes = c->a[3], selector = c->a[4];

	switch (c->a[1]) {
	case PR_SYS_DISPATCH_OFF:
		if (start || bytes || selector)
			return -EINVAL;
		d->of = 0;
		return 0;
	case PR_SYS_DISPATCH_ON:
		if (start && start + bytes <= start)
			return -EINVAL;
		if (selector >= PROGRAM_END)
			return -EFAULT;
		*d = (struct dispatch_range){current->tid, start, bytes, selector};
		return 0;
	default:
		return -EINVAL;
	}
}

bool dispatch_takes(long nr)
{
	const struct dispatch_range *d = &current->user_dispatch;
	siginfo_t info = {.si_signo = SIGSYS, .si_code = SYS_USER_DISPATCH};
	uint8_t state = PR_SYS_DISPATCH_ON;

	if (d->of != current->tid || current->pc - d->start < d->bytes)
		return false;
	if (d->selector) {
		if (!access_readable(d->selector, 1))
			finish_by_signal(SIGSEGV, FATAL_PROCESS);
		state = *(const uint8_t *)d->selector;
	}
	if (!state)
		return false;
	if (state != PR_SYS_DISPATCH_ON)
		finish_by_signal(SIGSYS, FATAL_PROCESS);
	info.si_call_addr = (void *)current->pc;
	info.si_syscall = (int)nr;
	info.si_arch = AUDIT_ARCH_X86_64;
	arrivals_force(&info);
	return true;
}
