/* SPDX-License-Identifier: MIT */
/*
 * instructions.c: RDPMC (Vol. 2B) and the unit's part of CPUID (18.2.1, Vol. 2A CPUID).
 */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"
#include "src/pmu/metrics.h"
#include "src/pmu/records.h"

#include "data/events/architectural.inc"

#define RDPMC_FIXED   (1u << 30)
#define RDPMC_FAST    (1u << 31)
#define RDPMC_METRICS (1u << 29)

/* CPUID leaf 1CH: what the architectural last branch records have. */
#define LBR_LEAF_DEEP_SLEEP_CLEARS (1u << 30) /* EAX */
#define LBR_LEAF_LINEAR		   (1u << 31)
#define LBR_LEAF_CPL		   (1u << 0) /* EBX: filters by privilege level, */
#define LBR_LEAF_FILTER		   (1u << 1) /* by kind, */
#define LBR_LEAF_CALL_STACK	   (1u << 2) /* and the call-stack mode */
#define LBR_LEAF_MISPRED	   (1u << 0) /* ECX: fields of IA32_LBR_x_INFO */
#define LBR_LEAF_CLOCKS		   (1u << 1)
#define LBR_LEAF_TYPE		   (1u << 2)

/*
 * ECX[30] selects fixed counters, if there are any. ECX[29] alone selects MSR_PERF_METRICS. ECX[31]
 * selects the low half, if the family has that form. Bus counters have only the low half.
 */
enum spmu_outcome spmu_rdpmc(struct spmu_core *core, unsigned lp, uint32_t ecx, unsigned cpl,
			     bool cr4_pce, bool cr0_pe, uint64_t *value)
{
	const struct counter_layout *layout = core->model->counters;
	bool fixed = layout->fixed_counters && (ecx & RDPMC_FIXED);
	bool fast = layout->rdpmc_fast && (ecx & RDPMC_FAST);
	uint32_t index = ecx & ~((fixed ? RDPMC_FIXED : 0) | (fast ? RDPMC_FAST : 0));
	unsigned first = fixed ? SLOT_FIXED_CTR : SLOT_PMC;
	unsigned count = fixed ? layout->fixed_counters : core->general + layout->bus_counters;

	if (layout->rdpmc_none)
		return SPMU_UD;
	if (lp >= core->threads || (cr0_pe && cpl > 0 && !cr4_pce))
		return SPMU_GP;
	if (layout->metrics && ecx == RDPMC_METRICS) {
		meters_fold(core);
		*value = metrics_shown(core, &core->thread[lp].state);
		return SPMU_DONE;
	}
	if (index >= count)
		return SPMU_GP;
	meters_fold(core);
	if (!fixed && index >= core->general) {
		first = SLOT_BUS_COUNTER;
		index -= core->general;
		fast = true;
	}
	*value = core->thread[layout->shared ? 0 : lp].state.reg[first + index];
	if (fast)
		*value &= UINT32_MAX;
	return SPMU_DONE;
}

/*
 * Returns the architectural events that the host does not supply, in the form of EBX of leaf 0AH.
 */
static uint32_t absent_events(const struct spmu_core *core)
{
	uint64_t supply = core->host.supply.exact | core->host.supply.modelled;
	uint32_t absent = 0;

#define ABSENT(bit, signal)                                                                        \
	if (!(supply & SPMU_SIGBIT(signal)))                                                       \
		absent |= 1u << (bit);
	ARCHITECTURAL_EVENTS(ABSENT)
#undef ABSENT
	if (SPMU_SIGSET_BRANCHES & ~supply)
		absent |= 1u << ARCHITECTURAL_BRANCHES_BIT;
	if (core->model->counters->event_bits > ARCHITECTURAL_SLOTS_BIT &&
	    !tally_supplied(core, SPMU_TALLY_SLOTS))
		absent |= 1u << ARCHITECTURAL_SLOTS_BIT;
	return absent;
}

bool spmu_cpuid(const struct spmu_core *core, uint32_t leaf, uint32_t subleaf,
		struct spmu_cpuid_regs *regs)
{
	const struct counter_layout *counters = core->model->counters;
	const struct spmu_lbr_layout *lbr = core->model->lbr;

	switch (leaf) {
	case 0x01:
		regs->ecx = (regs->ecx & ~FEATURE_ECX_MASK) | counters->feature_ecx;
		regs->edx = (regs->edx & ~FEATURE_EDX_DS) | counters->feature_edx;
		return true;
	case 0x0a:
		*regs = (struct spmu_cpuid_regs){0};
		if (!counters->version)
			return true;
		regs->eax = counters->version | core->general << 8 |
			    (uint32_t)counters->counter_bits << 16 |
			    (uint32_t)counters->event_bits << 24;
		regs->ebx =
			counters->missing_events | (core->hide_absent ? absent_events(core) : 0);
		regs->ecx = counters->fixed_mask;
		regs->edx = counters->fixed_counters | (uint32_t)counters->fixed_bits << 5 |
			    counters->leaf_0a_edx;
		if (has_erratum(core, ERRATUM_CPUID_FIXED))
			regs->edx = 0;
		return true;
	case 0x07:
		if (subleaf || !lbr_architectural(core))
			return false;
		regs->edx |= FEATURE_7_EDX_ARCH_LBR;
		return true;
	case 0x1c:
		if (!lbr_architectural(core))
			return false;
		*regs = (struct spmu_cpuid_regs){
			.eax = lbr->depths | LBR_LEAF_DEEP_SLEEP_CLEARS |
			       (lbr->linear ? LBR_LEAF_LINEAR : 0),
			.ebx = LBR_LEAF_CPL | LBR_LEAF_FILTER | LBR_LEAF_CALL_STACK,
			.ecx = LBR_LEAF_MISPRED | LBR_LEAF_CLOCKS | LBR_LEAF_TYPE,
		};
		return true;
	default:
		return false;
	}
}
