/* SPDX-License-Identifier: MIT */
/*
 * clocks.c: counter mask, invert and edge detect (18.2.1.1).
 *
 * Such a counter compares, in each clock, the occurrences with CMASK: at least
 * that many, or fewer with INV.  It counts the clocks in which that held, or with E
 * the clocks in which it held and did not in the one before.  Edge detection with CMASK 0
 * takes "at least one"; INV then has no effect.
 *
 * Occurrences of instructions that retire in one clock add up; the verdict on a clock
 * falls when it ends, which is when a later one is reported.  A clock in which the
 * thread ran in a ring that the counter does not count never holds.
 * With AnyThread the clock is that of the thread whose counter it is.
 */
#include "src/pmu/core.h"

/* Whether the condition holds for a clock with so many occurrences. */
static bool holds(const struct counter *counter, uint32_t count, unsigned ring)
{
	if (!(counter->rings & ring))
		return false;
	if (!counter->cmask)
		return count >= 1;
	return counter->invert ? count < counter->cmask : count >= counter->cmask;
}

/* Judge `clocks` clocks, each with so many occurrences. */
static uint64_t judge(struct thread *thread, unsigned c, uint64_t clocks, uint32_t count,
		      unsigned ring)
{
	bool held = thread->state.clock_held >> c & 1;
	bool now;

	if (!clocks)
		return 0;
	now = holds(&thread->counter[c], count, ring);
	thread->state.clock_held &= ~(1u << c);
	thread->state.clock_held |= (uint32_t)now << c;
	if (!now)
		return 0;
	if (thread->counter[c].edge)
		return held ? 0 : 1;
	return clocks;
}

/*
 * `clocks` clocks begin, the last of which goes on: end the one that ran, then
 * judge those between, in each of which `between` occurrences fell at `ring`.
 */
uint64_t clocks_pass(struct thread *thread, unsigned c, uint64_t clocks, unsigned between,
		     unsigned ring)
{
	uint64_t add = 0;

	if (!clocks)
		return 0;
	if (thread->state.clock_open >> c & 1)
		add = judge(thread, c, 1, thread->state.clock_count[c], thread->state.clock_rings);
	add += judge(thread, c, clocks - 1, between, ring);
	thread->state.clock_count[c] = 0;
	return add;
}

void clocks_count(struct thread *thread, unsigned c, unsigned occurrences)
{
	uint32_t *count = &thread->state.clock_count[c];

	thread->state.clock_open |= 1u << c;
	/* CMASK is 8 bits wide: past that more makes no difference. */
	*count = *count + occurrences > 0xffff ? 0xffff : *count + occurrences;
}
