/* SPDX-License-Identifier: MIT */
/* sample_turn.c: ends a phase of windows.c, and tells the tool what a window has counted. */
#include "engine/count/activity.h"
#include "engine/count/count.h"
#include "engine/count/units.h"
#include "engine/count/windows.h"
#include "engine/rt/context.h"

/* Reads the counts of all events.  This takes some microseconds for each. */
static void read_counts(struct counting *c, uint64_t *count)
{
	for (unsigned e = 0; e < engine_link->events; e++)
		count[e] = counting_of(c, e);
	c->windows.is_read = true;
}

/* Tells the tool of the rate of each event in a window, in 2^-20 for each instruction. */
static void tell(struct counting *c, uint64_t interval)
{
	uint64_t count[LINK_EVENTS_MAX] = {0};

	read_counts(c, count);
	__atomic_add_fetch(&engine_link->windows.counted, 1, __ATOMIC_RELAXED);
	for (unsigned e = 0; e < engine_link->events; e++) {
		uint64_t n = count[e] - c->windows.read[e];
		uint64_t rate = windows_scale(n, UINT64_C(1) << 20, interval);

		__atomic_add_fetch(&engine_link->windows.sum[e], rate, __ATOMIC_RELAXED);
		__atomic_add_fetch(&engine_link->windows.squares[e], rate * rate, __ATOMIC_RELAXED);
		c->windows.read[e] = count[e];
	}
}

/* Charges the meters at the end of a window. */
static void end_window(struct counting *c)
{
	uint64_t interval = (uint64_t)(c->windows.interval - c->window.headroom);
	bool tells = !c->windows.whole && current->observed;

	if (tells && !c->windows.is_read)
		read_counts(c, c->windows.read);
	windows_end(c);
	activity_skips();
	if (tells)
		tell(c, interval);
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
