/* SPDX-License-Identifier: MIT */
/*
 * scheduler.h: how many instructions wait for their operands (uarch_time.h: `scheduler`).
 *
 * An instruction leaves the scheduler when it starts, in any order.  So the starts of each future
 * clock are counted, and what starts in a clock leaves when the clock has passed.
 */
#ifndef SPMU_SRC_UARCH_SCHEDULER_H
#define SPMU_SRC_UARCH_SCHEDULER_H

#include <stdint.h>

/* Clocks in advance; what starts later leaves early. */
#define SCHEDULER_CLOCKS 1024u

struct scheduler {
	uint64_t clock; /* all starts before it have left */
	unsigned waiting;
	uint16_t starts[SCHEDULER_CLOCKS];
};

static inline void scheduler_pass(struct scheduler *s)
{
	uint16_t *starts = &s->starts[s->clock++ % SCHEDULER_CLOCKS];

	s->waiting -= *starts;
	*starts = 0;
}

/* Returns the first clock, not before `clock`, in which fewer than `most` instructions wait. */
static inline uint64_t scheduler_room(struct scheduler *s, uint64_t clock, unsigned most)
{
	while (s->waiting && (s->clock < clock || s->waiting >= most))
		scheduler_pass(s);
	if (s->clock < clock)
		s->clock = clock;
	return s->clock;
}

/* An instruction waits until `clock`. */
static inline void scheduler_add(struct scheduler *s, uint64_t clock)
{
	if (clock < s->clock)
		return;
	if (clock >= s->clock + SCHEDULER_CLOCKS)
		clock = s->clock + SCHEDULER_CLOCKS - 1;
	s->starts[clock % SCHEDULER_CLOCKS]++;
	s->waiting++;
}

#endif
