/* SPDX-License-Identifier: MIT */
/*
 * perf_caches.h: what perf's events of caches count on a model (perf_caches.c).
 */
#ifndef SOFTPMU_PERF_CACHES_H
#define SOFTPMU_PERF_CACHES_H

#include <linux/perf_event.h>

#include <softpmu/model.h>
#include <stdbool.h>
#include <stdint.h>

/* The config of an event: PERF_CACHES(L1D, READ, MISS). */
#define PERF_CACHES(cache, operation, result)                                                      \
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##operation << 8 |                   \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

struct perf_cache {
	const struct spmu_event *row;
	uint64_t offcore; /* as in struct spmu_request */
};

/*
 * Finds the event of the model for a config of PERF_TYPE_HW_CACHE: one that is supplied, if there
 * is one.  Returns false if the model has none.
 */
bool perf_caches_find(const struct spmu_model *model, const struct spmu_supply *supply,
		      uint64_t config, struct perf_cache *out);

/* Returns whether something supplies all that an event counts: of an off-core response event, what
 * this value of its register selects. */
bool perf_caches_supplied(const struct spmu_model *model, const struct spmu_supply *supply,
			  const struct spmu_event *row, uint64_t offcore);

#endif
