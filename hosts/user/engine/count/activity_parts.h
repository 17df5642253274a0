/* SPDX-License-Identifier: MIT */
/* activity_parts.h: what activity.c and activity_steps.c share. */
#ifndef SOFTPMU_ENGINE_ACTIVITY_PARTS_H
#define SOFTPMU_ENGINE_ACTIVITY_PARTS_H

#include <softpmu/uarch.h>

#include "engine/count/activity.h"
#include "engine/count/meter_list.h"
#include "engine/count/timing.h"
#include "engine/count/windows.h"
#include "engine/rt/context.h"

#define ACTIVITY_BATCH	  256u
#define ACTIVITY_VERDICTS 64u /* a power of two, more than last branch records */

/* An access of a precise step. */
struct step_access {
	uint64_t address;
	uint16_t bytes;
	uint8_t kind;
};

struct activity {
	struct spmu_uarch *model;
	struct costs *costs;	    /* NULL: not wanted */
	struct timing timing;	    /* without a timeline if the machine has no core */
	uint64_t log, guard, begin; /* begin: where the log begins now */
	uint64_t fs_base;
	struct spmu_uarch_reference
		batch[ACTIVITY_BATCH]; /* what the model has not been told yet */
	unsigned batched;
	struct spmu_uarch_outcome outcome[ACTIVITY_BATCH]; /* the same of conditional branches */
	unsigned outcomes;
	const struct activity_code *branched; /* it ended in a branch that went somewhere */
	/* What the meters have been charged for. */
	uint64_t signals[SPMU_SIGNALS], tallies[SPMU_TALLIES];
	struct spmu_tally_set wanted; /* that meters count; the others are not up to date */
	struct {
		struct activity_code code;
		struct step_access access[INSN_ACCESSES_MAX];
		unsigned accesses;
		uint64_t repeats; /* RCX before a repeated string instruction */
		bool rep, address32;
		bool reported; /* the model knows it */
		/* Where the first load and the first store found their data: level, page walk. */
		struct place {
			bool known, walked;
			enum spmu_uarch_level level;
		} load, store;
	} step;
	struct spmu_tally tally[SPMU_TALLIES]; /* of the instruction that retires */
	/* The newest taken branches of the kinds that the list logs, as a ring. */
	struct verdict {
		uint64_t from, to;
		bool missed;
	} verdict[ACTIVITY_VERDICTS];
	unsigned verdicts; /* how many there have been */
};

/* Descriptions of blocks are in units of a line of caches.  A log names them by numbers. */
extern uint8_t *activity_blocks;
#define ACTIVITY_UNIT	     64u
#define ACTIVITY_NUMBER_BITS 22
#define ACTIVITY_NUMBER_MASK ((1u << ACTIVITY_NUMBER_BITS) - 1)
#define ACTIVITY_WORDS_MASK  511u /* the sign is above it */

static inline const struct activity_block *activity_block_of(uint64_t number)
{
	return (const struct activity_block *)(activity_blocks +
					       (number & ACTIVITY_NUMBER_MASK) * ACTIVITY_UNIT);
}

/* A number tells how many words the block logs.  So the place of the next block is known before the
 * description has come from memory. */
static inline unsigned activity_words_of(uint64_t number)
{
	return number >> ACTIVITY_NUMBER_BITS & ACTIVITY_WORDS_MASK;
}

static inline struct activity *activity_mine(void)
{
	return current->activities;
}

/* What warms the model up before a sample window takes no time: registers and ports are ready after
 * few instructions. */
static inline bool activity_wants(unsigned what)
{
	if (what == ACTIVITY_CLOCKS && windows_warming(current->counting))
		return false;
	return current->list->activity & what;
}

/* Sets what the meters have been charged for to what the model has counted, and returns the
 * difference. */
static inline uint64_t activity_new(uint64_t *charged, uint64_t counted)
{
	uint64_t n = counted - *charged;

	/* What remains of all slots after those with a cause can become fewer for a moment. */
	if (counted < *charged)
		return 0;
	*charged = counted;
	return n;
}

/* Returns how often the model has counted a signal, or a tally. */
static inline uint64_t activity_counted(const struct activity *a, enum spmu_signal signal)
{
	if (!(SPMU_SIGSET_CLOCKS >> signal & 1))
		return spmu_uarch_signal(a->model, 0, signal);
	return a->timing.timeline ? spmu_timeline_clocks(a->timing.timeline) : 0;
}
static inline uint64_t activity_tallied(const struct activity *a, enum spmu_tally_kind tally)
{
	if (!spmu_tally_is_timed(tally))
		return spmu_uarch_tally(a->model, 0, tally);
	return a->timing.timeline ? spmu_timeline_tally(a->timing.timeline, tally) : 0;
}

/* Returns the address of a block's access.  `word`: what the block has logged. */
static inline uint64_t activity_address(const struct activity *a,
					const struct spmu_uarch_block_access *at,
					const uint64_t *word)
{
	uint64_t address = at->displacement;

	if (!(at->form & SPMU_UARCH_CONSTANT))
		address += word[at->word];
	if (at->form & SPMU_UARCH_ADDRESS32)
		address &= UINT32_MAX;
	if (at->form & SPMU_UARCH_SEGMENT)
		address += a->fs_base;
	return address;
}

/* Tells the model what it has not been told yet. */
void activity_flush(struct activity *a);
/* Charges what the model has counted since the last time. */
void activity_charge(struct activity *a);
/* While a thread reports, no other thread of the process does: their models share a last level. */
void activity_begin_report(void);
void activity_end_report(void);
/* Tells the model where the last branch went: to `pc`. */
void activity_reach_in(struct activity *a, uint64_t pc);
/* Tells the model of a branch. */
void activity_report_branch(struct activity *a, const struct activity_code *b, uint64_t to);
/* Reports the fetch of some instructions, line by line: a block can be in several. */
void activity_report_fetch(struct activity *a, uint64_t at, uint64_t bytes);

/* Reports a fetch, or an access of instruction `insn` of what is reported. */
static inline void activity_report(struct activity *a, uint64_t address, uint32_t bytes,
				   uint32_t kind, unsigned insn)
{
	if (activity_wants(ACTIVITY_CLOCKS)) {
		if (kind == SPMU_UARCH_FETCH)
			timing_fetch(&a->timing, address, bytes);
		else
			timing_access(&a->timing, address, bytes, kind, insn);
		return;
	}
	a->batch[a->batched++] = (struct spmu_uarch_reference){address, bytes, kind};
	if (a->batched == ACTIVITY_BATCH)
		activity_flush(a);
}

#endif
