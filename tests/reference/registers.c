/* SPDX-License-Identifier: MIT */
/*
 * registers.c: RDMSR, WRMSR, RDPMC, CPUID and the LVT entry of the reference
 * unit (Vol. 3B 18.2, 18.13, Vol. 2B RDPMC, Vol. 3A 9.1.1 and 10.5.1).
 *
 * Each register is one case with its own mask, written out again by hand and
 * not taken from the library's register lists.
 */
#include "reference.h"

#include <string.h>

#define WIDTH_MASK ((UINT64_C(1) << 48) - 1)
#define FIXED_BITS (UINT64_C(7) << 32)

static uint64_t general_bits(const struct reference *unit)
{
	return (UINT64_C(1) << unit->generals) - 1;
}

/* Vol. 3A 9.1.1, table 9-1; IA32_PERF_GLOBAL_CTRL enables the general counters after reset. */
void reference_reset(struct reference *unit, unsigned lp)
{
	struct reference_thread *t = &unit->thread[lp];

	memset(t, 0, sizeof(*t));
	t->global_control = general_bits(unit);
	t->misc_enable = UINT64_C(1) << 7;
	t->lvt = 0x10000;
	for (unsigned n = 0; n < REFERENCE_GENERAL; n++)
		t->event[n] = spmu_event_by_code(unit->model, 0);
}

/* INIT leaves the counters alone and resets the local APIC (Vol. 3A 10.4.7.3). */
void reference_init(struct reference *unit, unsigned lp)
{
	unit->thread[lp].lvt = 0x10000;
}

void reference_create(struct reference *unit, const struct spmu_core_config *config,
		      const struct spmu_host *host)
{
	memset(unit, 0, sizeof(*unit));
	unit->model = config->model;
	unit->threads = config->threads;
	unit->hide_absent = config->hide_absent;
	/* 18.13: four counters a thread, or eight when the core runs one. */
	unit->generals = config->threads == 2 ? 4 : 8;
	unit->host = *host;
	for (unsigned lp = 0; lp < unit->threads; lp++)
		reference_reset(unit, lp);
}

/* 18.2.4.3: read only, from the logical state of the other registers. */
static uint64_t in_use(const struct reference *unit, const struct reference_thread *t)
{
	uint64_t value = 0, interrupts = t->pebs_enable & 15;

	for (unsigned n = 0; n < unit->generals; n++) {
		if (t->select[n] & 0xff)
			value |= UINT64_C(1) << n;
		interrupts |= t->select[n] & (UINT64_C(1) << 20);
	}
	for (unsigned n = 0; n < REFERENCE_FIXED; n++) {
		unsigned control = t->fixed_control >> (4 * n) & 15;

		if (control & 3)
			value |= UINT64_C(1) << (32 + n);
		interrupts |= control & 8;
	}
	return value | (interrupts ? UINT64_C(1) << 63 : 0);
}

/*
 * Reading: PMC4 to PMC7, and what later models add (FIXED_CTR3,
 * PERF_METRICS, PEBS_DATA_CFG), belong to the unit even where
 * this one does not have them; an access is one to a register that is not
 * there (Vol. 2B RDMSR), #GP.  Asked only for what is not implemented.
 */
static bool is_absent(uint32_t msr)
{
	return (msr >= 0xc1 && msr <= 0xc8) || (msr >= 0x4c1 && msr <= 0x4c8) ||
	       (msr >= 0x186 && msr <= 0x18d) || msr == 0x30c || msr == 0x329 || msr == 0x3f2;
}

