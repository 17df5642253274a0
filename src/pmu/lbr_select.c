/* SPDX-License-Identifier: MIT */
/*
 * lbr_select.c: which branches become last branch records: the enable bit and the filter of a
 * thread.
 *
 * MSR_LBR_SELECT leaves out kinds of branches, and branches that end in a ring (17.7.2).
 * IA32_LBR_CTL includes them instead (architectural last branch records). With EN_CALLSTACK the
 * manual calls the contents undefined unless all kinds but near calls and returns are filtered
 * (17.9). The unit always leaves the other kinds out in that mode.
 */
#include "src/pmu/core.h"
#include "src/pmu/records.h"

#define CALLS_AND_RETURNS (SPMU_SIGBIT(CALL_REL) | SPMU_SIGBIT(CALL_IND) | SPMU_SIGBIT(RET_NEAR))

/* Returns the kinds of branches that MSR_LBR_SELECT does not exclude. */
static uint64_t not_excluded(const struct spmu_core *core, uint64_t select)
{
	static const uint64_t kind[] = {
		[LBR_SELECT_JCC_low] = SPMU_SIGBIT(COND_TAKEN),
		[LBR_SELECT_NEAR_REL_CALL_low] = SPMU_SIGBIT(CALL_REL),
		[LBR_SELECT_NEAR_IND_CALL_low] = SPMU_SIGBIT(CALL_IND),
		[LBR_SELECT_NEAR_RET_low] = SPMU_SIGBIT(RET_NEAR),
		[LBR_SELECT_NEAR_IND_JMP_low] = SPMU_SIGBIT(JMP_IND),
		[LBR_SELECT_NEAR_REL_JMP_low] = SPMU_SIGBIT(JMP_REL),
		[LBR_SELECT_FAR_BRANCH_low] = SPMU_SIGBIT(FAR),
	};
	uint64_t kinds = SPMU_SIGSET_TAKEN;

	if (has_erratum(core, ERRATUM_LBR_CALLS)) {
		if (select & FIELD(LBR_SELECT, NEAR_REL_JMP))
			kinds &= ~SPMU_SIGBIT(CALL_REL);
		if (select & FIELD(LBR_SELECT, NEAR_IND_JMP))
			kinds &= ~(SPMU_SIGBIT(CALL_IND) | SPMU_SIGBIT(RET_NEAR));
	}
	for (unsigned bit = 0; bit < sizeof(kind) / sizeof(kind[0]); bit++)
		if (select >> bit & 1)
			kinds &= ~kind[bit];
	return kinds;
}

/* Returns the kinds of branches that IA32_LBR_CTL includes. */
static uint64_t included(uint64_t ctl)
{
	return (ctl & FIELD(LBR_CTL, COND) ? SPMU_SIGBIT(COND_TAKEN) : 0) |
	       (ctl & FIELD(LBR_CTL, NEAR_REL_JMP) ? SPMU_SIGBIT(JMP_REL) : 0) |
	       (ctl & FIELD(LBR_CTL, NEAR_IND_JMP) ? SPMU_SIGBIT(JMP_IND) : 0) |
	       (ctl & FIELD(LBR_CTL, NEAR_REL_CALL) ? SPMU_SIGBIT(CALL_REL) : 0) |
	       (ctl & FIELD(LBR_CTL, NEAR_IND_CALL) ? SPMU_SIGBIT(CALL_IND) : 0) |
	       (ctl & FIELD(LBR_CTL, NEAR_RET) ? SPMU_SIGBIT(RET_NEAR) : 0) |
	       (ctl & FIELD(LBR_CTL, OTHER_BRANCH) ? SPMU_SIGBIT(FAR) : 0);
}

static void exclude(const struct spmu_core *core, struct lbr_recording *lbr, uint64_t select)
{
	lbr->filtered = select != 0;
	lbr->call_stack = (select & FIELD(LBR_SELECT_CALL_STACK, EN_CALLSTACK)) != 0;
	lbr->rings = (select & FIELD(LBR_SELECT, CPL_EQ_0) ? 0 : SPMU_RING0) |
		     (select & FIELD(LBR_SELECT, CPL_NEQ_0) ? 0 : SPMU_RING_USER);
	lbr->signals = not_excluded(core, select);
}

/* `filtered` also keeps the host from storing a trace whose records lack the kind of a branch. */
static void include(struct lbr_recording *lbr, uint64_t ctl)
{
	lbr->filtered = true;
	lbr->call_stack = (ctl & FIELD(LBR_CTL, CALL_STACK)) != 0;
	lbr->rings = (ctl & FIELD(LBR_CTL, OS) ? SPMU_RING0 : 0) |
		     (ctl & FIELD(LBR_CTL, USR) ? SPMU_RING_USER : 0);
	lbr->signals = included(ctl);
}

static bool enabled(const struct spmu_core *core, const struct thread_state *state)
{
	if (!core->model->lbr || (state->reg[SLOT_GLOBAL_STATUS] & FIELD(GLOBAL_STATUS, LBR_Frz)))
		return false;
	if (lbr_architectural(core))
		return state->reg[SLOT_LBR_SELECT] & FIELD(LBR_CTL, LBREn);
	return state->reg[SLOT_DEBUGCTL] & FIELD(DEBUGCTL, LBR);
}

void lbr_update(const struct spmu_core *core, struct thread *thread)
{
	uint64_t select = thread->state.reg[SLOT_LBR_SELECT];
	struct lbr_recording *lbr = &thread->lbr;

	*lbr = (struct lbr_recording){0};
	if (!enabled(core, &thread->state))
		return;
	lbr->on = true;
	if (lbr_architectural(core))
		include(lbr, select);
	else
		exclude(core, lbr, select);
	if (lbr->call_stack)
		lbr->signals &= CALLS_AND_RETURNS;
	if (!lbr->rings)
		lbr->signals = 0;
	if (!lbr->signals)
		lbr->rings = 0;
	if (has_erratum(core, ERRATUM_LBR_SIGN))
		lbr->absent = SPMU_BRANCH_IN_TX | SPMU_BRANCH_ABORT;
	lbr->clocks = lbr->signals && ((core->host.supply.exact | core->host.supply.modelled) &
				       SPMU_SIGBIT(CYCLES));
}
