/* SPDX-License-Identifier: MIT */
/* timeline.h: the inside of a timeline (timeline.c). */
#ifndef SPMU_SRC_UARCH_TIMELINE_H
#define SPMU_SRC_UARCH_TIMELINE_H

#include "src/uarch/account.h"
#include "src/uarch/front.h"
#include "src/uarch/scheduler.h"

#define PORTS	   64u
#define FORWARDS   256u
#define PENDING	   ACCOUNT_LINES
#define LINE_SHIFT 6u
#define LINE	   (1u << LINE_SHIFT)

struct remembered {
	uint64_t what, ready;
};

/* What is fetched from one line after a taken branch, on a core with entries. */
struct entries {
	uint64_t start, line;
	unsigned insns; /* in this line */
	bool alone;	/* the next taken branch cannot be followed in the same clock */
};

struct spmu_timeline {
	struct spmu_core_shape core;
	uint64_t dispatch_step, retire_step; /* for each place in the window */
	uint64_t commit_step;		     /* for each store */
	uint64_t dispatched, retired, committed, resolved;
	uint64_t last_window,
		end;	   /* the last start of fetching; the address after the last block */
	bool after_return; /* the last block ended with a return */
	struct entries entries;
	struct scheduler scheduler;
	uint64_t barrier, line_free; /* loads start after `barrier` */
	uint64_t ready[TIMED_REGISTERS];
	uint64_t backlog[PORTS];
	uint64_t window[TIMED_WINDOW_MAX]; /* when the entries become free */
	uint64_t stored[TIMED_STORES_MAX];
	uint64_t filled[TIMED_FILLS_MAX];
	unsigned window_at, stored_at, filled_at;
	bool unlimited;			     /* only the chains of registers matter */
	struct remembered forward[FORWARDS]; /* stores by address */
	struct remembered pending[PENDING];  /* lines that are on their way */
	struct account account;
	struct front front;
};

/* timeline.c: Fetches a block from the first level, and runs an instruction, both without an
 * account.  t->end and t->after_return are the caller's. */
void timeline_fetch(struct spmu_timeline *t, const struct spmu_timed_block *b);
void timeline_run_insn(struct spmu_timeline *t, const struct timed_insn *in,
		       const struct spmu_timed_access *access, unsigned accesses);

/* timeline_entries.c: Returns how long after the last fetch a taken branch's target is fetched, and
 * begins there. */
uint64_t timeline_entries_jump(struct spmu_timeline *t, const struct spmu_timed_block *b);

/* Fetches a block's code.  Returns the time it takes beside the first clock. */
uint64_t timeline_entries_fetch(struct spmu_timeline *t, const struct spmu_timed_block *b);

/* timeline_account.c: accounts for a line that is asked for, and is on its way from `start` to
 * `done`. */
void timeline_account_fill(struct spmu_timeline *t, const struct spmu_timed_access *a,
			   uint64_t asked, uint64_t start, uint64_t done);

/* The same for a load that was asked for, started after its page walk, and got its value. */
void timeline_account_load(struct spmu_timeline *t, const struct spmu_timed_access *a,
			   uint64_t asked, uint64_t start, uint64_t value);

/* The same for an instruction whose address was ready at `asked` and that starts at `start`. */
void timeline_account_insn(struct spmu_timeline *t, const struct timed_insn *in, uint64_t asked,
			   uint64_t start, uint64_t complete);

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
