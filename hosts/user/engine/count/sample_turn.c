/* SPDX-License-Identifier: MIT */
/* sample_turn.c: ends a phase of windows.c, and tells the tool what a window has counted. */
#include "engine/count/activity.h"
#include "engine/count/count.h"
#include "engine/count/units.h"
#include "engine/count/windows.h"
#include "engine/rt/context.h"

/* Tells the tool of the rate of each event in a window, in 2^-20 for each instruction. */
static void tell(struct counting *c, const uint64_t *before, uint64_t interval)
{
	__atomic_add_fetch(&engine_link->windows.counted, 1, __ATOMIC_RELAXED);
	for (unsigned e = 0; e < engine_link->events; e++) {
		uint64_t n = counting_of(c, e) - before[e];
		uint64_t rate = windows_scale(n, UINT64_C(1) << 20, interval);

		__atomic_add_fetch(&engine_link->windows.sum[e], rate, __ATOMIC_RELAXED);
		__atomic_add_fetch(&engine_link->windows.squares[e], rate * rate, __ATOMIC_RELAXED);
	}
}

/* Charges the meters at the end of a window. */
static void end_window(struct counting *c)
{
	uint64_t interval = (uint64_t)(c->windows.interval - c->window.headroom);
	uint64_t before[LINK_EVENTS_MAX];
	bool whole = c->windows.whole;

	for (unsigned e = 0; e < engine_link->events; e++)
		before[e] = counting_of(c, e);
	windows_end(c);
	if (!whole && current->observed)
		tell(c, before, interval);
}

void sample_turn(void)
{
	struct counting *c = current->counting;
	uint32_t insns;

	activity_take();
	activity_reach(current->pc);
	shards_set_mode(COUNTING_PRECISE);
	do {
		if (c->windows.phase == WINDOWS_COUNT)
			end_window(c);
		insns = windows_next(c);
	} while (!insns);
	c->windows.phase_end = c->window.headroom - insns;
}
