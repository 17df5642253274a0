/* SPDX-License-Identifier: MIT */
/*
 * registers.c: RDMSR and WRMSR of the reference unit (Vol. 3B 18.2 and the families' sections),
 * RESET and INIT (Vol. 3A 9.1.1).
 *
 * Each register is one case with its own mask, typed by hand and not taken from the library's
 * register lists.
 */
#include "reference.h"

#include <string.h>

static uint64_t general_bits(const struct reference *unit)
{
	return (UINT64_C(1) << unit->generals) - 1;
}

static uint64_t fixed_bits(const struct reference *unit)
{
	return ((UINT64_C(1) << unit->family->fixed) - 1) << 32;
}

/*
 * Resets what a core has once. Reading: the reset of each thread resets it, as RESET is the core's.
 */
static void reset_shared(struct reference_thread *t, uint64_t misc_enable)
{
	memset(t->general, 0, sizeof(t->general));
	memset(t->select, 0, sizeof(t->select));
	memset(t->escr, 0, sizeof(t->escr));
	memset(t->bus, 0, sizeof(t->bus));
	t->bus_control = 0;
	t->pebs_enable = t->precise_event = t->matrix_vert = 0;
	t->misc_enable = misc_enable;
}

/*
 * Resets a thread (Vol. 3A 9.1.1, table 9-1). IA32_PERF_GLOBAL_CTRL then enables the general
 * counters.
 */
void reference_reset(struct reference *unit, unsigned lp)
{
	struct reference_thread *t = &unit->thread[lp];

	memset(t, 0, sizeof(*t));
	if (unit->family->version >= 2)
		t->global_control = general_bits(unit);
	t->misc_enable = UINT64_C(1) << 7 | (uint64_t)(unit->family->pebs_format < 0) << 12;
	t->lvt = 0x10000;
	t->lbr_depth = 32;
	for (unsigned n = 0; n < REFERENCE_GENERAL; n++)
		t->event[n] = spmu_event_by_code(unit->model, 0);
	if (unit->family->shared)
		reset_shared(&unit->thread[0], t->misc_enable);
}

/*
 * Makes INIT, which keeps the counters, resets the local APIC (Vol. 3A 10.4.7.3) and stops DS
 * (17.4.9).
 */
void reference_init(struct reference *unit, unsigned lp)
{
	unit->thread[lp].lvt = 0x10000;
	unit->thread[lp].lbr_ctl &= ~UINT64_C(1);
	reference_machine_check(unit, lp);
}

void reference_create(struct reference *unit, const struct spmu_core_config *config,
		      const struct spmu_host *host)
{
	memset(unit, 0, sizeof(*unit));
	unit->model = config->model;
	unit->family = family_find(spmu_model_describe(config->model).name);
	unit->threads = config->threads;
	unit->hide_absent = config->hide_absent;
	/* From Sandy Bridge on, a core that runs one thread has eight counters (18.9). */
	unit->generals = config->threads == 2 ? unit->family->generals_ht : unit->family->generals;
	unit->host = *host;
	for (unsigned lp = 0; lp < unit->threads; lp++)
		reference_reset(unit, lp);
}

/* Returns a register that is read-only and follows from the state of the others (18.2.4.3). */
static uint64_t in_use(const struct reference *unit, const struct reference_thread *t)
{
	/* Bits 35:32 are load latency where no fixed counter has PEBS. */
	uint64_t mask = unit->family->pebs_generals | (uint64_t)unit->family->pebs_fixed << 32;
	uint64_t value = 0, interrupts = t->pebs_enable & mask;

	for (unsigned n = 0; n < unit->generals; n++) {
		if (t->select[n] & 0xff)
			value |= UINT64_C(1) << n;
		interrupts |= t->select[n] & (UINT64_C(1) << 20);
	}
	for (unsigned n = 0; n < unit->family->fixed; n++) {
		unsigned control = t->fixed_control >> (4 * n) & 15;

		if (control & 3)
			value |= UINT64_C(1) << (32 + n);
		interrupts |= control & 8;
	}
	return value | (interrupts ? UINT64_C(1) << 63 : 0);
}

