/* SPDX-License-Identifier: MIT */
/*
 * clocks.c: threshold, inversion and edge detection (18.2.1.1; NetBurst: 18.15.6.2).
 *
 * Such a counter compares, in each clock, the occurrences with a threshold: at least
 * that many, or fewer when inverted.  It counts the clocks in which that held, or with edge
 * detection those in which it held and did not in the clock before.
 *
 * Occurrences of instructions that retire in one clock add up.  "At least" is
 * counted when the threshold is reached, "fewer" when the clock is over.
 * Only what happens in the rings that the counter counts moves its clocks: the time that
 * another ring takes does not pass for it.  With AnyThread the clocks of the two
 * threads are watched apart, each with its own occurrences.
 */
#include "src/pmu/core.h"

/* Whether the condition holds for a clock with so many occurrences. */
bool clocks_hold(const struct counter *counter, uint64_t count)
{
	return (count >= counter->at_least) != counter->invert;
}

/* What `clocks` clocks in which the condition holds are worth after one like `held`. */
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
 * `clocks` clocks of thread `source` begin, the last of which goes on: end the one that
 * ran, then pass those between, in each of which `each` occurrences fell.  The
 * last one's occurrences are for clocks_count().
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
	if (counter->invert && now)
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

	/* A threshold has 8 bits: past that more makes no difference. */
	*count = *count + occurrences > CLOCK_COUNT_MAX ? CLOCK_COUNT_MAX : *count + occurrences;
	if (counter->invert || before || !clocks_hold(counter, *count))
		return 0;
	return worth(counter, thread->state.clock_held[source] >> c & 1, 1);
}
