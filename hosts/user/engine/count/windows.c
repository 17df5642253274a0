/* SPDX-License-Identifier: MIT */
/*
 * windows.c: lets a model of the machine see only windows of a run, which costs less.
 *
 * This is systematic sampling, as in SMARTS (Wunderlich, Wenisch, Falsafi and Hoe, ISCA 2003).  In
 * each period the model first warms up and then counts a window.  Meters get what the window would
 * have counted at the same rate in all instructions since the window before.  The spread of the
 * windows tells the tool how accurate the counts are.
 *
 * Simplified: between windows the model is told of nothing, so it knows caches and branches of
 * earlier windows and what the warming adds.  SMARTS keeps large structures warm all the time.
 *
 * Instructions are counted by a meter that no unit has (counting.window).  Its headroom lasts for
 * the whole run.  Code gets a part of it that is used up at the end of a phase, and then returns to
 * the engine.
 */
#include "engine/count/windows.h"

#include "engine/count/meter_list.h"
#include "engine/count/units.h"
#include "engine/rt/context.h"
#include "engine/rt/sys.h"

#define HEADROOM (INT64_C(1) << 46) /* more than shards.c keeps back, and than programs run */

void windows_begin(struct counting *c)
{
	if (!windows_wanted())
		return;
	memset(&c->windows, 0, sizeof(c->windows));
	c->window.headroom = c->windows.interval = c->windows.window = HEADROOM;
	c->windows.phase_end = HEADROOM - engine_link->windows.count;
	c->windows.whole = true;
}

bool windows_skipping(const struct counting *c)
{
	return windows_wanted() && c->windows.phase == WINDOWS_SKIP;
}

bool windows_warming(const struct counting *c)
{
	return windows_wanted() && c->windows.phase == WINDOWS_WARM;
}

void windows_add(struct counting *c, unsigned m, uint64_t n)
{
	c->windows.count[m] += n; /* a window begins with 0 */
}

int64_t windows_left(int64_t headroom)
{
	return headroom - current->counting->windows.phase_end;
}

uint64_t windows_scale(uint64_t n, uint64_t insns, uint64_t of)
{
	if (n <= UINT32_MAX && insns <= UINT32_MAX)
		return of ? (n * insns + of / 2) / of : 0;
	return of ? n / of * insns : 0;
}

/* Charges each meter for the instructions since the last window, by the rate of a window. */
static void charge(struct counting *c, const uint64_t *count, uint64_t insns)
{
	uint64_t interval = (uint64_t)(c->windows.interval - c->window.headroom);

	for (unsigned m = 0; m < current->list->meters; m++)
		if (c->meter[m].modelled)
			c->meter[m].unit->headroom -=
				(int64_t)windows_scale(count[m], interval, insns);
	c->windows.interval = c->windows.window = c->window.headroom;
}

void windows_end(struct counting *c)
{
	c->windows.last_insns = (uint64_t)(c->windows.window - c->window.headroom);
	memcpy(c->windows.last, c->windows.count, sizeof(c->windows.last));
	charge(c, c->windows.count, c->windows.last_insns);
	c->windows.whole = false;
}

uint32_t windows_next(struct counting *c)
{
	switch (c->windows.phase) {
	case WINDOWS_COUNT:
		c->windows.phase = WINDOWS_SKIP;
		return engine_link->windows.skip;
	case WINDOWS_SKIP:
		c->windows.phase = WINDOWS_WARM;
		return engine_link->windows.warm;
	case WINDOWS_WARM:
		break;
	}
	c->windows.phase = WINDOWS_COUNT;
	c->windows.window = c->window.headroom;
	memset(c->windows.count, 0, sizeof(c->windows.count));
	return engine_link->windows.count;
}

void windows_settle(void)
{
	struct counting *c = current->counting;

	if (!windows_wanted())
		return;
	if (c->windows.phase == WINDOWS_COUNT && c->windows.window == c->windows.interval)
		charge(c, c->windows.count, (uint64_t)(c->windows.window - c->window.headroom));
	else
		charge(c, c->windows.last, c->windows.last_insns);
	memset(c->windows.count, 0, sizeof(c->windows.count));
	c->windows.is_read = false;
}