/*
 * Outcome for a register that the family does not have (Vol. 2B RDMSR: #GP). Either the unit raises
 * it, or the host, if no family of the unit has the register. The manual does not distinguish
 * these, so the comparison treats both as equal.
 */
#define ABSENT SPMU_GP

static enum spmu_outcome give(uint64_t *value, uint64_t what)
{
	*value = what;
	return SPMU_DONE;
}

/* Returns the entry of the last branch stack that an address belongs to, or -1. */
static int entry_of(const struct reference_thread *t, const struct family_lbr *lbr, uint32_t msr,
		    uint32_t first)
{
	uint32_t depth = lbr->ctl ? (uint32_t)t->lbr_depth : lbr->depth;

	return first && msr >= first && msr < first + depth ? (int)(msr - first) : -1;
}

static enum spmu_outcome read_branches(const struct reference *unit,
				       const struct reference_thread *t, uint32_t msr,
				       uint64_t *value)
{
	const struct family_lbr *lbr = unit->family->lbr;
	int n;

	if (!lbr)
		return ABSENT;
	if ((n = entry_of(t, lbr, msr, lbr->from)) >= 0)
		return give(value, t->lbr[n].from);
	if ((n = entry_of(t, lbr, msr, lbr->to)) >= 0)
		return give(value, t->lbr[n].to);
	if ((n = entry_of(t, lbr, msr, lbr->info)) >= 0)
		return give(value, t->lbr[n].info);
	if (lbr->tos && msr == lbr->tos)
		return give(value, t->lbr_tos);
	if (lbr->select && msr == lbr->select)
		return give(value, t->lbr_select);
	if (lbr->ctl && msr == lbr->ctl)
		return give(value, t->lbr_ctl);
	if (lbr->depth_msr && msr == lbr->depth_msr)
		return give(value, t->lbr_depth);
	if (lbr->ler_info && msr == lbr->ler_info)
		return give(value, t->ler.info);
	if (lbr->ler_from && msr == lbr->ler_from)
		return give(value, t->ler.from);
	if (lbr->ler_to && msr == lbr->ler_to)
		return give(value, t->ler.to);
	return ABSENT;
}

/*
 * Returns IA32_PERF_CAPABILITIES. Bits 6 and 7 (trap, registers) are not sure: CAPABILITIES_UNSURE.
 */
static uint64_t capabilities(const struct family *f)
{
	unsigned format = 0;

	if (!f->version)
		return f->capabilities;
	if (f->lbr)
		format = f->lbr->reports_lip ? 1 : f->lbr->format;
	return format | (f->pebs_format > 0 ? (uint64_t)f->pebs_format << 8 : 0) |
	       (uint64_t)(f->debugctl >> 14 & 1) << 12 | (uint64_t)f->full_width << 13 |
	       (uint64_t)f->adaptive << 14;
}

/* Writes the register, which is kept with IA32_DEBUGCTL's bits. */
static enum spmu_outcome write_debugctl(struct reference_thread *t, const struct family *f,
					uint64_t value)
{
	uint64_t trace = FAMILY_DEBUGCTL_TRACE >> f->debugctl_shift;

	if (!f->debugctl || value & ~family_debugctl(f, f->debugctl))
		return SPMU_GP;
	t->debugctl = (value & ~trace) | (value & trace) << f->debugctl_shift;
	return SPMU_DONE;
}

static bool has_capabilities(const struct family *f)
{
	return f->version || (f->cpuid_01_ecx >> 15 & 1);
}

/*
 * Returns the thread that keeps IA32_MISC_ENABLE, or NULL. Software cannot change bit 7, and in
 * families with the debug store bits 11 and 12.
 */
static struct reference_thread *misc_holder(struct reference *unit, unsigned lp)
{
	return unit->family->version || unit->family->misc_enable ? reference_holder(unit, lp)
								  : NULL;
}

