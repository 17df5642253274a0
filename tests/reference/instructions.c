/* SPDX-License-Identifier: MIT */
/*
 * instructions.c: RDPMC (Vol. 2B), CPUID (Vol. 2A) and the LVT entry (Vol. 3A 10.5.1) of the
 * reference unit.
 */
#include "reference.h"

enum spmu_outcome reference_rdpmc(struct reference *unit, unsigned lp, uint32_t ecx, unsigned cpl,
				  bool cr4_pce, bool cr0_pe, uint64_t *value)
{
	const struct reference_thread *t = reference_holder(unit, lp);
	bool fast = unit->family->rdpmc == RDPMC_FAST && ecx >> 31;

	/* It came with the Pentium with MMX (18.23). */
	if (unit->family->rdpmc == RDPMC_NONE)
		return SPMU_UD;
	if (!cr4_pce && cpl && cr0_pe)
		return SPMU_GP;
	if (ecx == 0x20000000 && unit->family->metrics) {
		*value = reference_metrics(unit, lp);
		return SPMU_DONE;
	}
	if (fast) /* Vol. 2B: the low half */
		ecx &= 0x7fffffff;
	if (ecx < unit->generals)
		*value = t->general[ecx].value & (fast ? 0xffffffff : ~UINT64_C(0));
	else if (ecx - unit->generals < unit->family->bus_counters) /* 18.20: 32 bits */
		*value = t->bus[ecx - unit->generals] & 0xffffffff;
	else if (ecx >= 0x40000000 && ecx < 0x40000000u + unit->family->fixed)
		*value = t->fixed[ecx - 0x40000000].value;
	else
		return SPMU_GP;
	return SPMU_DONE;
}

/*
 * Writes the entry. Vector, delivery mode and mask can be written. Delivery status is always idle
 * here.
 */
void reference_write_lvt(struct reference *unit, unsigned lp, uint32_t value)
{
	if (!unit->family->no_lvt)
		unit->thread[lp].lvt = value & 0x107ff;
}

/* Returns the EBX bits of CPUID.0AH, which say that an architectural event is absent (18.2.1.2). */
static uint32_t absent_events(const struct reference *unit)
{
	static const uint16_t codes[] = {0x003c, 0x00c0, 0x013c, 0x4f2e, 0x412e, 0x00c4, 0x00c5,
					 0x01a4, 0x02a4, 0x0073, 0x019c, 0x02c2, 0x01e4};
	uint32_t absent = 0;

	for (unsigned i = 0; i < unit->family->event_bits; i++) {
		const struct spmu_event *event = spmu_event_by_code(unit->model, codes[i]);

		if (!event || !spmu_event_fidelity(event, &unit->host.supply))
			absent |= 1u << i;
	}
	return absent;
}

bool reference_cpuid(const struct reference *unit, uint32_t leaf, struct spmu_cpuid_regs *regs)
{
	const struct family *f = unit->family;
	uint32_t dtes64 = (uint32_t)f->dtes64;

	if (leaf == 1) {
		regs->edx = (regs->edx & ~(1u << 21)) | (uint32_t)(f->area != NULL) << 21;
		regs->ecx &= ~(1u << 2 | 1u << 4 | 1u << 15);
		regs->ecx |= f->version ? dtes64 << 2 | dtes64 << 4 | 1u << 15 : f->cpuid_01_ecx;
		return true;
	}
	if (leaf == 7 && f->lbr && f->lbr->ctl) {
		regs->edx |= 1u << 19 | (f->version_6 ? 1u << 15 : 0);
		return true;
	}
	if (leaf == 0x1a && f->version_6) { /* a performance core */
		*regs = (struct spmu_cpuid_regs){0x40000003, 0, 0, 0};
		return true;
	}
	if (leaf == 0x1c && f->lbr && f->lbr->ctl) {
		*regs = (struct spmu_cpuid_regs){f->lbr->linear ? 0xc000000b : 0x4000000b, 7,
						 f->lbr->logs ? 0xf0007 : 7, 0};
		return true;
	}
	if (leaf == 0x23 && f->extended_events) {
		*regs = (struct spmu_cpuid_regs){0xb, f->version_6 ? 3 : 0, 0, 0}; /* subleaf 0 */
		return true;
	}
	if (leaf != 10)
		return false;
	if (!f->version) {
		*regs = (struct spmu_cpuid_regs){0};
		return true;
	}
	regs->eax = (uint32_t)f->event_bits << 24 | (uint32_t)f->bits << 16 |
		    (f->common_generals ? f->common_generals : unit->generals) << 8 | f->version;
	regs->ebx = f->cpuid_ebx | (unit->hide_absent ? absent_events(unit) : 0);
	regs->ecx = f->cpuid_ecx;
	regs->edx = (f->common_fixed ? f->common_fixed : f->fixed) | (uint32_t)f->fixed_bits << 5 |
		    f->cpuid_edx;
	return true;
}
