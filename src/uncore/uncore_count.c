/* SPDX-License-Identifier: MIT */
/*
 * uncore_count.c: counts in U-clocks, and what overflows lead to (18.8.2.1, 18.8.2.2).
 *
 * In one call the same events happen in each clock.  A counter then gains the same in each clock,
 * except that an edge can be in the first one only.  So the first clock passes by itself, and the
 * others pass together up to the next overflow.
 */
#include "src/uncore/uncore.h"

/* How often the event that a counter selects happens in a clock. */
static uint64_t count_of(uint64_t select, const struct spmu_uncore_activity *activity, size_t count)
{
	uint64_t times = 0;

	for (size_t i = 0; i < count; i++)
		if (activity[i].event == SELECT_EVENT(select) &&
		    activity[i].mask & SELECT_UMASK(select))
			times += activity[i].times;
	return times;
}

/*
 * Returns what a general counter gains in a clock in which its event happens `times` times.
 * Without a counter mask INV has no effect.  *asserted is the condition in the clock before, and
 * receives that of this one.
 */
static uint64_t count_gain(uint64_t select, uint64_t times, bool *asserted)
{
	bool before = *asserted;

	*asserted = times != 0;
	if (SELECT_CMASK(select))
		*asserted = (times >= SELECT_CMASK(select)) != ((select & SELECT_INV) != 0);
	if (select & SELECT_E)
		return *asserted && !before;
	return SELECT_CMASK(select) ? *asserted : times;
}

static bool count_enabled(const struct spmu_uncore *uncore, unsigned n)
{
	if (!(uncore->control & uncore_bit(n)))
		return false;
	return n == UNCORE_FIXED ? uncore->fixed_control & FIXED_EN : uncore->select[n] & SELECT_EN;
}

static bool count_interrupts(const struct spmu_uncore *uncore, unsigned n)
{
	return n == UNCORE_FIXED ? uncore->fixed_control & FIXED_PMI
				 : uncore->select[n] & SELECT_PMI;
}

/* Sets status bits.  CHG tells that one of them changed. */
static void count_raise(struct spmu_uncore *uncore, uint64_t bits)
{
	if (bits & ~uncore->status)
		uncore->status |= bits | STATUS_CHG;
}

/* Asks the cores that software chose for an interrupt.  PMI_FRZ disables all counters first. */
static void count_interrupt(struct spmu_uncore *uncore)
{
	uint64_t control = uncore->control;

	count_raise(uncore, STATUS_OVF_PMI);
	if (control & CTRL_PMI_FRZ)
		uncore->control &= ~UNCORE_ALL;
	for (unsigned i = 0; i < uncore->config.cores; i++)
		if (control >> (CTRL_PMI_CORE0 + i) & 1 && uncore->config.core[i])
			(void)spmu_uncore_interrupt(uncore->config.core[i]);
}

/* Adds what the counters gain in `clocks` clocks, in which none overflows but in the last. */
static void count_pass(struct spmu_uncore *uncore, const uint64_t *gain, uint64_t clocks)
{
	bool interrupt = false;

	for (unsigned n = 0; n < UNCORE_COUNTERS; n++) {
		uint64_t sum = uncore->counter[n] + gain[n] * clocks;

		uncore->counter[n] = sum & UNCORE_MAX;
		if (sum <= UNCORE_MAX)
			continue;
		count_raise(uncore, uncore_bit(n));
		interrupt |= count_interrupts(uncore, n);
	}
	if (interrupt)
		count_interrupt(uncore);
}

/* Returns how many of `clocks` pass until a counter overflows. */
static uint64_t count_until_overflow(const struct spmu_uncore *uncore, const uint64_t *gain,
				     uint64_t clocks)
{
	for (unsigned n = 0; n < UNCORE_COUNTERS; n++) {
		uint64_t left = UNCORE_MAX + 1 - uncore->counter[n];

		if (gain[n] && (left + gain[n] - 1) / gain[n] < clocks)
			clocks = (left + gain[n] - 1) / gain[n];
	}
	return clocks;
}

void spmu_uncore_clocks(struct spmu_uncore *uncore, uint64_t clocks,
			const struct spmu_uncore_activity *activity, size_t count)
{
	bool first = true;

	while (clocks) {
		uint64_t gain[UNCORE_COUNTERS], step = 1;

		for (unsigned n = 0; n < UNCORE_COUNTERS; n++) {
			gain[n] = n == UNCORE_FIXED;
			if (n != UNCORE_FIXED)
				gain[n] = count_gain(uncore->select[n],
						     count_of(uncore->select[n], activity, count),
						     &uncore->asserted[n]);
			if (!count_enabled(uncore, n))
				gain[n] = 0;
		}
		if (!first)
			step = count_until_overflow(uncore, gain, clocks);
		count_pass(uncore, gain, step);
		clocks -= step;
		first = false;
	}
}
