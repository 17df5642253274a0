/* SPDX-License-Identifier: MIT */
/*
 * storms.c: keeps a program running while signals arrive faster than it can handle them.
 *
 * Natively such a program makes progress, because its handler is faster than the next signal.
 * Under the engine the handler can be slower.  Then a new signal would always be there when the
 * handler returns, and the interrupted code would never run.  So the engine delays a signal that
 * arrived again during its own delivery or handler: the interrupted code first runs one
 * instruction, and twice as many each time this continues.
 *
 * Programs rely on the prompt delivery of some signals, which are not delayed: those that were
 * pending before, and those that a thread sends to itself. Real-time signals are queued, so many of
 * them can have been pending before. They are delayed only after QUEUED_MOST deliveries in a row.
 */
#include <asm/unistd.h>

#include "engine/rt/context.h"
#include "engine/rt/signal_state.h"
#include "engine/rt/sys.h"
#include "engine/signal/signals.h"

static struct signals *mine(void)
{
	return &current->signals;
}

#define HOLDS_MOST   10	  /* up to 2^10 instructions between two deliveries */
#define QUEUED_MOST  1024 /* signals that were queued at once */
#define FIRST_QUEUED 32	  /* the first signal that is queued, SIGRTMIN */

/* Returns which signals of this set are pending and not blocked. */
static uint64_t pending_among(uint64_t set)
{
	uint64_t pending = 0;

	set &= ~mine()->mask;
	if (set)
		syscall2(__NR_rt_sigpending, (long)&pending, sizeof(pending));
	return pending & set;
}

/* Returns whether the kernel holds its signals back for some instructions. */
bool storm_hold(void)
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

/* Makes the kernel deliver what is pending. */
void storm_hand_out(void)
{
	mine()->steps_held = 0; /* first, because an arriving signal notes the mask */
	sys_signal_mask(SIG_SETMASK, mine()->mask);
	held_send();
}

void storm_before_call(void)
{
	if (mine()->steps_held)
		storm_hand_out();
}
