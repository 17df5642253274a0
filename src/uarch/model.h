/* SPDX-License-Identifier: MIT */
/* model.h: the inside of a model: what each thread has, and what they share. */
#ifndef SPMU_SRC_UARCH_MODEL_H
#define SPMU_SRC_UARCH_MODEL_H

#include "src/uarch/cache.h"
#include "src/uarch/predictor.h"
#include "src/uarch/streamer.h"
#include "src/uarch/walk.h"

#define ITLBS 2
#define DTLBS 3
#define STLBS 2

/* Flags of a cache entry. */
#define LINE_CHANGED 1u /* it differs from the next level */
#define LINE_SHARED  2u /* another thread may have it */

struct thread {
	struct cache l1i, l1d, l2;
	struct cache itlb[ITLBS], dtlb[DTLBS], stlb[STLBS];
	struct predictor predictor;
	struct streamer streamer;
	struct walker walker;
	uint64_t count[SPMU_UARCH_COUNTS];
};

/* How accesses that hit the first levels can be done with little work: not at all, or with TLBs for
 * pages of 4 KB, or without TLBs. */
enum near_kind { NEAR_NOT = 0, NEAR_TRANSLATED, NEAR_UNTRANSLATED };

struct spmu_uarch {
	struct spmu_machine machine;
	struct spmu_uarch_config config;
	unsigned line_shift;
	enum near_kind near;
	bool partial; /* not all that runs is reported */
	struct cache own_llc;
	struct cache *llc; /* own_llc, or that of the peers */
	struct thread *thread;
	struct spmu_uarch *next; /* a ring of the models that share a last level */
};

/* Returns whether another thread can have lines. */
static inline bool has_others(const struct spmu_uarch *u)
{
	return u->config.threads > 1 || u->next != u;
}

/* The properties of an access that matter to the caches. */
struct reference {
	struct thread *thread;
	bool fetch, write;
	bool walk; /* by a page walk: it starts no prefetches */
};

/*
 * memory.c: Brings lines `first` to `last`, which are adjacent, to the thread's first level.
 * Returns where the farthest of them came from.
 */
enum spmu_uarch_level memory_reach(struct spmu_uarch *u, const struct reference *r, uint64_t first,
				   uint64_t last);

/*
 * tlb.c: Translates the pages of an access.  Adds to *misses and *walks.  `pages`: the size of the
 * pages; 0: the configuration says it.
 */
void tlb_translate(struct spmu_uarch *u, struct thread *t, bool fetch, uint64_t linear,
		   uint32_t bytes, unsigned pages, uint64_t *misses, uint64_t *walks);

/* uarch.c: Report a fetch or an access of at least one byte, the long way. */
enum spmu_uarch_level uarch_fetch(struct spmu_uarch *u, struct thread *t, uint64_t linear,
				  uint32_t bytes);
enum spmu_uarch_level uarch_access(struct spmu_uarch *u, struct thread *t, uint64_t linear,
				   uint32_t bytes, unsigned kind);

/* uarch.c: Reports an access in one line, by the only thread, whose page is translated. */
enum spmu_uarch_level uarch_access_line(struct spmu_uarch *u, struct thread *t, uint64_t line,
					bool write);

#endif
