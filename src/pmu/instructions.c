/* SPDX-License-Identifier: MIT */
/*
 * instructions.c: RDPMC (Vol. 2B) and the unit's part of CPUID (18.2.1, Vol. 2A CPUID).
 */
#include "src/pmu/core.h"

#include "data/events/architectural.inc"

#define RDPMC_FIXED (1u << 30)

enum spmu_outcome spmu_rdpmc(struct spmu_core *core, unsigned lp, uint32_t ecx, unsigned cpl,
			     bool cr4_pce, bool cr0_pe, uint64_t *value)
{
	uint32_t index = ecx & ~RDPMC_FIXED;
	unsigned count = ecx & RDPMC_FIXED ? core->model->counters->fixed_counters : core->general;

	if (lp >= core->threads || (cr0_pe && cpl > 0 && !cr4_pce) || index >= count)
		return SPMU_GP;
	meters_fold(core);
	*value = core->thread[lp]
			 .state.reg[ecx & RDPMC_FIXED ? SLOT_FIXED_CTR + index : SLOT_PMC + index];
	return SPMU_DONE;
}

/* Architectural events that the host does not supply, as EBX of leaf 0AH has them. */
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
	if (core->model->counters->event_bits > ARCHITECTURAL_SLOTS_BIT)
		absent |= 1u << ARCHITECTURAL_SLOTS_BIT;
	return absent;
}

bool spmu_cpuid(const struct spmu_core *core, uint32_t leaf, uint32_t subleaf,
		struct spmu_cpuid *regs)
{
	const struct counter_layout *counters = core->model->counters;

	(void)subleaf; /* neither leaf has any */
	switch (leaf) {
	case 0x01:
		regs->ecx = (regs->ecx & ~FEATURE_ECX_MASK) | counters->feature_ecx;
		regs->edx = (regs->edx & ~FEATURE_EDX_DS) | counters->feature_edx;
		return true;
	case 0x0a:
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
	default:
		return false;
	}
}
