/* SPDX-License-Identifier: MIT */
/*
 * account.h: what a timeline spends its clocks on (account.c): issue slots by cause, and what
 * executes and is outstanding in each clock.
 */
#ifndef SPMU_SRC_UARCH_ACCOUNT_H
#define SPMU_SRC_UARCH_ACCOUNT_H

#include "src/uarch/timed.h"

#define PART UINT64_C(240) /* of them are a clock: widths of 1 to 6, 8 and more divide it */

/* Why a slot of dispatch had no micro-operation that retires. */
enum cause {
	CAUSE_WRONG_PATH, /* micro-operations after a mispredicted branch */
	CAUSE_RECOVERY,
	CAUSE_RESTEER, /* the front end fetches from the right path */
	CAUSE_CODE_CACHE,
	CAUSE_CODE_WALK,
	CAUSE_TAKEN, /* a taken branch in each clock at most */
	CAUSE_SERIAL,
	CAUSE_STORES,
	CAUSE_CORE, /* the window is full, and the oldest instruction executes */
	CAUSE_L1,   /* the window is full, and the oldest instruction waits for this level ... */
	CAUSE_MEMORY = CAUSE_L1 + SPMU_LEVEL_MEMORY,
	CAUSES
};

/* Clocks that follow each other and have something outstanding. */
struct span {
	uint64_t until;	 /* parts of a clock */
	uint64_t covers; /* the sum of all spans, without what they have in common */
	uint64_t times;	 /* how many there were */
};

enum account_span {
	SPAN_L1D_MISS,
	SPAN_FILL_FULL,
	SPAN_OFFCORE_STORE,
	SPAN_LOAD_WALK,
	SPAN_STORE_WALK,
	SPANS
};

enum account_sum {
	SUM_SLOTS, /* that retired */
	SUM_UOPS,
	SUM_FUSED,
	SUM_WRONG, /* micro-operations of wrong paths */
	SUM_EXECUTED,
	SUM_X87,
	SUM_SLOW_LEA,
	SUM_MOVES_GENERAL,
	SUM_MOVES_VECTOR,
	SUM_DELIVERED_0, /* clocks in which the front end delivered at most 0 ... */
	SUM_DELIVERED_3 = SUM_DELIVERED_0 + 3,
	SUM_NOT_DELIVERED, /* clocks in which it delivered too little */
	SUM_NOT_ISSUED,
	SUM_RETIRED_CLOCKS,
	SUM_NONE_WAIT_TIMES,
	SUM_BUFFER_HITS,
	SUM_PREFETCH_HITS,
	SUM_ALIASES,
	SUM_BLOCKED,
	SUM_CLEARS_ORDER,
	SUM_PREFETCH_L2_HITS,
	SUM_PREFETCH_L2_MISSES,
	SUM_SPLIT_LOCKS,
	SUM_BLENDS,
	SUM_AVX_TO_SSE,
	SUM_SSE_TO_AVX,
	SUM_MARKS, /* instructions of each mark */
	SUM_MARKS_LAST = SUM_MARKS + MARKS - 1,
	/* From here on parts of clocks. */
	SUM_DIVIDER,
	SUM_LOCKED,
	SUM_L1D_PENDING,
	SUM_OFFCORE_LOADS,
	SUM_OFFCORE_STORES,
	SUM_MEMORY_LOADS,
	SUM_LOAD_WALKS,
	SUM_STORE_WALKS,
	SUM_CODE_WALKS,
	SUM_CODE_OFFCORE,
	SUMS
};

/* What a clock has: micro-operations that start, and loads that are outstanding. */
#define CLOCK_STARTS  15u
#define CLOCK_LOAD    16u
#define CLOCK_L1_MISS 32u
#define CLOCK_L2_MISS 64u
#define CLOCK_L3_MISS 128u
/* In account.state, not in account.clock. */
#define CLOCK_NONE_WAIT 256u
#define CLOCK_STORES	512u
#define CLOCK_STATES	1024u

#define ACCOUNT_CLOCKS 65536u /* that are open; more than a full window takes */
#define ACCOUNT_STORES 512u
#define ACCOUNT_LINES  64u
#define ACCOUNT_LOADS  256u /* that the core predicts to meet a store, or not */

struct recent_store {
	uint64_t linear, until;
	uint64_t known; /* when its address was */
	uint64_t bytes;
};

struct account {
	bool on;
	uint8_t retires_by, level; /* causes: of the last retirement; of the newest load */
	uint64_t lost[CAUSES];	   /* parts of clocks */
	uint64_t sum[SUMS];
	uint64_t port[TIMED_PORTS];
	struct span span[SPANS];
	uint64_t begun;	     /* when accounting began */
	uint64_t settled;    /* clocks before this one do not change any more */
	uint64_t last_start; /* of all that has been dispatched */
	uint64_t issued;     /* when the last micro-operation was issued */
	uint64_t last_clock; /* the last clock in which something retired, plus one */
	bool none_waited;
	bool learns;			 /* which loads meet no store */
	uint8_t upper;			 /* of the vector registers: enum upper */
	uint64_t asked;			 /* when the address of the newest store was known */
	uint64_t block;			 /* the block that runs */
	uint8_t alone[ACCOUNT_LOADS];	 /* how often a load met no store, up to 15 */
	uint8_t cause[TIMED_WINDOW_MAX]; /* why an entry of the window is not free earlier */
	uint8_t line_level[ACCOUNT_LINES];
	bool line_prefetched[ACCOUNT_LINES];
	struct recent_store store[ACCOUNT_STORES];
	uint64_t state[CLOCK_STATES]; /* how many clocks had it */
	uint8_t clock[ACCOUNT_CLOCKS];
};

/* Begins at this time of dispatch.  `now`: when all that ran has retired, too. */
void account_begin(struct account *a, uint64_t dispatched, uint64_t now);

/* The clocks before `now` are over: nothing starts there any more. */
void account_settle(struct account *a, uint64_t now, bool stores_full);

/* Dispatch waits from one time to another. */
void account_lose(struct account *a, const struct spmu_core_shape *core, uint64_t from, uint64_t to,
		  enum cause cause);

/* Micro-operations start, a few in a clock. */
void account_start(struct account *a, uint64_t start, unsigned uops);

/* A load is outstanding.  `flags`: CLOCK_LOAD and others. */
void account_load(struct account *a, uint64_t from, uint64_t to, unsigned flags);

/* Some slots have retired, the last of them at `at`. */
void account_retire(struct account *a, uint64_t at, unsigned slots, uint64_t step);

/* A locked access: it may be in two lines. */
void account_lock(struct account *a, const struct spmu_timed_access *access);

/* An instruction of some kind has run. */
void account_mark(struct account *a, enum timed_mark mark);

/* A load looks for an older store that it meets; a store is noted. */
void account_meet(struct account *a, const struct spmu_timed_access *access, uint64_t start);
void account_store(struct account *a, const struct spmu_timed_access *access, uint64_t until);

/* Returns how often a tally has happened, until `now`. */
uint64_t account_tally(const struct account *a, const struct spmu_core_shape *core, uint64_t now,
		       enum spmu_tally_kind tally);

/* Something is outstanding from one time to another. */
static inline void account_span(struct account *a, enum account_span which, uint64_t from,
				uint64_t to)
{
	struct span *s = &a->span[which];

	if (to <= s->until)
		return;
	s->times += from >= s->until;
	s->covers += to - (from > s->until ? from : s->until);
	s->until = to;
}

#endif
