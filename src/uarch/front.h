/* SPDX-License-Identifier: MIT */
/* front.h: where a front end takes micro-operations from (front.c). */
#ifndef SPMU_SRC_UARCH_FRONT_H
#define SPMU_SRC_UARCH_FRONT_H

#include "src/uarch/timed.h"

#define FRONT_SETS_MAX 64u
#define FRONT_WAYS_MAX 8u
#define FRONT_LINES    512u  /* lines of code: a first level of 32 KB */
#define FRONT_BRANCHES 4096u /* taken branches that the front end knows */

/* Counts, in the order of their tallies. */
enum front_count {
	FRONT_UOPS_DSB,
	FRONT_UOPS_MITE,
	FRONT_UOPS_MS,
	FRONT_UOPS_MS_DSB,
	FRONT_UOPS_MS_MITE,
	FRONT_UOPS_IDQ,
	FRONT_UOPS_ANY_DSB,
	FRONT_UOPS_ANY_MITE,
	FRONT_CLOCKS_DSB,
	FRONT_CLOCKS_DSB_FULL,
	FRONT_CLOCKS_MITE,
	FRONT_CLOCKS_MITE_FULL,
	FRONT_CLOCKS_MS,
	FRONT_CLOCKS_MS_DSB,
	FRONT_CLOCKS_MS_MITE,
	FRONT_CLOCKS_ANY_DSB,
	FRONT_CLOCKS_ANY_MITE,
	FRONT_MS_SWITCHES,
	FRONT_MS_DSB_SWITCHES,
	FRONT_DSB_SWITCHES,
	FRONT_DSB_MISSES,
	FRONT_UOPS_LSD,
	FRONT_CLOCKS_LSD,
	FRONT_CLOCKS_LSD_FULL,
	FRONT_CLOCKS_LENGTH,
	FRONT_DECODED_INSNS,
	FRONT_RESTEERS,
	FRONT_CLEARS_CODE,
	FRONT_COUNTS
};

enum front_source { SOURCE_NONE, SOURCE_DSB, SOURCE_MITE, SOURCE_MS, SOURCE_LSD };

/* 32 bytes of code in the decoded instruction cache. */
struct front_window {
	uint64_t window; /* address / 32 + 1; 0: none */
	uint64_t used;	 /* when it was used last */
	uint32_t starts; /* at which of its bytes instructions begin that it has */
	uint16_t uops;
	uint8_t ways;
	bool refused; /* it needs too many ways */
};

/* A loop that may be in the loop buffer: what ran since its first block. */
struct front_loop {
	uint64_t first;
	uint32_t uops, blocks;		 /* of this turn */
	uint32_t last_uops, last_blocks; /* of the turn before */
	bool held;
};

struct front {
	bool on;
	uint8_t source;	 /* of the newest micro-operations */
	uint8_t decoded; /* instructions of this clock, from the decoders */
	uint16_t uops;	 /* of this clock */
	uint64_t piece;	 /* of code that this clock is from */
	uint64_t time;
	struct front_loop loop;
	uint64_t n[FRONT_COUNTS];
	uint64_t line[FRONT_LINES];	 /* code was fetched from them */
	uint64_t branch[FRONT_BRANCHES]; /* the addresses after taken branches */
	struct front_window window[FRONT_SETS_MAX][FRONT_WAYS_MAX];
};

/* The first `insns` instructions of a block run.  `before`: the address after what ran before. */
void front_run(struct front *f, const struct spmu_core_shape *core,
	       const struct spmu_timed_block *block, unsigned insns, uint64_t before);

/* A store goes to memory. */
void front_store(struct front *f, uint64_t linear);

/* Returns a tally of the front end. */
uint64_t front_tally(const struct front *f, unsigned tally);

#endif
