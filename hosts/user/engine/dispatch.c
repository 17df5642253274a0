/* SPDX-License-Identifier: MIT */
/*
 * dispatch.c: syscall user dispatch (prctl(2), PR_SET_SYSCALL_USER_DISPATCH): a thread's system
 * calls from outside a range of addresses raise SIGSYS while a byte of its memory says so.
 *
 * The kernel would go by the address of the call, which is the engine's for all.  So the engine
 * does what the kernel does, before anything else looks at the call.  A child or a new thread has
 * none.
 */
#include <asm/errno.h>
#include <linux/audit.h>
#include <linux/prctl.h>

#include "dispatch.h"
#include "engine.h"
#include "signals.h"
#include "sys.h"

#define IS_DISPATCHED 2 /* si_code: SYS_USER_DISPATCH */

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
	siginfo_t info = {.si_signo = SIGSYS, .si_code = IS_DISPATCHED};
	uint8_t state = PR_SYS_DISPATCH_ON;

	if (d->of != current->tid || current->pc - d->start < d->bytes)
		return false;
	if (d->selector) {
		if (!memory_readable(d->selector, 1))
			signals_end(SIGSEGV, FATAL_PROCESS);
		state = *(const uint8_t *)d->selector;
	}
	if (!state)
		return false;
	if (state != PR_SYS_DISPATCH_ON)
		signals_end(SIGSYS, FATAL_PROCESS);
	info.si_call_addr = (void *)current->pc;
	info.si_syscall = (int)nr;
	info.si_arch = AUDIT_ARCH_X86_64;
	signals_force(&info);
	return true;
}