static enum spmu_outcome read_single(struct reference *unit, unsigned lp, uint32_t msr,
				     uint64_t *value)
{
	const struct reference_thread *t = &unit->thread[lp];
	const struct family *f = unit->family;

	switch (msr) {
	case 0x1a0:
		return misc_holder(unit, lp) ? give(value, misc_holder(unit, lp)->misc_enable)
					     : ABSENT;
	case 0x1d9:
		return f->debugctl ? give(value, family_debugctl(f, t->debugctl)) : ABSENT;
	case 0x345:
		return has_capabilities(f) ? give(value, capabilities(f)) : ABSENT;
	case 0x38d:
		return f->fixed ? give(value, t->fixed_control) : ABSENT;
	case 0x38e:
		return f->version >= 2 ? give(value, t->global_status) : ABSENT;
	case 0x38f:
		return f->version >= 2 ? give(value, t->global_control) : ABSENT;
	case 0x390:
		return f->version >= 2 ? give(value, 0) : ABSENT;
	case 0x391:
		return f->version >= 4 ? give(value, 0) : ABSENT;
	case 0x392:
		return f->version >= 4 ? give(value, in_use(unit, t)) : ABSENT;
	case 0x3f1:
		return f->pebs_format >= 0 ? give(value, t->pebs_enable) : ABSENT;
	case 0x3f2:
		return f->adaptive ? give(value, t->pebs_data_cfg) : ABSENT;
	case 0x3f6:
		return f->ld_lat ? give(value, t->pebs_ld_lat) : ABSENT;
	case 0x3f7:
		return f->frontend ? give(value, t->pebs_frontend) : ABSENT;
	case 0x600:
		return f->area ? give(value, t->ds_area) : ABSENT;
	}
	return read_branches(unit, t, msr, value);
}

/* Version 6: counters have further addresses, four apart: the counter, then its select. */
static uint32_t legacy_address(const struct family *f, uint32_t msr)
{
	uint32_t n = (msr - 0x1900) / 4;

	if (!f->version_6 || msr < 0x1900)
		return msr;
	if (n < f->generals && msr % 4 < 2)
		return (msr % 4 ? 0x186 : 0x4c1) + n;
	n = (msr - 0x1980) / 4;
	return msr >= 0x1980 && n < f->fixed && msr % 4 == 0 ? 0x309 + n : msr;
}

enum spmu_outcome reference_read_msr(struct reference *unit, unsigned lp, uint32_t msr,
				     uint64_t *value)
{
	struct reference_thread *t = &unit->thread[lp];
	unsigned generals = unit->family->programming == BY_SELECTS ? unit->generals : 0;

	if (reference_read_legacy(unit, lp, msr, value))
		return SPMU_DONE;
	msr = legacy_address(unit->family, msr);
	if (msr >= 0xc1 && msr < 0xc1 + generals)
		return give(value, t->general[msr - 0xc1].value);
	if (msr >= 0x4c1 && msr < 0x4c1 + generals && unit->family->full_width)
		return give(value, t->general[msr - 0x4c1].value);
	if (msr >= 0x186 && msr < 0x186 + generals)
		return give(value, t->select[msr - 0x186]);
	if (msr >= 0x309 && msr < 0x309u + unit->family->fixed)
		return give(value, t->fixed[msr - 0x309].value);
	if (msr == 0x329 && unit->family->metrics)
		return give(value, reference_metrics(unit, (unsigned)(t - unit->thread)));
	return read_single(unit, lp, msr, value);
}

/* Stores a value if all its bits are in `allowed`; otherwise returns #GP. */
static enum spmu_outcome store(uint64_t *to, uint64_t value, uint64_t allowed)
{
	if (value & ~allowed)
		return SPMU_GP;
	*to = value;
	return SPMU_DONE;
}

/* Of a select: the event, with unit mask 2, which only version 6 has. */
#define EVENT_CODE UINT64_C(0xff000000ffff)

/*
 * Writes a select register (18.2.1.1). AnyThread exists from version 3 on (18.2.3), IN_TX in any,
 * IN_TXCP in IA32_PERFEVTSEL2 only (18.11.5), ADAPTIVE with adaptive PEBS, and EN_LBR_LOG in the
 * selects of counters whose events are logged.
 */
