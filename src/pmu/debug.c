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

bool spmu_steps_on_branches(const struct spmu_core *core, unsigned lp)
{
	return lp < core->threads &&
	       (core->thread[lp].state.reg[SLOT_DEBUGCTL] & FIELD(DEBUGCTL, BTF));
}

/*
 * LBR and BTF are cleared before the handler runs. The entries stay, and so does TR, which software
 * has to clear (17.4.2, 17.4.3).
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

/* SMIs do not nest. */
void spmu_smm(struct spmu_core *core, unsigned lp, bool entered)
{
	struct thread_state *state;

	if (lp >= core->threads || core->thread[lp].state.smm == entered)
		return;
	spmu_sync(core);
	state = &core->thread[lp].state;
	state->smm = entered;
	if (entered && (state->reg[SLOT_DEBUGCTL] & FIELD(DEBUGCTL, FREEZE_WHILE_SMM)))
		freeze(state);
	else if (state->frozen)
		thaw(state);
	counters_update(core);
}
