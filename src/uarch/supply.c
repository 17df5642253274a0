/* SPDX-License-Identifier: MIT */
/* supply.c: what a model counts, as signals and tallies (uarch.h). */
#include <softpmu/uarch_time.h>

#include "src/uarch/model.h"

void spmu_uarch_supplies(struct spmu_supply *supply)
{
	supply->modelled |=
		SPMU_SIGBIT(LLC_REFERENCE) | SPMU_SIGBIT(LLC_MISS) | SPMU_SIGBIT(BRANCH_MISS);
	for (unsigned t = SPMU_TALLY_LOAD_SPLITS; t <= SPMU_TALLY_MISSED_RET; t++)
		if (!spmu_tally_is_timed(t) && t != SPMU_TALLY_LOAD_LATENCY)
			spmu_tally_set_add(&supply->modelled_tallies, t);
	for (unsigned t = SPMU_TALLY_LOAD_XSNP_NONE; t <= SPMU_TALLY_LOAD_XSNP_HITM; t++)
		spmu_tally_set_add(&supply->modelled_tallies, t);
	for (unsigned t = SPMU_TALLY_LOAD_DTLB_MISSES; t <= SPMU_TALLY_FRONTEND; t++)
		spmu_tally_set_add(&supply->modelled_tallies, t);
}

void spmu_machine_supplies(const struct spmu_machine *machine, struct spmu_supply *supply)
{
	spmu_uarch_supplies(supply);
	if (machine->load_clocks[SPMU_LEVEL_MEMORY])
		spmu_tally_set_add(&supply->modelled_tallies, SPMU_TALLY_LOAD_LATENCY);
}

void spmu_uarch_supplies_offcore(struct spmu_supply *supply)
{
	for (unsigned tally = SPMU_TALLY_OFFCORE; tally <= SPMU_TALLY_OFFCORE_CODE_MEMORY; tally++)
		spmu_tally_set_add(&supply->modelled_tallies, tally);
}

/* Returns how many loads took at least the threshold.  Simplified: a load takes as long as the
 * level that has its data, and neither its page walk nor a busy cache adds to that. */
static uint64_t slow_loads(const struct spmu_uarch *model, unsigned thread)
{
	static const struct {
		uint8_t level;
		uint16_t tally;
	} places[] = {{SPMU_LEVEL_L1, SPMU_TALLY_LOAD_L1_HITS},
		      {SPMU_LEVEL_L2, SPMU_TALLY_LOAD_L2_HITS},
		      {SPMU_LEVEL_LLC, SPMU_TALLY_LOAD_L3_HITS},
		      {SPMU_LEVEL_MEMORY, SPMU_TALLY_LOAD_L3_MISSES}};
	uint64_t n = 0;

	if (!model->config.load_threshold)
		return 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (model->machine.load_clocks[places[i].level] >= model->config.load_threshold)
			n += spmu_uarch_tally(model, thread, places[i].tally);
	return n;
}

uint64_t spmu_uarch_signal(const struct spmu_uarch *model, unsigned thread, enum spmu_signal signal)
{
	const uint64_t *n = spmu_uarch_counts(model, thread);

	if (!n)
		return 0;
	switch (signal) {
	case SPMU_SIG_LLC_REFERENCE:
		return n[SPMU_UARCH_FETCH_L2_MISSES] + n[SPMU_UARCH_LOAD_L2_MISSES] +
		       n[SPMU_UARCH_STORE_L2_MISSES];
	case SPMU_SIG_LLC_MISS:
		return n[SPMU_UARCH_FETCH_LLC_MISSES] + n[SPMU_UARCH_LOAD_LLC_MISSES] +
		       n[SPMU_UARCH_STORE_LLC_MISSES];
	case SPMU_SIG_BRANCH_MISS:
		return n[SPMU_UARCH_CONDITIONAL_MISSES] + n[SPMU_UARCH_INDIRECT_MISSES] +
		       n[SPMU_UARCH_RETURN_MISSES];
	default:
		return 0;
	}
}

/* Returns the loads that missed the second level, which is the last if there are two. */
static uint64_t second_misses(const struct spmu_uarch *model, const uint64_t *n)
{
	return n[model->thread->l2.ways ? SPMU_UARCH_LOAD_L2_MISSES : SPMU_UARCH_LOAD_LLC_MISSES];
}

/*
 * Returns how many accesses of a kind had to leave the core, by where they found their line.  Each
 * is one request, even if it is in two lines.
 */
