/* SPDX-License-Identifier: MIT */
/*
 * storms.c: signals that come faster than they can be delivered.
 *
 * Natively a program gets on among them: a handler takes less time than the signal needs to come
 * again.  Under the engine that may take longer.  So a signal that has come again while it was
 * delivered, or while its handler ran, waits for an instruction of the interrupted code, and for
 * more of them the longer that goes on.  What was pending before, and what the thread has sent
 * itself, comes at once, as the program may rely on that: signals that are queued count as such
 * for a while.
 */
#include <asm/unistd.h>

#include "engine.h"
#include "signals.h"
#include "sys.h"
#include "threads.h"

static struct signals *mine(void)
{
	return &current->signals;
}

#define HOLDS_MOST   10	  /* then 2^10 instructions are between two deliveries */
#define QUEUED_MOST  1024 /* signals that were queued in one go */
#define FIRST_QUEUED 32	  /* the first signal that is queued, SIGRTMIN */

/* Which signals of this set are pending and not blocked? */
static uint64_t pending_among(uint64_t set)
{
	uint64_t pending = 0;

	set &= ~mine()->mask;
	if (set)
		syscall2(__NR_rt_sigpending, (long)&pending, sizeof(pending));
	return pending & set;
}

/* Does the kernel keep its signals back for some instructions? */
bool signals_hold_storm(void)
{
	struct signals *s = mine();
	uint64_t again = pending_among(s->recent);
	bool queued = !(again & (BIT_OF(FIRST_QUEUED) - 1));

	if (!again) {
		s->recent = 0;
		s->in_a_row = 0;
		s->holds = 0;
	}
	if (!again || s->sent || (queued && ++s->in_a_row < QUEUED_MOST)) {
		s->sent = false;
		return false;
	}
	s->steps_held = 1u << s->holds;
	if (s->holds < HOLDS_MOST)
		s->holds++;
	if (current->run.steps_due < s->steps_held)
		current->run.steps_due = s->steps_held;
	return true;
}

/* The kernel hands out what is pending. */
void signals_hand_out(void)
{
	mine()->steps_held = 0; /* before: what comes notes the mask */
	signals_kernel_mask(SIG_SETMASK, mine()->mask);
	signals_send_held();
}

void signals_before_call(void)
{
	if (mine()->steps_held)
		signals_hand_out();
}
