/* SPDX-License-Identifier: MIT */
/*
 * debug.c: what debug exceptions and system management mode do to the unit (17.4.1 to 17.4.3).
 *
 * In system management mode nothing is recorded into the DS save area (note in 17.4.9). The
 * registers keep their values, branches are not stored, and an overflow arms no record. A record
 * that was armed before waits for RSM.
 */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"
#include "src/pmu/records.h"

bool spmu_steps_on_branches(const struct spmu_core *core, unsigned lp)
{
	return lp < core->threads &&
	       (core->thread[lp].state.reg[SLOT_DEBUGCTL] & FIELD(DEBUGCTL, BTF));
}

/*
 * LBR and BTF are cleared before the handler runs. The entries stay, and so does TR, which software
 * has to clear (17.4.2, 17.4.3). Architectural last branch records go on: no source says that a
 * debug exception clears IA32_LBR_CTL.LBREn.
 */
void spmu_debug_exception(struct spmu_core *core, unsigned lp)
{
	if (lp >= core->threads)
		return;
	spmu_sync(core);
	core->thread[lp].state.reg[SLOT_DEBUGCTL] &= ~(FIELD(DEBUGCTL, LBR) | FIELD(DEBUGCTL, BTF));
	counters_update(core);
}

static void freeze(struct thread_state *state)
{
	const uint64_t off = FIELD(DEBUGCTL, LBR) | FIELD(DEBUGCTL, BTF) | FIELD(DEBUGCTL, TR) |
			     FIELD(DEBUGCTL, BTS);

	state->frozen = 1;
	state->smm_debugctl = state->reg[SLOT_DEBUGCTL];
	state->smm_global_ctrl = state->reg[SLOT_GLOBAL_CTRL];
	state->reg[SLOT_DEBUGCTL] &= ~off;
	state->reg[SLOT_GLOBAL_CTRL] = 0;
}

/*
 * RSM restores what the SMI cleared, even if the handler has written to these registers since. The
 * manual lets RSM set the enable bits of IA32_PERF_GLOBAL_CTRL; the unit sets those that were set.
 */
static void thaw(struct thread_state *state)
{
	state->reg[SLOT_DEBUGCTL] = state->smm_debugctl;
	state->reg[SLOT_GLOBAL_CTRL] = state->smm_global_ctrl;
	state->smm_debugctl = state->smm_global_ctrl = 0;
	state->frozen = 0;
}

/*
 * An SMI stops architectural last branch records and RSM continues them, with and without
 * FREEZE_WHILE_SMM (chapter on last branch records, IA32_LBR_CTL.LBREn).
 */
static void switch_records(struct thread_state *state, bool off)
{
	const uint64_t enable = FIELD(LBR_CTL, LBREn);

	if (off) {
		state->smm_lbr_ctl = state->reg[SLOT_LBR_SELECT] & enable;
		state->reg[SLOT_LBR_SELECT] &= ~enable;
	} else {
		state->reg[SLOT_LBR_SELECT] =
			(state->reg[SLOT_LBR_SELECT] & ~enable) | state->smm_lbr_ctl;
		state->smm_lbr_ctl = 0;
	}
}

/* SMIs do not nest. */
void spmu_smm(struct spmu_core *core, unsigned lp, bool entered)
{
	struct thread_state *state;

	if (lp >= core->threads || core->thread[lp].state.smm == entered)
		return;
	spmu_sync(core);
	state = &core->thread[lp].state;
	state->smm = entered;
	if (lbr_architectural(core))
		switch_records(state, entered);
	if (entered && (state->reg[SLOT_DEBUGCTL] & FIELD(DEBUGCTL, FREEZE_WHILE_SMM)))
		freeze(state);
	else if (state->frozen)
		thaw(state);
	counters_update(core);
}
