/* SPDX-License-Identifier: MIT */
/*
 * arrivals.c: signals that have come and wait for the next boundary between two instructions of the
 * program.  Meanwhile the kernel keeps back what comes after them.
 */
#include <asm/unistd.h>

#include "engine/count/opened_signal.h"
#include "engine/rt/context.h"
#include "engine/rt/signal_state.h"
#include "engine/rt/sys.h"
#include "engine/signal/frames.h"
#include "engine/signal/signals.h"

static struct signals *mine(void)
{
	return &current->signals;
}

/* Makes the kernel hold back all signals except faults. */
void arrivals_hold_back(struct ucontext *uc)
{
	if (!current->pending && !mine()->steps_held)
		mine()->mask = uc->uc_sigmask;
	uc->uc_sigmask = ~FAULT_SIGNALS;
	current->pending = 1;
}

void arrivals_note(const siginfo_t *info, struct ucontext *uc, bool fault)
{
	struct arrival *a = mine()->arrived + mine()->arrivals;
	int sig = info->si_signo;

	if (!fault && is_fault_signal(sig) &&
	    (mine()->checking || mine()->blocked_faults & BIT_OF(sig))) {
		held_add(info);
		return;
	}
	if (mine()->arrivals == ARRIVALS_MAX)
		return; /* sent repeatedly: more fault signals than instructions */
	if (fault) {
		a = mine()->arrived;
		memmove(a + 1, a, mine()->arrivals * sizeof(*a));
	}
	frame_note(a, info, uc);
	if (!fault)
		opened_signal_arrived(&a->info);
	a->fault = fault;
	mine()->arrivals++;
	arrivals_hold_back(uc);
}

void arrivals_force(const siginfo_t *info)
{
	mine()->forcing = true;
	syscall4(__NR_rt_tgsigqueueinfo, current->pid, current->tid, info->si_signo, (long)info);
}
