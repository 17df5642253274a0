/* SPDX-License-Identifier: MIT */
/*
 * records.h: what the unit records besides counts: PEBS records, last branch records, the branch
 * trace store, and the taps that ask the host for branches and accesses.
 */
#ifndef SPMU_SRC_RECORDS_H
#define SPMU_SRC_RECORDS_H

#include "src/pmu/core.h"

/* pebs.c: the result of making a PEBS record. */
enum pebs_result {
	PEBS_SKIPPED, /* memory or a wrong index refused */
	PEBS_FULL,    /* no space up to the maximum */
	PEBS_LATE,    /* the same, and the threshold's interrupt is still to come (erratum) */
	PEBS_OUTSIDE, /* dropped: the index is not in the buffer */
	PEBS_WRITTEN,
	PEBS_THRESHOLD /* written, and the index reached the threshold */
};
uint32_t pebs_enabled(const struct spmu_core *core, uint64_t enable);
uint8_t pebs_threads(const struct spmu_core *core, uint64_t enable, unsigned counter);
uint64_t pebs_other_view(uint64_t enable);
uint64_t pebs_off(const struct spmu_core *core, unsigned lp, uint64_t enable);
uint64_t pebs_applicable(uint32_t counters);
uint32_t pebs_due(const struct thread *thread, unsigned lp, unsigned ring);
enum pebs_result pebs_write(struct spmu_core *core, unsigned lp, struct thread *holder,
			    const struct spmu_insn *insn, uint32_t *counters);

/* lbr_select.c: sets up recording from the registers of a thread. */
void lbr_update(const struct spmu_core *core, struct thread *thread);

/* lbr.c */
#define LBR_CLOCKS_MAX	   0xffffu  /* what an entry can hold */
#define LBR_CLOCKS_UNKNOWN 0x10000u /* the next entry has 0 (17.10.3) */

/* Returns true if the model has architectural last branch records. */
static inline bool lbr_architectural(const struct spmu_core *core)
{
	return core->model->lbr && core->model->lbr->ctl;
}

/* Returns how many entries the stack has now. */
static inline unsigned lbr_depth(const struct spmu_lbr_layout *layout,
				 const struct thread_state *state)
{
	return layout->ctl ? (unsigned)state->reg[SLOT_LBR_DEPTH] : layout->depth;
}

/* Returns where the n-th newest entry is kept. */
static inline unsigned lbr_entry(const struct spmu_lbr_layout *layout,
				 const struct thread_state *state, unsigned n)
{
	return ((unsigned)state->reg[SLOT_LBR_TOS] - n) & (lbr_depth(layout, state) - 1);
}

/* Clears the entries of the stack, and TOS. */
void lbr_clear(struct thread_state *state);
void lbr_log(struct thread *thread, unsigned lp, const struct spmu_insn *insn);

/* Returns the counters that last branch records log now. */
static inline uint32_t lbr_logging(const struct thread *thread)
{
	return thread->lbr.on ? thread->logged : 0;
}

void lbr_clocks(struct thread *thread, uint64_t clocks);
bool lbr_clocks_valid(const struct spmu_core *core, uint32_t clocks);
bool lbr_log_valid(const struct spmu_core *core, uint64_t log);
void lbr_record(const struct spmu_core *core, struct thread *thread,
		const struct spmu_branch *branches, size_t count);
bool lbr_valid(const struct spmu_core *core, const struct msr *msr, uint64_t value);
bool lbr_takes(const struct spmu_core *core, const struct msr *msr, uint64_t value);
bool lbr_takes_from(const struct spmu_core *core, const struct msr *msr, uint64_t value);

/* bts.c */
void bts_update(const struct spmu_core *core, struct thread *thread);
size_t bts_store(struct spmu_core *core, unsigned lp, const struct spmu_branch *branches,
		 size_t count, bool *pmi);
void bts_stored(struct spmu_core *core, unsigned lp, size_t records, bool *pmi);
void bts_headroom(struct spmu_core *core, unsigned lp);

/* tap.c */
void branches_update(struct spmu_core *core);

/* branches.c */
bool branches_retired(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn);
bool branches_traced(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn);

#endif