static uint64_t offcore(const struct spmu_uarch *model, const uint64_t *n, unsigned tally)
{
	static const struct {
		uint8_t misses, snoops; /* the count of misses of the second level; of snoop hits */
	} kinds[] = {{SPMU_UARCH_LOAD_L2_MISSES, SPMU_UARCH_LOAD_SNOOP_HITS},
		     {SPMU_UARCH_STORE_L2_MISSES, SPMU_UARCH_STORE_SNOOP_HITS},
		     {SPMU_UARCH_FETCH_L2_MISSES, SPMU_UARCH_FETCH_SNOOP_HITS}};
	unsigned kind = (tally - SPMU_TALLY_OFFCORE_DATA_L3) / 4;
	const uint64_t *misses = &n[kinds[kind].misses], *snoops = &n[kinds[kind].snoops];
	uint64_t memory = misses[1], modified = snoops[1], shared = snoops[0];
	uint64_t all = model->thread->l2.ways ? misses[0] : misses[-1];

	switch ((tally - SPMU_TALLY_OFFCORE_DATA_L3) % 4) {
	case 0:
		return all - memory - modified - shared;
	case 1:
		return shared;
	case 2:
		return modified;
	default:
		return memory;
	}
}

/* Returns the stores and the fetches that missed the second level. */
static uint64_t second_store_misses(const struct spmu_uarch *model, const uint64_t *n)
{
	return n[model->thread->l2.ways ? SPMU_UARCH_STORE_L2_MISSES : SPMU_UARCH_STORE_LLC_MISSES];
}

static uint64_t second_fetch_misses(const struct spmu_uarch *model, const uint64_t *n)
{
	return n[model->thread->l2.ways ? SPMU_UARCH_FETCH_L2_MISSES : SPMU_UARCH_FETCH_LLC_MISSES];
}

static uint64_t all_second_misses(const struct spmu_uarch *model, const uint64_t *n)
{
	return second_misses(model, n) + second_store_misses(model, n) +
	       second_fetch_misses(model, n);
}

/* Returns a tally of TLBs and page walks, or another one that is a sum. */
static uint64_t summed_tally(const uint64_t *n, enum spmu_tally_kind tally)
{
	uint64_t missed = n[SPMU_UARCH_DTLB_LOAD_MISSES] + n[SPMU_UARCH_DTLB_STORE_MISSES];
	uint64_t walks = n[SPMU_UARCH_DTLB_LOAD_WALKS] + n[SPMU_UARCH_DTLB_STORE_WALKS];

	switch (tally) {
	case SPMU_TALLY_LOAD_DTLB_MISSES:
		return n[SPMU_UARCH_DTLB_LOAD_MISSES];
	case SPMU_TALLY_STORE_DTLB_MISSES:
		return n[SPMU_UARCH_DTLB_STORE_MISSES];
	case SPMU_TALLY_DTLB_MISSES:
		return missed;
	case SPMU_TALLY_DTLB_STLB_HITS:
		return missed - walks;
	case SPMU_TALLY_DTLB_WALKS:
		return walks;
	case SPMU_TALLY_CODE_ITLB_MISSES:
		return n[SPMU_UARCH_ITLB_MISSES];
	case SPMU_TALLY_WALKS:
		return walks + n[SPMU_UARCH_ITLB_WALKS];
	case SPMU_TALLY_CODE_FETCHES:
		return n[SPMU_UARCH_FETCHES];
	case SPMU_TALLY_L2_LINES_LOST:
		return n[SPMU_UARCH_L2_LINES_OUT] + n[SPMU_UARCH_L2_WRITEBACKS];
	case SPMU_TALLY_LOAD_XSNP_ANY:
		return n[SPMU_UARCH_LOAD_SNOOP_HITS] + n[SPMU_UARCH_LOAD_SNOOP_MODIFIED];
	default:
		return 0;
	}
}