enum spmu_outcome reference_read_msr(struct reference *unit, unsigned lp, uint32_t msr,
				     uint64_t *value)
{
	struct reference_thread *t = &unit->thread[lp];
	unsigned generals = unit->generals;

	if (msr >= 0xc1 && msr < 0xc1 + generals)
		*value = t->general[msr - 0xc1].value;
	else if (msr >= 0x4c1 && msr < 0x4c1 + generals)
		*value = t->general[msr - 0x4c1].value;
	else if (msr >= 0x186 && msr < 0x186 + generals)
		*value = t->select[msr - 0x186];
	else if (msr >= 0x309 && msr < 0x309 + REFERENCE_FIXED)
		*value = t->fixed[msr - 0x309].value;
	else if (msr == 0x1a0)
		*value = t->misc_enable;
	else if (msr == 0x1a6 || msr == 0x1a7)
		*value = t->offcore[msr - 0x1a6];
	else if (msr == 0x1d9)
		*value = t->debugctl;
	else if (msr == 0x345)
		*value = 0x33c5;
	else if (msr == 0x38d)
		*value = t->fixed_control;
	else if (msr == 0x38e)
		*value = t->global_status;
	else if (msr == 0x38f)
		*value = t->global_control;
	else if (msr == 0x390 || msr == 0x391)
		*value = 0;
	else if (msr == 0x392)
		*value = in_use(unit, t);
	else if (msr == 0x3f1)
		*value = t->pebs_enable;
	else if (msr == 0x3f6)
		*value = t->pebs_ld_lat;
	else if (msr == 0x3f7)
		*value = t->pebs_frontend;
	else if (msr == 0x600)
		*value = t->ds_area;
	else
		return is_absent(msr) ? SPMU_GP : SPMU_NOT_OURS;
	return SPMU_DONE;
}

/* Keep a value whose bits all stand in `allowed`; else #GP. */
static enum spmu_outcome store(uint64_t *to, uint64_t value, uint64_t allowed)
{
	if (value & ~allowed)
		return SPMU_GP;
	*to = value;
	return SPMU_DONE;
}

/* 18.2.1.1; IN_TX in any, IN_TXCP only in IA32_PERFEVTSEL2 (18.11.5). */
static enum spmu_outcome write_select(struct reference *unit, struct reference_thread *t,
				      unsigned n, uint64_t value)
{
	uint64_t allowed = UINT64_C(0x1ffffffff) | (n == 2 ? UINT64_C(1) << 33 : 0);

	if (store(&t->select[n], value, allowed) != SPMU_DONE)
		return SPMU_GP;
	t->event[n] = spmu_event_by_code(unit->model, value & 0xffff);
	memset(t->general[n].clock, 0, sizeof(t->general[n].clock));
	return SPMU_DONE;
}

/* 18.2.2: the legacy address takes EAX and extends its sign. */
static void write_legacy(const struct reference *unit, struct reference_counter *counter,
			 uint64_t value)
{
	value &= 0xffffffff;
	if ((value & 0x80000000) && unit->defect != REFERENCE_SIGN_NOT_EXTENDED)
		value |= WIDTH_MASK & ~UINT64_C(0xffffffff);
	counter->value = value;
}

/* Reading: PEBS that is switched off forgets that it was armed (figure 18-21). */
static enum spmu_outcome write_pebs_enable(struct reference_thread *t, uint64_t value)
{
	if (store(&t->pebs_enable, value, UINT64_C(0xf0000000f)) != SPMU_DONE)
		return SPMU_GP;
	for (unsigned n = 0; n < REFERENCE_GENERAL; n++)
		if (n >= 4 || !(value >> n & 1))
			t->general[n].armed = t->general[n].late = false;
	return SPMU_DONE;
}

