/* SPDX-License-Identifier: MIT */
/*
 * data_source.h: the source of the data in a PEBS record (Vol. 3B 18.8.1.2, 18.9.4.3) as perf's
 * union perf_mem_data_src.
 */
#ifndef SOFTPMU_HOST_DATA_SOURCE_H
#define SOFTPMU_HOST_DATA_SOURCE_H

#include <linux/perf_event.h>
#include <softpmu/model.h>
#include <softpmu/tallies.h>
#include <stddef.h>

/* Returns whether the event's records are about stores. */
static inline bool data_source_is_store(const struct spmu_event *row)
{
	return row->tally == SPMU_TALLY_STORE_SPLITS ||
	       row->tally == SPMU_TALLY_STORE_STLB_MISSES ||
	       (!row->tally && row->signals == SPMU_SIGBIT(STORES));
}

/* The cache level of perf's union perf_mem_data_src. */
#define DATA_SOURCE_LEVEL(hit, name, number)                                                       \
	(PERF_MEM_S(LVL, hit) | PERF_MEM_S(LVL, name) | PERF_MEM_S(LVLNUM, number))

/* Converts the source of a record of the event `row`; NULL: the event is not known. */
static inline uint64_t data_source_of(const struct spmu_event *row, uint32_t source)
{
	static const uint64_t places[16] = {
		[0x1] = DATA_SOURCE_LEVEL(HIT, L1, L1) | PERF_MEM_S(SNOOP, NONE),
		[0x3] = DATA_SOURCE_LEVEL(HIT, L2, L2) | PERF_MEM_S(SNOOP, NONE),
		[0x4] = DATA_SOURCE_LEVEL(HIT, L3, L3) | PERF_MEM_S(SNOOP, NONE),
		[0x6] = DATA_SOURCE_LEVEL(HIT, L3, L3) | PERF_MEM_S(SNOOP, HITM),
		[0xc] = DATA_SOURCE_LEVEL(HIT, LOC_RAM, RAM) | PERF_MEM_S(SNOOP, MISS),
	};
	const uint64_t none = PERF_MEM_S(LVL, NA) | PERF_MEM_S(LVLNUM, NA) | PERF_MEM_S(SNOOP, NA) |
			      PERF_MEM_S(TLB, NA) | PERF_MEM_S(LOCK, NA);
	uint64_t tlb = source & 0x10
			       ? PERF_MEM_S(TLB, MISS) | PERF_MEM_S(TLB, L2)
			       : PERF_MEM_S(TLB, HIT) | PERF_MEM_S(TLB, L1) | PERF_MEM_S(TLB, L2);

	if (!row || !row->data_address)
		return PERF_MEM_S(OP, NA) | none;
	if (data_source_is_store(row))
		return PERF_MEM_S(OP, STORE) | tlb |
		       (source & 1 ? DATA_SOURCE_LEVEL(HIT, L1, L1)
				   : DATA_SOURCE_LEVEL(MISS, L1, L1));
	if (!places[source & 15])
		return PERF_MEM_S(OP, LOAD) | none;
	return PERF_MEM_S(OP, LOAD) | places[source & 15] | tlb;
}

#endif
