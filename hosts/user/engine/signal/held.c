/* SPDX-License-Identifier: MIT */
/*
 * held.c: holds synchronous signals (SIGSEGV and others that instructions raise) that another
 * process or thread sends while the program blocks them.
 *
 * The kernel must not block these signals, because the engine needs them for faults.  So a sent one
 * arrives here, and the engine holds it until the program unblocks it.
 *
 * A program can also ask for pending signals (sigpending(2), sigtimedwait(2), signalfd(2)).  It
 * does so by a system call, and during a system call the thread cannot fault.  So for that time
 * the kernel blocks what the program blocks, and the engine sends itself the held signals.  Then
 * they are pending in the kernel.
 */
#include <asm/errno.h>
#include <asm/unistd.h>

#include "engine/memory/access.h"
#include "engine/rt/context.h"
#include "engine/rt/contexts.h"
#include "engine/rt/signal_state.h"
#include "engine/rt/sys.h"
#include "engine/signal/signals.h"

static struct signals *mine(void)
{
	return &current->signals;
}

/* Delivers kept fault signals that are no longer blocked. */
void held_send(void)
{
	uint64_t now = mine()->held_set & ~mine()->blocked_faults;

	mine()->held_set &= ~now;
	for (int sig = 1; now; sig++)
		if (now & BIT_OF(sig)) {
			now &= ~BIT_OF(sig);
			syscall4(__NR_rt_tgsigqueueinfo, current->pid, current->tid, sig,
				 (long)&mine()->held[sig]);
		}
}

void held_add(const siginfo_t *info)
{
	memcpy(&mine()->held[info->si_signo], info, sizeof(*info));
	mine()->held_set |= BIT_OF(info->si_signo);
}

/* Sends it to the process, in the way of kill(2) and sigqueue(3).  Only the first thread may
 * name another sender of kill(2). */
static void requeue_for_all(int sig)
{
	if (is_error(syscall3(__NR_rt_sigqueueinfo, current->pid, sig, (long)&mine()->held[sig])))
		syscall2(__NR_kill, current->pid, sig);
}

/* Makes it pending in the kernel. */
static void requeue(int sig, bool for_others)
{
	siginfo_t *info = &mine()->held[sig];

	if (for_others && (info->si_code == SI_USER || info->si_code == SI_QUEUE))
		requeue_for_all(sig);
	else
		syscall4(__NR_rt_tgsigqueueinfo, current->pid, current->tid, sig, (long)info);
}

void held_give(bool for_others)
{
	uint64_t set;

	sys_signal_mask(SIG_BLOCK, mine()->blocked_faults);
	set = mine()->held_set;
	mine()->held_set = 0;
	for (int sig = 1; set; sig++)
		if (set & BIT_OF(sig)) {
			set &= ~BIT_OF(sig);
			requeue(sig, for_others);
		}
}

void held_take_back(void)
{
	sys_signal_mask(SIG_UNBLOCK, FAULT_SIGNALS);
}

bool held_lend(long nr)
{
	struct signals *s = mine();
	struct dispositions *process = s->process;
	bool waits = nr == __NR_rt_sigtimedwait;

	if (!s->blocked_faults || (!s->held_set && !process->reads_faults && !waits))
		return false;
	held_give(!waits && __atomic_load_n(&process->fault_waiters, __ATOMIC_SEQ_CST));
	if (waits)
		__atomic_add_fetch(&process->fault_waiters, 1, __ATOMIC_SEQ_CST);
	return true;
}

long held_lent(long nr, long result)
{
	bool waits = nr == __NR_rt_sigtimedwait;

	if (waits)
		__atomic_sub_fetch(&mine()->process->fault_waiters, 1, __ATOMIC_SEQ_CST);
	held_take_back();
	/* Another thread may have got the signal that ended the wait, and will give it back. */
	return waits && result == -EINTR && !current->pending ? call_not_begun() : result;
}

void held_leave(void)
{
	if (mine()->held_set && !current->is_vfork_child && !contexts_alone())
		held_give(true);
}

void held_reads(uint64_t mask_address)
{
	uint64_t mask;

	if (!access_readable(mask_address, sizeof(mask)))
		return;
	memcpy(&mask, (const void *)mask_address, sizeof(mask));
	if (mask & FAULT_SIGNALS)
		mine()->process->reads_faults = true;
}

void held_forget(void)
{
	if (mine()->process->users == 1 && mine()->process->fault_waiters)
		mine()->process->fault_waiters = 0;
	if (mine()->held_set)
		mine()->held_set = 0;
}