enum spmu_outcome reference_write_msr(struct reference *unit, unsigned lp, uint32_t msr,
				      uint64_t value)
{
	struct reference_thread *t = &unit->thread[lp];
	unsigned generals = unit->generals;
	uint64_t counters = general_bits(unit) | FIXED_BITS;
	uint64_t discard;

	if (msr >= 0xc1 && msr < 0xc1 + generals) {
		write_legacy(unit, &t->general[msr - 0xc1], value);
		return SPMU_DONE;
	}
	if (msr >= 0x4c1 && msr < 0x4c1 + generals)
		return store(&t->general[msr - 0x4c1].value, value, WIDTH_MASK);
	if (msr >= 0x186 && msr < 0x186 + generals)
		return write_select(unit, t, msr - 0x186, value);
	if (msr >= 0x309 && msr < 0x309 + REFERENCE_FIXED)
		return store(&t->fixed[msr - 0x309].value, value, WIDTH_MASK);

	switch (msr) {
	case 0x1a0: /* 7, 11 and 12 are read only, the rest is the host's */
		t->misc_enable = (value & ~UINT64_C(0x1880)) | (t->misc_enable & 0x1880);
		return SPMU_DONE;
	case 0x1a6: /* 18.13.4 */
	case 0x1a7:
		return store(&t->offcore[msr - 0x1a6], value, UINT64_C(0x3fffff8fff));
	case 0x1d9:
		return store(&t->debugctl, value, 0xffc3);
	case 0x345:
	case 0x38e:
	case 0x392:
		return SPMU_GP;
	case 0x38d:
		return store(&t->fixed_control, value, 0xfff);
	case 0x38f:
		return store(&t->global_control, value, counters);
	case 0x390:
		if (store(&discard, value, counters | UINT64_C(0xfc80000000000000)) != SPMU_DONE)
			return SPMU_GP;
		t->global_status &= ~value;
		return SPMU_DONE;
	case 0x391:
		if (store(&discard, value, counters | UINT64_C(0x7c80000000000000)) != SPMU_DONE)
			return SPMU_GP;
		t->global_status |= value;
		return SPMU_DONE;
	case 0x3f1:
		return write_pebs_enable(t, value);
	case 0x3f6:
		return store(&t->pebs_ld_lat, value, 0xffff);
	case 0x3f7:
		return store(&t->pebs_frontend, value, 0x7fff17);
	case 0x600: /* WRMSR: a linear address must be canonical */
		if ((uint64_t)((int64_t)(value << 16) >> 16) != value)
			return SPMU_GP;
		t->ds_area = value;
		return SPMU_DONE;
	}
	return is_absent(msr) ? SPMU_GP : SPMU_NOT_OURS;
}

enum spmu_outcome reference_rdpmc(struct reference *unit, unsigned lp, uint32_t ecx, unsigned cpl,
				  bool cr4_pce, bool cr0_pe, uint64_t *value)
{
	struct reference_thread *t = &unit->thread[lp];

	if (!cr4_pce && cpl && cr0_pe)
		return SPMU_GP;
	if (ecx < unit->generals)
		*value = t->general[ecx].value;
	else if (ecx >= 0x40000000 && ecx < 0x40000000 + REFERENCE_FIXED)
		*value = t->fixed[ecx - 0x40000000].value;
	else
		return SPMU_GP;
	return SPMU_DONE;
}

/* Vector, delivery mode and mask can be written; delivery status is always idle here. */
void reference_write_lvt(struct reference *unit, unsigned lp, uint32_t value)
{
	unit->thread[lp].lvt = value & 0x107ff;
}

/* CPUID.0AH: EBX bits say that an architectural event is not available (18.2.1.2). */
static uint32_t absent_events(const struct reference *unit)
{
	static const uint16_t codes[7] = {0x003c, 0x00c0, 0x013c, 0x4f2e, 0x412e, 0x00c4, 0x00c5};
	uint32_t absent = 0;

	for (unsigned i = 0; i < 7; i++) {
		const struct spmu_event *event = spmu_event_by_code(unit->model, codes[i]);

		if (!event || !spmu_event_fidelity(event, &unit->host.supply))
			absent |= 1u << i;
	}
	return absent;
}

bool reference_cpuid(const struct reference *unit, uint32_t leaf, struct spmu_cpuid *regs)
{
	if (leaf == 1) {
		regs->edx |= 1u << 21;
		regs->ecx |= 1u << 2 | 1u << 4 | 1u << 15;
		return true;
	}
	if (leaf != 10)
		return false;
	regs->eax = 0x07300004 | unit->generals << 8;
	regs->ebx = unit->hide_absent ? absent_events(unit) : 0;
	regs->ecx = 0;
	regs->edx = 0x603;
	return true;
}
