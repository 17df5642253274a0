/* SPDX-License-Identifier: MIT */
/*
 * perf_caches.c: what perf's events of caches count on a model.
 *
 * These are the events in the tables of Linux's driver, or others of the family that count the
 * same.  Of several that a model has, the first one that is supplied counts.
 */
#include "perf_caches.h"

#include <string.h>

#define C PERF_CACHES

/* Off-core responses: data reads and reads for ownership, with any response or from memory, whose
 * bits differ between families: Haswell to Ice Lake, Sandy Bridge, Golden Cove. */
#define OFFCORE		   "OFFCORE_RESPONSE_0"
#define READ_DATA	   UINT64_C(1)
#define READ_TO_OWN	   UINT64_C(2)
#define ANY_RESPONSE	   UINT64_C(0x10000)
#define MEMORY		   UINT64_C(0x3ffc020000)
#define MEMORY_SANDYBRIDGE UINT64_C(0x3f80400000)
#define MEMORY_GOLDENCOVE  UINT64_C(0x3f3fc00000)

static const struct {
	uint32_t config;
	const char *name;
	uint64_t offcore;
} events[] = {
	{C(L1D, READ, ACCESS), "MEM_INST_RETIRED.ALL_LOADS", 0},
	{C(L1D, READ, ACCESS), "MEM_UOPS_RETIRED.ALL_LOADS", 0},
	{C(L1D, READ, ACCESS), "MEM_INST_RETIRED.LOADS", 0},
	{C(L1D, READ, MISS), "L1D.REPLACEMENT", 0},
	{C(L1D, READ, MISS), "L1D.REPL", 0},
	{C(L1D, WRITE, ACCESS), "MEM_INST_RETIRED.ALL_STORES", 0},
	{C(L1D, WRITE, ACCESS), "MEM_UOPS_RETIRED.ALL_STORES", 0},
	{C(L1D, WRITE, ACCESS), "MEM_INST_RETIRED.STORES", 0},
	{C(L1I, READ, MISS), "ICACHE_64B.IFTAG_MISS", 0},
	{C(L1I, READ, MISS), "ICACHE.MISSES", 0},
	{C(L1I, READ, MISS), "L1I.MISSES", 0},
	{C(L1I, READ, MISS), "L1I_MISSES", 0},
	{C(L1I, READ, MISS), "L2_RQSTS.ALL_CODE_RD", 0},
	{C(LL, READ, ACCESS), OFFCORE, READ_DATA | ANY_RESPONSE},
	{C(LL, READ, ACCESS), "OFFCORE_REQUESTS.DEMAND_DATA_RD", 0},
	{C(LL, READ, ACCESS), "OFFCORE_REQUESTS.DEMAND_READ_DATA", 0},
	{C(LL, READ, MISS), OFFCORE, READ_DATA | MEMORY},
	{C(LL, READ, MISS), OFFCORE, READ_DATA | MEMORY_SANDYBRIDGE},
	{C(LL, READ, MISS), OFFCORE, READ_DATA | MEMORY_GOLDENCOVE},
	{C(LL, READ, MISS), "MEM_LOAD_RETIRED.LLC_MISS", 0},
	{C(LL, WRITE, ACCESS), OFFCORE, READ_TO_OWN | ANY_RESPONSE},
	{C(LL, WRITE, ACCESS), "OFFCORE_REQUESTS.DEMAND_RFO", 0},
	{C(LL, WRITE, MISS), OFFCORE, READ_TO_OWN | MEMORY},
	{C(LL, WRITE, MISS), OFFCORE, READ_TO_OWN | MEMORY_SANDYBRIDGE},
	{C(LL, WRITE, MISS), OFFCORE, READ_TO_OWN | MEMORY_GOLDENCOVE},
	{C(DTLB, READ, ACCESS), "MEM_INST_RETIRED.ALL_LOADS", 0},
	{C(DTLB, READ, ACCESS), "MEM_UOPS_RETIRED.ALL_LOADS", 0},
	{C(DTLB, READ, ACCESS), "MEM_INST_RETIRED.LOADS", 0},
	{C(DTLB, READ, MISS), "DTLB_LOAD_MISSES.WALK_COMPLETED", 0},
	{C(DTLB, READ, MISS), "DTLB_LOAD_MISSES.DEMAND_LD_WALK_COMPLETED", 0},
	{C(DTLB, READ, MISS), "DTLB_MISSES.MISS_LD", 0},
	{C(DTLB, WRITE, ACCESS), "MEM_INST_RETIRED.ALL_STORES", 0},
	{C(DTLB, WRITE, ACCESS), "MEM_UOPS_RETIRED.ALL_STORES", 0},
	{C(DTLB, WRITE, ACCESS), "MEM_INST_RETIRED.STORES", 0},
	{C(DTLB, WRITE, MISS), "DTLB_STORE_MISSES.WALK_COMPLETED", 0},
	{C(DTLB, WRITE, MISS), "DTLB_MISSES.MISS_ST", 0},
	{C(ITLB, READ, ACCESS), "ITLB_MISSES.STLB_HIT", 0},
	{C(ITLB, READ, MISS), "ITLB_MISSES.WALK_COMPLETED", 0},
	{C(BPU, READ, ACCESS), "BR_INST_RETIRED.ALL_BRANCHES", 0},
	{C(BPU, READ, ACCESS), "BR_INST_RETIRED.ANY", 0},
	{C(BPU, READ, ACCESS), "BRANCH_INSTRUCTIONS_RETIRED", 0},
	{C(BPU, READ, ACCESS), "BR_INST_RETIRED", 0},
	{C(BPU, READ, MISS), "BR_MISP_RETIRED.ALL_BRANCHES", 0},
	{C(BPU, READ, MISS), "BR_INST_RETIRED.MISPRED", 0},
	{C(BPU, READ, MISS), "MISPREDICTED_BRANCH_RETIRED", 0},
	{C(BPU, READ, MISS), "BR_MISS_PRED_RETIRED", 0},
};

static const struct spmu_event *find(const struct spmu_model *model, const char *name)
{
	size_t bytes = strlen(name) + 1;

	for (size_t i = 0; i < spmu_event_count(model); i++) {
		const struct spmu_event *row = spmu_event_at(model, i);

		if (strlen(row->name) + 1 == bytes && !memcmp(row->name, name, bytes))
			return row;
	}
	return NULL;
}

bool perf_caches_supplied(const struct spmu_model *model, const struct spmu_supply *supply,
			  const struct spmu_event *row, uint64_t offcore)
{
	struct spmu_tally_set set;

	return spmu_event_fidelity(row, supply) != SPMU_ABSENT &&
	       (row->tally != SPMU_TALLY_OFFCORE || spmu_offcore_tallies(model, offcore, &set));
}

bool perf_caches_find(const struct spmu_model *model, const struct spmu_supply *supply,
		      uint64_t config, struct perf_cache *out)
{
	out->row = NULL;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		const struct spmu_event *row =
			events[i].config == config ? find(model, events[i].name) : NULL;
		bool supplied = row && perf_caches_supplied(model, supply, row, events[i].offcore);

		if (!row || (out->row && !supplied))
			continue;
		*out = (struct perf_cache){row, events[i].offcore};
		if (supplied)
			break;
	}
	return out->row;
}
