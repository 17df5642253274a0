/* SPDX-License-Identifier: MIT */
/* cpuid.c: the unit's part of CPUID (18.2.1, Vol. 2A CPUID). */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"
#include "src/pmu/records.h"

#include "data/events/architectural.inc"

/* CPUID leaf 1CH: what the architectural last branch records have. */
#define LBR_LEAF_DEEP_SLEEP_CLEARS (1u << 30) /* EAX */
#define LBR_LEAF_LINEAR		   (1u << 31)
#define LBR_LEAF_CPL		   (1u << 0) /* EBX: filters by privilege level, */
#define LBR_LEAF_FILTER		   (1u << 1) /* by kind, */
#define LBR_LEAF_CALL_STACK	   (1u << 2) /* and the call-stack mode */
#define LBR_LEAF_MISPRED	   (1u << 0) /* ECX: fields of IA32_LBR_x_INFO */
#define LBR_LEAF_CLOCKS		   (1u << 1)
#define LBR_LEAF_TYPE		   (1u << 2)
#define LBR_LEAF_LOGGED_LOW	   16 /* counters whose events entries log */

/* Returns true if the host supplies the model's event with this code. */
static bool supplied(const struct spmu_core *core, uint64_t code)
{
	const struct spmu_event *event = spmu_event_by_code(core->model, code);

	return event && event_supplied(core, event);
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
#define ABSENT_LATER(bit, code)                                                                    \
	if (!supplied(core, code))                                                                 \
		absent |= 1u << (bit);
	ARCHITECTURAL_LATER(ABSENT_LATER)
#undef ABSENT_LATER
	return absent;
}

/* Return the numbers of counters that leaf 0AH reports. */
static uint32_t general_reported(const struct spmu_core *core)
{
	const struct counter_layout *counters = core->model->counters;

	return counters->common_counters ? counters->common_counters : core->general;
}

static uint32_t fixed_reported(const struct counter_layout *counters)
{
	return counters->common_fixed ? counters->common_fixed : counters->fixed_counters;
}

/* Leaf 07H has the flags of leaves 1AH, 1CH and 23H. */
static bool features(const struct spmu_core *core, uint32_t subleaf, struct spmu_cpuid_regs *regs)
{
	if (subleaf == 0 && lbr_architectural(core)) {
		regs->edx |= FEATURE_7_EDX_ARCH_LBR;
		if (core->model->counters->core_kind)
			regs->edx |= FEATURE_7_EDX_HYBRID;
		return true;
	}
	if (subleaf == 1 && core->model->counters->extended_events) {
		regs->eax |= FEATURE_7_1_EAX_EXTENDED;
		return true;
	}
	return false;
}

/*
 * Leaf 23H. Its subleaves 0, 1 and 3 are there; 0 says so in EAX. Others read as 0.
 */
static bool extended(const struct spmu_core *core, uint32_t subleaf, struct spmu_cpuid_regs *regs)
{
	const struct counter_layout *counters = core->model->counters;

	if (!counters->extended_events)
		return false;
	*regs = (struct spmu_cpuid_regs){0};
	if (subleaf == 0) {
		regs->eax = 1u << 0 | 1u << 1 | 1u << 3;
		regs->ebx = counters->extensions;
	}
	if (subleaf == 1) {
		regs->eax = (uint32_t)BITS(0, core->general);
		regs->ebx = (uint32_t)BITS(0, counters->fixed_counters);
	}
	if (subleaf == 3)
		regs->eax =
			counters->extended_events & ~(core->hide_absent ? absent_events(core) : 0);
	return true;
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
		regs->eax = counters->version | general_reported(core) << 8 |
			    (uint32_t)counters->counter_bits << 16 |
			    (uint32_t)counters->event_bits << 24;
		regs->ebx = counters->missing_events |
			    (core->hide_absent ? absent_events(core) & BITS(0, counters->event_bits)
					       : 0);
		regs->ecx = counters->fixed_mask;
		regs->edx = fixed_reported(counters) | (uint32_t)counters->fixed_bits << 5 |
			    counters->leaf_0a_edx;
		if (has_erratum(core, ERRATUM_CPUID_FIXED))
			regs->edx = 0;
		return true;
	case 0x07:
		return features(core, subleaf, regs);
	case 0x1a:
		if (!counters->core_kind)
			return false;
		*regs = (struct spmu_cpuid_regs){.eax = counters->core_kind};
		return true;
	case 0x1c:
		if (!lbr_architectural(core))
			return false;
		*regs = (struct spmu_cpuid_regs){
			.eax = lbr->depths | LBR_LEAF_DEEP_SLEEP_CLEARS |
			       (lbr->linear ? LBR_LEAF_LINEAR : 0),
			.ebx = LBR_LEAF_CPL | LBR_LEAF_FILTER | LBR_LEAF_CALL_STACK,
			.ecx = LBR_LEAF_MISPRED | LBR_LEAF_CLOCKS | LBR_LEAF_TYPE |
			       (uint32_t)lbr->logged << LBR_LEAF_LOGGED_LOW,
		};
		return true;
	case 0x23:
		return extended(core, subleaf, regs);
	default:
		return false;
	}
}