static enum spmu_outcome write_select(struct reference *unit, struct reference_thread *t,
				      unsigned n, uint64_t value)
{
	const struct family *f = unit->family;
	uint64_t allowed = UINT64_C(0xffdfffff) | (uint64_t)f->any_thread << 21 |
			   (uint64_t)f->tsx << 32 | (uint64_t)(f->tsx && n == 2) << 33 |
			   (uint64_t)f->adaptive << 34 |
			   (uint64_t)(f->lbr && f->lbr->logs && n < 4) << 35 |
			   (f->version_6 ? UINT64_C(0xff1) << 36 : 0);

	if (store(&t->select[n], value, allowed) != SPMU_DONE)
		return SPMU_GP;
	t->event[n] = spmu_event_by_code(unit->model, value & EVENT_CODE);
	memset(t->general[n].clock, 0, sizeof(t->general[n].clock));
	return SPMU_DONE;
}

/* Writes the legacy address, which takes EAX and extends its sign (18.2.2). */
static void write_legacy(const struct reference *unit, struct reference_counter *counter,
			 uint64_t value)
{
	value &= 0xffffffff;
	if ((value & 0x80000000) && unit->defect != REFERENCE_SIGN_NOT_EXTENDED)
		value |= family_mask(unit->family) & ~UINT64_C(0xffffffff);
	counter->value = value;
}

/*
 * Writes IA32_PEBS_ENABLE. Reading: a counter whose PEBS is switched off is no longer armed (figure
 * 18-21).
 */
static enum spmu_outcome write_pebs_enable(struct reference *unit, struct reference_thread *t,
					   uint64_t value)
{
	if (store(&t->pebs_enable, value, unit->family->pebs_enable) != SPMU_DONE)
		return SPMU_GP;
	for (unsigned n = 0; n < REFERENCE_GENERAL; n++)
		if (!(unit->family->pebs_generals & value & (UINT64_C(1) << n)))
			t->general[n].armed = t->general[n].late = false;
	for (unsigned n = 0; n < REFERENCE_FIXED; n++)
		if (!(unit->family->pebs_fixed & value >> 32 & (UINT64_C(1) << n)))
			t->fixed[n].armed = t->fixed[n].late = false;
	return SPMU_DONE;
}

/* Stores a linear address, which must be canonical (WRMSR). */
static enum spmu_outcome store_address(uint64_t *to, uint64_t value)
{
	if ((uint64_t)((int64_t)(value << 16) >> 16) != value)
		return SPMU_GP;
	*to = value;
	return SPMU_DONE;
}

/* Stores an address of the stack. It is canonical unless its high bits contain flags or clocks. */
static enum spmu_outcome store_branch_address(const struct family_lbr *lbr, bool from, uint64_t *to,
					      uint64_t value)
{
	unsigned flags = from ? (lbr->format == 3 || lbr->format == 6 ? 1
				 : lbr->format == 4		      ? 3
								      : 0)
			      : 0;
	uint64_t address = (uint64_t)((int64_t)(value << flags) >> flags);

	if (lbr->format != 0 && (from || lbr->format != 6) &&
	    (uint64_t)((int64_t)(address << 16) >> 16) != address)
		return SPMU_GP;
	*to = value;
	return SPMU_DONE;
}

static enum spmu_outcome write_select_filter(struct reference *unit, struct reference_thread *t,
					     uint64_t value)
{
	if (store(&t->lbr_select, value, unit->family->lbr->call_stack ? 0x3ff : 0x1ff) !=
	    SPMU_DONE)
		return SPMU_GP;
	for (unsigned lp = 0; lp < unit->threads && unit->family->select_shared; lp++)
		unit->thread[lp].lbr_select = value;
	return SPMU_DONE;
}

/* Takes 8, 16 or 32, and clears all entries. */
static enum spmu_outcome write_depth(struct reference_thread *t, uint64_t value)
{
	if (value != 8 && value != 16 && value != 32)
		return SPMU_GP;
	memset(t->lbr, 0, sizeof(t->lbr));
	t->lbr_depth = value;
	t->lbr_untimed = true;
	memset(t->lbr_log, 0, sizeof(t->lbr_log));
	return SPMU_DONE;
}

