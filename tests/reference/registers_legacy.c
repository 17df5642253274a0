/* SPDX-License-Identifier: MIT */
/*
 * registers_legacy.c: registers that only units before the architectural one have: CESR and CTRn
 * (18.23), NetBurst's counters, CCCRs and ESCRs (18.15.1 to 18.15.3), IA32_PEBS_ENABLE with two
 * threads (18.16.3), and the 64-bit Xeon MP's bus (18.20). Also the L3 and caching bus controller
 * of the Xeon 7100 and 7400 series (18.21).
 */
#include "reference.h"

#include <string.h>

#define CESR	      0x11u
#define CTR	      0x12u
#define COUNTER	      0x300u
#define CCCR	      0x360u
#define PEBS_ENABLE   0x3f1u
#define PRECISE_EVENT 0x3f0u
#define MATRIX_VERT   0x3f2u
#define BUS	      0x107ccu
#define BUS_CONTROL   0x107d8u
#define MY_THR	      (UINT64_C(1) << 25)
#define OTH_THR	      (UINT64_C(1) << 26)

/* Swaps bits 25 and 26 for the thread that reads or writes them. */
static uint64_t seen_by(unsigned lp, uint64_t enable)
{
	uint64_t rest = enable & ~(MY_THR | OTH_THR);

	if (!lp)
		return enable;
	return rest | (enable & MY_THR ? OTH_THR : 0) | (enable & OTH_THR ? MY_THR : 0);
}

static bool is_bus(const struct reference *unit, uint32_t msr)
{
	return msr >= BUS && msr - BUS < unit->family->bus_counters;
}

/* Returns the counter of a register, or -1. */
static int counter_of(const struct reference *unit, uint32_t msr)
{
	uint32_t first = unit->family->programming == BY_CESR ? CTR : COUNTER;

	if (unit->family->programming == BY_SELECTS || msr < first || msr >= first + unit->generals)
		return -1;
	return (int)(msr - first);
}

bool reference_read_legacy(struct reference *unit, unsigned lp, uint32_t msr, uint64_t *value)
{
	struct reference_thread *t = reference_holder(unit, lp);
	int n = counter_of(unit, msr);

	if (n >= 0)
		*value = t->general[n].value;
	else if (unit->family->programming == BY_CESR && msr == CESR)
		*value = t->cesr;
	else if (is_bus(unit, msr))
		*value = t->bus[msr - BUS];
	else if (unit->family->bus_control && msr == BUS_CONTROL)
		*value = t->bus_control;
	else if (unit->family->programming != BY_ESCRS)
		return false;
	else if (msr >= CCCR && msr < CCCR + unit->generals)
		*value = t->select[msr - CCCR];
	else if (family_escr(unit->family, msr))
		*value = t->escr[msr - FAMILY_ESCR_FIRST];
	else if (msr == PEBS_ENABLE)
		*value = seen_by(lp, t->pebs_enable);
	else if (msr == PRECISE_EVENT)
		*value = t->precise_event;
	else if (msr == MATRIX_VERT)
		*value = t->matrix_vert;
	else
		return false;
	return true;
}

static enum spmu_outcome keep(uint64_t *to, uint64_t value, uint64_t allowed)
{
	if (value & ~allowed)
		return SPMU_GP;
	*to = value;
	return SPMU_DONE;
}

/* Forgets clocks: a counter that is programmed again begins a new clock. */
static void forget_clocks(struct reference_thread *t, uint32_t counters)
{
	for (unsigned n = 0; n < REFERENCE_GENERAL; n++)
		if (counters >> n & 1)
			memset(t->general[n].clock, 0, sizeof(t->general[n].clock));
}

/*
 * Writes a CCCR (18.15.3). Four IQ counters have bit 11 (18.15.5.7). Reading: an overflow does not
 * interrupt any more if software clears its flag or withdraws its interrupt.
 */
static enum spmu_outcome write_cccr(struct reference_thread *t, unsigned n, uint64_t value)
{
	bool extended = n == 12 || n == 15 || n == 16 || n == 17;

