/* SPDX-License-Identifier: MIT */
/*
 * clocks.c: threshold, inversion and edge detection (18.2.1.1; NetBurst: 18.15.6.2).
 *
 * In each clock, such a counter compares the occurrences with a threshold. The condition is "at
 * least as many", or "fewer" if inverted. With the equal flag of version 6 it is "exactly as many",
 * or "more or fewer" if inverted. The counter counts the clocks in which the condition
 * holds. With edge detection it counts those in which it holds and did not hold in the clock
 * before.
 *
 * Occurrences of instructions that retire in one clock add up. "At least" is counted when the
 * threshold is reached, the others when the clock is over. Only what happens in the rings that the
 * counter counts moves its clocks; the time in another ring does not pass for it. With AnyThread
 * the clocks of the two threads are watched separately, each with its own occurrences.
 */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"

/* Returns true if the condition holds for a clock with this number of occurrences. */
bool clocks_hold(const struct counter *counter, uint64_t count)
{
	bool holds = counter->equal ? count == counter->at_least : count >= counter->at_least;

	return holds != counter->invert;
}

/* Returns true if only the end of a clock tells whether the condition holds for it. */
static bool known_late(const struct counter *counter)
{
	return counter->invert || counter->equal;
}

/*
 * Returns what `clocks` clocks add in which the condition holds.  `held`: it also held in the clock
 * before them.
 */
static uint64_t worth(const struct counter *counter, bool held, uint64_t clocks)
{
	if (!clocks)
		return 0;
	return counter->edge ? !held : clocks;
}

static void set_held(struct thread *thread, unsigned c, unsigned source, bool held)
{
	thread->state.clock_held[source] &= ~(1u << c);
	thread->state.clock_held[source] |= (uint32_t)held << c;
}

/*
 * Begins `clocks` clocks of thread `source`. The clock that was running ends. Each clock between it
 * and the last one has `each` occurrences. The last one goes on: clocks_count() adds its
 * occurrences.
 */
uint64_t clocks_pass(struct thread *thread, unsigned c, unsigned source, uint64_t clocks,
		     unsigned each)
{
	const struct counter *counter = &thread->counter[c];
	bool held = thread->state.clock_held[source] >> c & 1;
	bool now = clocks_hold(counter, thread->state.clock_count[source][c]);
	bool then = clocks_hold(counter, each);
	uint64_t add = 0;

	if (!clocks)
		return 0;
	if (known_late(counter) && now)
		add += worth(counter, held, 1);
	if (then)
		add += worth(counter, now, clocks - 1);
	set_held(thread, c, source, clocks > 1 ? then : now);
	thread->state.clock_count[source][c] = 0;
	return add;
}

uint64_t clocks_count(struct thread *thread, unsigned c, unsigned source, unsigned occurrences)
{
	const struct counter *counter = &thread->counter[c];
	uint32_t *count = &thread->state.clock_count[source][c];
	bool before = clocks_hold(counter, *count);

	/* A threshold has 8 bits, so more occurrences make no difference. */
	*count = *count + occurrences > CLOCK_COUNT_MAX ? CLOCK_COUNT_MAX : *count + occurrences;
	if (known_late(counter) || before || !clocks_hold(counter, *count))
		return 0;
	return worth(counter, thread->state.clock_held[source] >> c & 1, 1);
}