static enum spmu_outcome write_branches(struct reference *unit, struct reference_thread *t,
					uint32_t msr, uint64_t value)
{
	const struct family_lbr *lbr = unit->family->lbr;
	int n;

	if (!lbr)
		return ABSENT;
	if ((n = entry_of(t, lbr, msr, lbr->from)) >= 0)
		return store_branch_address(lbr, true, &t->lbr[n].from, value);
	if ((n = entry_of(t, lbr, msr, lbr->to)) >= 0)
		return store_branch_address(lbr, false, &t->lbr[n].to, value);
	if ((n = entry_of(t, lbr, msr, lbr->info)) >= 0)
		return store(&t->lbr[n].info, value,
			     lbr->logs		   ? UINT64_C(0xff0000ff0000ffff)
			     : lbr->format == 7	   ? UINT64_C(0x800000000000ffff)
			     : lbr->format == 0x3f ? UINT64_C(0xff0000000000ffff)
						   : UINT64_C(0xe00000000000ffff));
	if (lbr->tos && msr == lbr->tos)
		return store(&t->lbr_tos, value, lbr->depth - 1);
	if (lbr->select && msr == lbr->select)
		return write_select_filter(unit, t, value);
	if (lbr->ctl && msr == lbr->ctl)
		return store(&t->lbr_ctl, value, 0x7f000f);
	if (lbr->depth_msr && msr == lbr->depth_msr)
		return write_depth(t, value);
	return ABSENT;
}

static uint64_t metrics_bit(const struct reference *unit)
{
	return unit->family->metrics ? UINT64_C(1) << 48 : 0;
}

/*
 * Returns the bits of the overflow control by version (18.2.2), and from version 4 on of the set
 * register. Reading of figure 18-12 and table 35-2: CondChgd can be set, like all that can be
 * cleared.
 */
static uint64_t status_bits(const struct reference *unit)
{
	uint64_t counters = general_bits(unit) | fixed_bits(unit);

	if (unit->family->version >= 4)
		return counters | UINT64_C(0xfc80000000000000) | metrics_bit(unit);
	if (unit->family->trace)
		counters |= UINT64_C(1) << 55;
	return counters | (unit->family->version == 3 ? UINT64_C(0xe000000000000000)
						      : UINT64_C(0xc000000000000000));
}

/* Returns MSR_PERF_METRICS: each kind's share of fixed counter 3, to the nearest 255th. */
uint64_t reference_metrics(const struct reference *unit, unsigned lp)
{
	const struct reference_thread *t = &unit->thread[lp];
	uint64_t slots = t->fixed[3].value, value = 0;

	for (unsigned i = 0; i < unit->family->metrics && slots; i++) {
		uint64_t share = (2 * t->metric[i] * 255 + slots) / (2 * slots);

		value |= (share < 255 ? share : 255) << (8 * i);
	}
	return value;
}

static enum spmu_outcome write_metrics(const struct reference *unit, struct reference_thread *t,
				       uint64_t value)
{
	if (unit->family->metrics < 8 && value >> (8 * unit->family->metrics))
		return SPMU_GP;
	for (unsigned i = 0; i < unit->family->metrics; i++)
		t->metric[i] = (value >> (8 * i) & 255) * t->fixed[3].value / 255;
	return SPMU_DONE;
}

static uint64_t fixed_control_bits(const struct family *f)
{
	uint64_t bits = 0;

	for (unsigned n = 0; n < f->fixed; n++)
		bits |= (f->any_thread ? UINT64_C(15) : UINT64_C(11)) << (4 * n) |
			(uint64_t)f->adaptive << (32 + 4 * n);
	return bits;
}

/* Arms extended PEBS by an overflow that software sets, if any event makes a record (18.7.1). */
static void arm_by_status(struct reference *unit, unsigned lp, uint64_t value)
{
	for (unsigned n = 0; n < unit->generals + unit->family->fixed; n++) {
		struct reference_view v = reference_view(unit, lp, n);

		if ((value & v.status_bit) && v.records && ((v.system | v.user) >> lp & 1) &&
		    reference_takes_any(unit, lp, n))
			v.counter->armed = true;
	}
}

