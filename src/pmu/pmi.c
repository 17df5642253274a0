/* SPDX-License-Identifier: MIT */
/*
 * pmi.c: the performance-monitoring interrupt: what a request freezes (17.4.7, 18.2.4.1), and how
 * the local vector table delivers it (Vol. 3A 10.5.1).
 *
 * A request freezes even if the LVT entry is masked, because the freeze belongs to the request, not
 * to its delivery.
 */
#include "src/pmu/core.h"
#include "src/pmu/pmi.h"

/* The legacy freeze clears bits that software must set again (17.4.7, 17.5). */
static void freeze_legacy(const struct spmu_core *core, struct thread *thread, uint64_t debugctl)
{
	uint64_t off = FIELD(DEBUGCTL, LBR);

	if (has_erratum(core, ERRATUM_NO_LBR_FREEZE))
		debugctl &= ~FIELD(DEBUGCTL, FREEZE_LBRS_ON_PMI);
	if (core->model->lbr && core->model->lbr->freeze_clears_tr)
		off |= FIELD(DEBUGCTL, TR);
	if (debugctl & FIELD(DEBUGCTL, FREEZE_LBRS_ON_PMI))
		thread->state.reg[SLOT_DEBUGCTL] &= ~off;
	if (debugctl & FIELD(DEBUGCTL, FREEZE_PERFMON_ON_PMI))
		thread->state.reg[SLOT_GLOBAL_CTRL] = 0;
}

/* Returns true if counters or last branch records may have stopped. */
bool pmi_request(struct spmu_core *core, struct thread *thread)
{
	uint64_t debugctl = thread->state.reg[SLOT_DEBUGCTL];
	bool stops = (debugctl & (FIELD(DEBUGCTL, FREEZE_LBRS_ON_PMI) |
				  FIELD(DEBUGCTL, FREEZE_PERFMON_ON_PMI))) != 0;

	if (!core->model->counters->freeze_by_status) {
		freeze_legacy(core, thread, debugctl);
		return stops;
	}
	if (debugctl & FIELD(DEBUGCTL, FREEZE_LBRS_ON_PMI))
		status_raise(core, thread, FIELD(GLOBAL_STATUS, LBR_Frz));
	if (debugctl & FIELD(DEBUGCTL, FREEZE_PERFMON_ON_PMI))
		status_raise(core, thread, FIELD(GLOBAL_STATUS, CTR_Frz));
	return stops;
}

/* Returns false if the entry is masked or has a reserved delivery mode. */
bool pmi_deliverable(uint32_t lvt)
{
	switch ((enum spmu_delivery)((lvt & LVT_DELIVERY) >> 8)) {
	case SPMU_DELIVER_FIXED:
	case SPMU_DELIVER_SMI:
	case SPMU_DELIVER_NMI:
		return !(lvt & LVT_MASK);
	default:
		return false;
	}
}

/*
 * Delivers through the LVT entry and masks it; only the P6 family does not mask it. Vectors 0 to 15
 * are illegal (Vol. 3A 10.5.2). The host's APIC handles that, because it has the error status
 * register.
 */
unsigned pmi_deliver(struct spmu_core *core, unsigned lp)
{
	uint32_t *lvt = &core->thread[lp].state.lvt;
	struct spmu_pmi pmi = {
		.delivery = (enum spmu_delivery)((*lvt & LVT_DELIVERY) >> 8),
		.vector = (uint8_t)(*lvt & LVT_VECTOR),
	};

	if (!pmi_deliverable(*lvt))
		return 0;
	if (pmi.delivery != SPMU_DELIVER_FIXED)
		pmi.vector = 0;
	if (!core->model->counters->lvt_stays)
		*lvt |= LVT_MASK;
	if (!core->host.pmi)
		return 0;
	core->host.pmi(core->host.opaque, lp, pmi);
	return SPMU_EV_PMI;
}

uint32_t spmu_read_lvt(const struct spmu_core *core, unsigned lp)
{
	return lp < core->threads ? core->thread[lp].state.lvt : LVT_RESET;
}

void spmu_write_lvt(struct spmu_core *core, unsigned lp, uint32_t value)
{
	if (lp < core->threads && !core->model->counters->no_lvt)
		core->thread[lp].state.lvt = value & LVT_WRITABLE;
}