	if (keep(&t->select[n], value, UINT64_C(0xcffff000) | (uint64_t)extended << 11) !=
	    SPMU_DONE)
		return SPMU_GP;
	if (!(value >> 31 & 1) || !(value >> 26 & 3))
		t->general[n].due = false;
	forget_clocks(t, 1u << n);
	return SPMU_DONE;
}

static enum spmu_outcome write_escr(const struct reference *unit, struct reference_thread *t,
				    uint32_t msr, uint64_t value)
{
	if (keep(&t->escr[msr - FAMILY_ESCR_FIRST], value, 0x7fffffff) != SPMU_DONE)
		return SPMU_GP;
	forget_clocks(t, family_escr(unit->family, msr)->counters);
	return SPMU_DONE;
}

/* Writes IA32_PEBS_ENABLE. A counter whose PEBS is switched off is no longer armed. */
static enum spmu_outcome write_pebs_enable(struct reference *unit, struct reference_thread *t,
					   unsigned lp, uint64_t value)
{
	uint64_t seen;

	if (keep(&seen, value, unit->family->pebs_enable) != SPMU_DONE)
		return SPMU_GP;
	t->pebs_enable = seen_by(lp, seen);
	if (!(t->pebs_enable & MY_THR))
		t->general[16].armed = t->general[16].late = false;
	if (!(t->pebs_enable & OTH_THR) || unit->threads < 2)
		t->general[17].armed = t->general[17].late = false;
	return SPMU_DONE;
}

/*
 * Writes a register of figures 18-51 to 18-53 or the two after them, or one of figures 18-57 to
 * 18-59, where all eight are alike.
 */
static enum spmu_outcome write_bus(const struct reference *unit, struct reference_thread *t,
				   unsigned n, uint64_t value)
{
	return keep(&t->bus[n], value,
		    unit->family->bus_l3 || n < 6 ? UINT64_C(0x0fffffffffffffff)
		    : n == 6			  ? UINT64_C(1) << 26
						  : ~UINT64_C(0));
}

/*
 * Writes a control of 18.21.5. Reading: commands and the selection are read back, and no counter
 * ever overflows.
 */
static enum spmu_outcome write_bus_control(struct reference_thread *t, uint64_t value)
{
	uint64_t kept;

	if (keep(&kept, value, UINT64_C(0x00ff000000ff0007)) != SPMU_DONE)
		return SPMU_GP;
	t->bus_control = value & 0xff0007;
	for (unsigned n = 0; n < 8; n++)
		if ((value & 4) && (value >> (16 + n) & 1))
			t->bus[n] &= ~(uint64_t)UINT32_MAX;
	return SPMU_DONE;
}

bool reference_write_legacy(struct reference *unit, unsigned lp, uint32_t msr, uint64_t value,
			    enum spmu_outcome *outcome)
{
	struct reference_thread *t = reference_holder(unit, lp);
	int n = counter_of(unit, msr);

	*outcome = SPMU_DONE;
	if (n >= 0) {
		t->general[n].value = value & family_mask(unit->family);
	} else if (unit->family->programming == BY_CESR && msr == CESR) {
		*outcome = keep(&t->cesr, value, 0x03ff03ff);
		if (*outcome == SPMU_DONE)
			forget_clocks(t, 3);
	} else if (is_bus(unit, msr)) {
		*outcome = write_bus(unit, t, msr - BUS, value);
	} else if (unit->family->bus_control && msr == BUS_CONTROL) {
		*outcome = write_bus_control(t, value);
	} else if (unit->family->programming != BY_ESCRS) {
		return false;
	} else if (msr >= CCCR && msr < CCCR + unit->generals) {
		*outcome = write_cccr(t, msr - CCCR, value);
	} else if (family_escr(unit->family, msr)) {
		*outcome = write_escr(unit, t, msr, value);
	} else if (msr == PEBS_ENABLE) {
		*outcome = write_pebs_enable(unit, t, lp, value);
	} else if (msr == PRECISE_EVENT) {
		*outcome = keep(&t->precise_event, value, UINT32_MAX);
	} else if (msr == MATRIX_VERT) {
		*outcome = keep(&t->matrix_vert, value, 0x13);
	} else {
		return false;
	}
	return true;
}