static enum spmu_outcome write_global(struct reference *unit, struct reference_thread *t,
				      uint32_t msr, uint64_t value)
{
	uint64_t discard;

	if (msr == 0x38e || msr == 0x392 || unit->family->version < (msr >= 0x391 ? 4 : 2))
		return SPMU_GP;
	if (msr == 0x38f)
		return store(&t->global_control, value,
			     general_bits(unit) | fixed_bits(unit) | metrics_bit(unit));
	if (store(&discard, value, status_bits(unit)) != SPMU_DONE)
		return SPMU_GP;
	/* "Individual bits" (18.2.4.2): it sets no other bit. */
	if (msr == 0x391)
		arm_by_status(unit, (unsigned)(t - unit->thread), value);
	if (msr == 0x391 && unit->defect == REFERENCE_CONDITION_BY_SOFTWARE)
		reference_raise(unit, t, value);
	t->global_status = msr == 0x390 ? t->global_status & ~value : t->global_status | value;
	return SPMU_DONE;
}

/* Writes the register: 7, 11 and 12 are read-only, and the rest is the host's. */
static enum spmu_outcome write_misc_enable(struct reference_thread *t, uint64_t value)
{
	if (!t)
		return ABSENT;
	t->misc_enable = (value & ~UINT64_C(0x1880)) | (t->misc_enable & 0x1880);
	return SPMU_DONE;
}

static enum spmu_outcome write_single(struct reference *unit, unsigned lp, uint32_t msr,
				      uint64_t value)
{
	struct reference_thread *t = &unit->thread[lp];
	const struct family *f = unit->family;

	switch (msr) {
	case 0x1a0:
		return write_misc_enable(misc_holder(unit, lp), value);
	case 0x1d9:
		return write_debugctl(t, f, value);
	case 0x345:
		return SPMU_GP;
	case 0x38d:
		return f->fixed ? store(&t->fixed_control, value, fixed_control_bits(f)) : ABSENT;
	case 0x38e:
	case 0x38f:
	case 0x390:
	case 0x391:
	case 0x392:
		return write_global(unit, t, msr, value);
	case 0x3f1:
		return f->pebs_format >= 0 ? write_pebs_enable(unit, t, value) : ABSENT;
	case 0x3f2:
		return f->adaptive ? store(&t->pebs_data_cfg, value, 0xff00000f) : ABSENT;
	case 0x3f6:
		return f->ld_lat ? store(&t->pebs_ld_lat, value, 0xffff) : ABSENT;
	case 0x3f7:
		return f->frontend ? store(&t->pebs_frontend, value, 0x7fffff) : ABSENT;
	case 0x600:
		return f->area ? store_address(&t->ds_area, value) : ABSENT;
	}
	return write_branches(unit, t, msr, value);
}

enum spmu_outcome reference_write_msr(struct reference *unit, unsigned lp, uint32_t msr,
				      uint64_t value)
{
	struct reference_thread *t = &unit->thread[lp];
	unsigned generals = unit->family->programming == BY_SELECTS ? unit->generals : 0;
	enum spmu_outcome outcome;

	if (reference_write_legacy(unit, lp, msr, value, &outcome))
		return outcome;
	msr = legacy_address(unit->family, msr);
	if (msr >= 0xc1 && msr < 0xc1 + generals) {
		write_legacy(unit, &t->general[msr - 0xc1], value);
		return SPMU_DONE;
	}
	if (msr >= 0x4c1 && msr < 0x4c1 + generals && unit->family->full_width)
		return store(&t->general[msr - 0x4c1].value, value, family_mask(unit->family));
	if (msr >= 0x186 && msr < 0x186 + generals)
		return write_select(unit, t, msr - 0x186, value);
	if (msr == 0x329 && unit->family->metrics)
		return write_metrics(unit, t, value);
	if (msr >= 0x309 && msr < 0x309u + unit->family->fixed)
		return store(&t->fixed[msr - 0x309].value, value,
			     (UINT64_C(1) << unit->family->fixed_bits) - 1);
	return write_single(unit, lp, msr, value);
}
