/* SPDX-License-Identifier: MIT */
/*
 * activity_meters.c: what meters want of the log of activity, and how often what the model has
 * counted occurs in them.
 */
#include <softpmu/lbr.h>
#include <softpmu/tallies.h>
#include <softpmu/uarch_time.h>
#include <softpmu/unit.h>

#include "engine/count/activity.h"
#include "engine/rt/engine.h"

#define CLOCKS SPMU_SIGSET_CLOCKS

/* Returns whether a meter counts clocks and nothing else.  A meter that also counts instructions
 * looks at each clock, and its clocks are those of precise steps.  Static clocks need no model. */
static bool is_of_clocks(const struct spmu_meter *meter)
{
	return !engine_link->static_clocks && meter->signals & CLOCKS &&
	       !(meter->signals & ~CLOCKS) && !meter->tallies;
}

uint64_t activity_occurrences(const struct spmu_meter *meter, const uint64_t *signals,
			      const uint64_t *tallies)
{
	uint64_t signals_of = meter->signals & (is_of_clocks(meter) ? CLOCKS : ACTIVITY_SIGNALS);
	uint64_t n = 0;

	for (; signals_of; signals_of &= signals_of - 1)
		n += signals[__builtin_ctzll(signals_of)];
	if (!meter->tallies)
		return n;
	ACTIVITY_EACH_TALLY (t, meter->tallies)
		n += tallies[t];
	return n;
}

void activity_tallies(const struct spmu_meter *meter, struct spmu_tally_set *set)
{
	for (size_t i = 0; meter->tallies && i < sizeof(set->word) / sizeof(set->word[0]); i++)
		set->word[i] |= meter->tallies->word[i];
}

/* Returns whether a tally is of mispredicted branches. */
static bool is_of_branches(unsigned tally)
{
	return tally >= SPMU_TALLY_MISSED_COND_TAKEN && tally <= SPMU_TALLY_MISSED_RET;
}

static unsigned wanted_by_tally(unsigned tally)
{
	if (spmu_tally_is_timed(tally))
		return ACTIVITY_BRANCHES | ACTIVITY_ACCESSES | ACTIVITY_CLOCKS | ACTIVITY_ACCOUNT |
		       (spmu_tally_is_of_front(tally) ? ACTIVITY_FRONT : 0);
	return is_of_branches(tally) ? ACTIVITY_BRANCHES : ACTIVITY_ACCESSES;
}

unsigned activity_wanted(const struct spmu_meter *meter)
{
	unsigned what = 0;

	if (meter->signals & SPMU_SIGBIT(BRANCH_MISS))
		what |= ACTIVITY_BRANCHES;
	if (meter->signals & (SPMU_SIGBIT(LLC_REFERENCE) | SPMU_SIGBIT(LLC_MISS)))
		what |= ACTIVITY_ACCESSES;
	if (meter->tallies)
		ACTIVITY_EACH_TALLY (t, meter->tallies)
			what |= wanted_by_tally(t);
	if (is_of_clocks(meter))
		what |= ACTIVITY_BRANCHES | ACTIVITY_ACCESSES | ACTIVITY_CLOCKS;
	return what ? what | ACTIVITY_METERS : 0;
}

unsigned activity_of_branches(uint64_t signals)
{
	bool wanted = engine_link->judges_branches &&
		      engine_link->want & (LINK_WANT_LBR | LINK_WANT_OPEN) &&
		      !(engine_link->lbr_select & SPMU_LBR_CALL_STACK);

	return wanted && signals ? ACTIVITY_BRANCHES : 0;
}

/* The same for a tally.  A line that is brought into a cache can push out others. */
static int64_t most_of_tally(unsigned tally)
{
	if (is_of_branches(tally))
		return 1;
	if (tally >= SPMU_TALLY_LOAD_L1_HITS && tally <= SPMU_TALLY_LOAD_L3_MISSES)
		return 2;
	if (tally >= SPMU_TALLY_LOAD_DTLB_MISSES && tally <= SPMU_TALLY_LOAD_XSNP_ANY)
		return 16;
	return tally >= SPMU_TALLY_L2_REFERENCES && tally <= SPMU_TALLY_L2_WRITEBACKS ? 16 : 4;
}

/* Returns how many occurrences of a meter that the model counts an instruction of bulk code can
 * have at most: two loads (CMPS), each in two pages; a fetch from two lines. */
static int64_t most_each(const struct spmu_meter *meter)
{
	int64_t n = 0;

	if (meter->signals & SPMU_SIGBIT(BRANCH_MISS))
		n += 1;
	if (meter->signals & (SPMU_SIGBIT(LLC_REFERENCE) | SPMU_SIGBIT(LLC_MISS)))
		n += 2 + 2 * INSN_ACCESSES_MAX;
	if (meter->tallies)
		ACTIVITY_EACH_TALLY (t, meter->tallies)
			n += most_of_tally(t);
	return n;
}

int64_t activity_window(const struct spmu_meter *meter)
{
	int64_t most = most_each(meter);

	return meter->headroom > 0 && most ? meter->headroom / most : 0;
}

unsigned activity_of_records(void)
{
	return engine_link->want & LINK_WANT_DATA_MAPS ? ACTIVITY_ACCESSES : 0;
}