/* Returns a tally of branches, of stores, of fetches or of the second level. */
static uint64_t other_tally(const struct spmu_uarch *model, const uint64_t *n,
			    enum spmu_tally_kind tally)
{
	switch (tally) {
	case SPMU_TALLY_LOAD_STLB_HITS:
		return n[SPMU_UARCH_DTLB_LOAD_MISSES] - n[SPMU_UARCH_DTLB_LOAD_WALKS];
	case SPMU_TALLY_STORE_STLB_HITS:
		return n[SPMU_UARCH_DTLB_STORE_MISSES] - n[SPMU_UARCH_DTLB_STORE_WALKS];
	case SPMU_TALLY_CODE_STLB_HITS:
		return n[SPMU_UARCH_ITLB_MISSES] - n[SPMU_UARCH_ITLB_WALKS];
	case SPMU_TALLY_STORE_L1_MISSES:
		return n[SPMU_UARCH_STORE_L1_MISSES];
	case SPMU_TALLY_STORE_L2_HITS:
		return n[SPMU_UARCH_STORE_L1_MISSES] - second_store_misses(model, n);
	case SPMU_TALLY_STORE_L2_MISSES:
		return second_store_misses(model, n);
	case SPMU_TALLY_CODE_L1_HITS:
		return n[SPMU_UARCH_FETCHES] - n[SPMU_UARCH_FETCH_L1_MISSES];
	case SPMU_TALLY_CODE_L2_HITS:
		return n[SPMU_UARCH_FETCH_L1_MISSES] - second_fetch_misses(model, n);
	case SPMU_TALLY_CODE_L2_MISSES:
		return second_fetch_misses(model, n);
	case SPMU_TALLY_L2_REFERENCES:
		return n[SPMU_UARCH_LOAD_L1_MISSES] + n[SPMU_UARCH_STORE_L1_MISSES] +
		       n[SPMU_UARCH_FETCH_L1_MISSES];
	case SPMU_TALLY_L2_MISSES:
		return all_second_misses(model, n);
	case SPMU_TALLY_L2_LINES_IN:
		return all_second_misses(model, n) + n[SPMU_UARCH_PREFETCHES];
	case SPMU_TALLY_L2_LINES_OUT:
		return n[SPMU_UARCH_L2_LINES_OUT];
	case SPMU_TALLY_L2_WRITEBACKS:
		return n[SPMU_UARCH_L2_WRITEBACKS];
	case SPMU_TALLY_MISSED_COND_TAKEN:
		return n[SPMU_UARCH_TAKEN_MISSES];
	case SPMU_TALLY_MISSED_COND_NTAKEN:
		return n[SPMU_UARCH_CONDITIONAL_MISSES] - n[SPMU_UARCH_TAKEN_MISSES];
	case SPMU_TALLY_MISSED_CALL_IND:
		return n[SPMU_UARCH_CALL_MISSES];
	case SPMU_TALLY_MISSED_JMP_IND:
		return n[SPMU_UARCH_INDIRECT_MISSES] - n[SPMU_UARCH_CALL_MISSES];
	case SPMU_TALLY_MISSED_RET:
		return n[SPMU_UARCH_RETURN_MISSES];
	default:
		return summed_tally(n, tally);
	}
}

uint64_t spmu_uarch_tally(const struct spmu_uarch *model, unsigned thread,
			  enum spmu_tally_kind tally)
{
	const uint64_t *n = spmu_uarch_counts(model, thread);

	if (!n)
		return 0;
	if (tally >= SPMU_TALLY_OFFCORE_DATA_L3 && tally <= SPMU_TALLY_OFFCORE_CODE_MEMORY)
		return offcore(model, n, tally);
	switch (tally) {
	case SPMU_TALLY_LOAD_SPLITS:
		return n[SPMU_UARCH_LOAD_SPLITS];
	case SPMU_TALLY_STORE_SPLITS:
		return n[SPMU_UARCH_STORE_SPLITS];
	case SPMU_TALLY_LOAD_STLB_MISSES:
		return n[SPMU_UARCH_DTLB_LOAD_WALKS];
	case SPMU_TALLY_STORE_STLB_MISSES:
		return n[SPMU_UARCH_DTLB_STORE_WALKS];
	case SPMU_TALLY_LOAD_L1_HITS:
		return n[SPMU_UARCH_LOADS] - n[SPMU_UARCH_LOAD_L1_MISSES];
	case SPMU_TALLY_LOAD_L1_MISSES:
		return n[SPMU_UARCH_LOAD_L1_MISSES];
	case SPMU_TALLY_LOAD_L2_HITS:
		return n[SPMU_UARCH_LOAD_L1_MISSES] - second_misses(model, n);
	case SPMU_TALLY_LOAD_L2_MISSES:
		return second_misses(model, n);
	case SPMU_TALLY_LOAD_L3_HITS:
		return second_misses(model, n) - n[SPMU_UARCH_LOAD_LLC_MISSES];
	case SPMU_TALLY_LOAD_L3_MISSES:
		return n[SPMU_UARCH_LOAD_LLC_MISSES];
	case SPMU_TALLY_L1D_REPLACEMENTS:
		return n[SPMU_UARCH_LOAD_L1_MISSES] + n[SPMU_UARCH_STORE_L1_MISSES];
	case SPMU_TALLY_CODE_L1_MISSES:
		return n[SPMU_UARCH_FETCH_L1_MISSES];
	case SPMU_TALLY_CODE_STLB_MISSES:
		return n[SPMU_UARCH_ITLB_WALKS];
	case SPMU_TALLY_LOAD_XSNP_NONE:
		return offcore(model, n, SPMU_TALLY_OFFCORE_DATA_L3);
	case SPMU_TALLY_LOAD_XSNP_HIT:
		return n[SPMU_UARCH_LOAD_SNOOP_HITS];
	case SPMU_TALLY_LOAD_XSNP_HITM:
		return n[SPMU_UARCH_LOAD_SNOOP_MODIFIED];
	case SPMU_TALLY_LOAD_LATENCY:
		return slow_loads(model, thread);
	default:
		return other_tally(model, n, tally);
	}
}
