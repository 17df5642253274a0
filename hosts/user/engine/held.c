/* SPDX-License-Identifier: MIT */
/*
 * held.c: signals of the kind that instructions raise, when somebody sends them and the program
 * blocks them.  The kernel must not block these signals, so they come to the engine, which keeps
 * them.
 *
 * While the program's system call runs, no instruction of this thread can fault.  So the kernel can
 * have them for as long: it blocks them as the program wishes, and what was kept is pending there
 * again.  Then sigpending(2), sigtimedwait(2) and signalfd(2) find it.
 */
#include <asm/errno.h>
#include <asm/unistd.h>

#include "engine.h"
#include "signals.h"
#include "sys.h"
#include "threads.h"

static struct signals *mine(void)
{
	return &current->signals;
}

/* Fault signals that were kept back come now, if they are not blocked any more. */
void signals_send_held(void)
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

void signals_hold(const siginfo_t *info)
{
	memcpy(&mine()->held[info->si_signo], info, sizeof(*info));
	mine()->held_set |= BIT_OF(info->si_signo);
}

/* For the process, as kill(2) and sigqueue(3) send it.  Only the first thread may say that somebody
 * else has sent it by kill(2). */
static void requeue_for_all(int sig)
{
	if (is_error(syscall3(__NR_rt_sigqueueinfo, current->pid, sig, (long)&mine()->held[sig])))
		syscall2(__NR_kill, current->pid, sig);
}

/* It is pending in the kernel. */
static void requeue(int sig, bool for_others)
{
	siginfo_t *info = &mine()->held[sig];

	if (for_others && (info->si_code == SI_USER || info->si_code == SI_QUEUE))
		requeue_for_all(sig);
	else
		syscall4(__NR_rt_tgsigqueueinfo, current->pid, current->tid, sig, (long)info);
}

void signals_give_faults(bool for_others)
{
	uint64_t set;

	signals_kernel_mask(SIG_BLOCK, mine()->blocked_faults);
	set = mine()->held_set;
	mine()->held_set = 0;
	for (int sig = 1; set; sig++)
		if (set & BIT_OF(sig)) {
			set &= ~BIT_OF(sig);
			requeue(sig, for_others);
		}
}

void signals_take_faults_back(void)
{
	signals_kernel_mask(SIG_UNBLOCK, FAULT_SIGNALS);
}

bool signals_lend_faults(long nr)
{
	struct signals *s = mine();
	struct dispositions *process = s->process;
	bool waits = nr == __NR_rt_sigtimedwait;

	if (!s->blocked_faults || (!s->held_set && !process->reads_faults && !waits))
		return false;
	signals_give_faults(!waits && __atomic_load_n(&process->fault_waiters, __ATOMIC_SEQ_CST));
	if (waits)
		__atomic_add_fetch(&process->fault_waiters, 1, __ATOMIC_SEQ_CST);
	return true;
}

long signals_faults_lent(long nr, long result)
{
	bool waits = nr == __NR_rt_sigtimedwait;

	if (waits)
		__atomic_sub_fetch(&mine()->process->fault_waiters, 1, __ATOMIC_SEQ_CST);
	signals_take_faults_back();
	/* Another thread may have got the signal that ended the wait; it will give it back. */
	return waits && result == -EINTR && !current->pending ? SYSCALL_NOT_BEGUN : result;
}

void signals_leave_held(void)
{
	if (mine()->held_set && !current->borrowed && !threads_alone())
		signals_give_faults(true);
}

void signals_reads(uint64_t mask_address)
{
	uint64_t mask;

	if (!memory_readable(mask_address, sizeof(mask)))
		return;
	memcpy(&mask, (const void *)mask_address, sizeof(mask));
	if (mask & FAULT_SIGNALS)
		mine()->process->reads_faults = true;
}

void signals_forget_held(void)
{
	if (mine()->process->users == 1)
		mine()->process->fault_waiters = 0;
	mine()->held_set = 0;
}
