/* SPDX-License-Identifier: MIT */
/*
 * records.c: the PEBS assist of the reference: bounds, record, index, status,
 * reload, threshold.
 *
 * Vol. 3B 17.4.9 (DS save area), 18.4.4 and 18.8.1.1 (formats 0 and 1), 18.6.1.1
 * and 18.11.2 (format 2), 18.13.1 (format 3), adaptive PEBS of the 10th
 * generation Core (format 4).  Data source and latency are what the host tells. Transactions are
 * 0. A precise store says whether it was locked (18.9.4.3).
 */
#include "reference.h"

#include <string.h>

#define STATUS_OVFBUF	(UINT64_C(1) << 62)
#define SELECT_ADAPTIVE (UINT64_C(1) << 34)
#define STORE_LOCKED	(1u << 5)
#define DATA_MEMORY	1u
#define DATA_GPRS	2u
#define DATA_XMM	4u
#define DATA_LBR	8u
#define RECORD_MAX	(32 + 32 + 144 + 256 + 24 * 32)
#define AREA_MAX	0x160

/*
 * Returns the area's layout in the present mode (17.4.9.2). With DTES64 both modes have the same.
 */
const struct family_area *reference_area(const struct reference *unit, unsigned lp)
{
	const struct family *family = unit->family;

	if (unit->thread[lp].ia32e || family->dtes64 || !family->area_legacy)
		return family->area;
	return family->area_legacy;
}

uint64_t reference_fetch(const uint8_t *from, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = bytes; i-- > 0;)
		value = value << 8 | from[i];
	return value;
}

void reference_put(uint8_t *to, unsigned bytes, uint64_t value)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (uint8_t)(value >> (8 * i));
}

/* A record under construction. */
struct record {
	uint8_t byte[RECORD_MAX];
	unsigned bytes;
};

static void append(struct record *record, unsigned bytes, uint64_t value)
{
	reference_put(record->byte + record->bytes, bytes, value);
	record->bytes += bytes;
}

/* Linear addresses have 32 bits outside IA-32e mode. */
static uint64_t linear(const struct reference *unit, unsigned lp, uint64_t address)
{
	return unit->thread[lp].ia32e ? address : address & 0xffffffff;
}

/* Returns whether the event needs IA32_PEBS_ENABLE[63] for its address (18.9.4.3). */
static bool is_precise_store(const struct reference *unit, const struct spmu_event *event)
{
	return unit->family->pebs_enable >> 63 && event->code == 0x02cd;
}

/* Returns the event with an address of the first counter that makes the record, or NULL. */
static const struct spmu_event *with_address(const struct reference *unit, unsigned lp,
					     uint64_t applicable)
{
	const struct reference_thread *t = &unit->thread[lp];

	for (unsigned n = 0; n < unit->generals; n++)
		if ((applicable >> n & 1) && t->event[n] && t->event[n]->data_address &&
		    (!is_precise_store(unit, t->event[n]) || t->pebs_enable >> 63))
			return t->event[n];
	return NULL;
}

/* Returns true for events of stores only. */
static bool of_stores(const struct spmu_event *event)
{
	return event->signals == SPMU_SIGBIT(STORES) || event->tally == SPMU_TALLY_STORE_SPLITS ||
	       event->tally == SPMU_TALLY_STORE_STLB_MISSES;
}

/* Returns "the source of the load, or the destination of the store" (18.9.4.1). */
static uint64_t data_address(const struct reference *unit, unsigned lp,
			     const struct spmu_insn *insn, uint64_t applicable)
{
	const struct spmu_event *event = with_address(unit, lp, applicable);
	const struct spmu_memory_access *load = NULL, *store = NULL, **wanted = &load;

	if (!event)
		return 0;
	if (of_stores(event) && unit->defect != REFERENCE_STORE_AS_LOAD)
		wanted = &store;
	for (unsigned i = insn->access_count; i-- > 0;) {
		const struct spmu_memory_access *access = &insn->accesses[i];

		if (access->kind & SPMU_ACCESS_LOAD)
			load = access;
		if (access->kind & SPMU_ACCESS_STORE)
			store = access;
	}
	if (!*wanted)
		wanted = wanted == &load ? &store : &load;
	return *wanted ? linear(unit, lp, (*wanted)->linear) : 0;
}

/* Returns how long the load took, in records that have its address. */
static uint64_t latency(const struct reference *unit, unsigned lp, const struct spmu_insn *insn,
			uint64_t applicable)
{
	const struct spmu_event *event = with_address(unit, lp, applicable);

	if (!event || of_stores(event) || unit->defect == REFERENCE_LATENCY_LOST)
		return 0;
	return insn->latency;
}

/* Returns what the host tells of the load, or of the store, with the lock bit of 18.9.4.3. */
static uint64_t data_source(const struct reference *unit, unsigned lp, const struct spmu_insn *insn,
			    uint64_t applicable)
{
	const struct spmu_event *event = with_address(unit, lp, applicable);

	uint64_t source = 0;

	if (event && unit->defect != REFERENCE_LATENCY_LOST)
		source = of_stores(event) ? insn->store_source : insn->data_source;
	if (event && is_precise_store(unit, event) && (insn->signals & SPMU_SIGBIT(LOCK_LOADS)))
		source |= STORE_LOCKED;
	return source;
}

/*
 * Fills in registers. Outside IA-32e mode there are no upper halves and no R8 to R15 (18.4.4.2).
 * 18.7.1 is an exception.
 */
static void registers_of(struct reference *unit, unsigned lp, struct spmu_registers *r)
{
	uint64_t *word = (uint64_t *)(void *)r;

	unit->host.registers(unit->host.opaque, lp, r);
	if (unit->thread[lp].ia32e || unit->family->pebs_goldmont)
		return;
	for (unsigned i = 0; i < sizeof(*r) / sizeof(*word); i++)
		word[i] &= 0xffffffff;
	r->r8 = r->r9 = r->r10 = r->r11 = r->r12 = r->r13 = r->r14 = r->r15 = 0;
}

/* Makes a record of formats 0 to 3, in order. A shorter format is the beginning of a longer one. */
static void make_plain(struct reference *unit, unsigned lp, const struct spmu_insn *insn,
		       uint64_t applicable, uint64_t status, struct record *record)
{
	static const unsigned length[] = {18, 22, 24, 25};
	unsigned format = (unsigned)unit->family->pebs_format;
	unsigned field = reference_area(unit, lp)->field;
	struct spmu_registers r = {0};

	registers_of(unit, lp, &r);
	const uint64_t fields[25] = {
		r.rflags,
		r.rip,
		r.rax,
		r.rbx,
		r.rcx,
		r.rdx,
		r.rsi,
		r.rdi,
		r.rbp,
		r.rsp,
		r.r8,
		r.r9,
		r.r10,
		r.r11,
		r.r12,
		r.r13,
		r.r14,
		r.r15,
		/* 90H */ format < 3 ? status : applicable,
		data_address(unit, lp, insn, applicable),
		data_source(unit, lp, insn, applicable),
		latency(unit, lp, insn, applicable),
		linear(unit, lp, insn->ip),
		0,
		format == 3 ? unit->host.tsc(unit->host.opaque, lp) : 0,
	};

	for (unsigned i = 0; i < (field == 4 ? 10 : length[format]); i++)
		append(record, field, fields[i]);
}

/*
 * Returns true for an adaptive record. Reading: it has groups if one of its counters asks for them.
 */
static bool is_adaptive(const struct reference *unit, unsigned lp, uint64_t applicable)
{
	const struct reference_thread *t = &unit->thread[lp];
	bool asked = unit->defect == REFERENCE_ADAPTIVE_ALWAYS;

	for (unsigned n = 0; n < unit->generals; n++)
		asked |= (applicable >> n & 1) && (t->select[n] & SELECT_ADAPTIVE);
	for (unsigned n = 0; n < unit->family->fixed; n++)
		asked |= (applicable >> (32 + n) & 1) && (t->fixed_control >> (32 + 4 * n) & 1);
	return asked;
}

static void append_registers(struct reference *unit, unsigned lp, struct record *record)
{
	struct spmu_registers r = {0};

	registers_of(unit, lp, &r);
	const uint64_t fields[18] = {r.rflags, r.rip, r.rax, r.rcx, r.rdx, r.rbx,
				     r.rsp,    r.rbp, r.rsi, r.rdi, r.r8,  r.r9,
				     r.r10,    r.r11, r.r12, r.r13, r.r14, r.r15};

	for (unsigned i = 0; i < 18; i++)
		append(record, 8, fields[i]);
}

static void append_vectors(struct reference *unit, unsigned lp, struct record *record)
{
	uint8_t xmm[16][16] = {{0}};

	if (unit->host.vectors)
		unit->host.vectors(unit->host.opaque, lp, xmm);
	if (!unit->thread[lp].ia32e) /* there are eight */
		memset(xmm[8], 0, 8 * sizeof(xmm[8]));
	memcpy(record->byte + record->bytes, xmm, sizeof(xmm));
	record->bytes += sizeof(xmm);
}

/* Returns the third word of an entry.  The unit does not keep what only software writes there: a
 * reserved kind of branch, and clocks that are not valid (docs/exactness.md). */
static uint64_t entry_info(const struct family_lbr *lbr, uint64_t info)
{
	const uint64_t kind = UINT64_C(15) << 56, other = UINT64_C(8) << 56;

	if (!lbr->ctl)
		return info;
	if (!(info >> 60 & 1))
		info &= ~UINT64_C(0xffff);
	return (info & kind) > UINT64_C(5) << 56 ? (info & ~kind) | other : info;
}

static void append_branches(struct reference *unit, unsigned lp, unsigned entries,
			    struct record *record)
{
	const struct reference_thread *t = &unit->thread[lp];
	const struct family_lbr *lbr = unit->family->lbr;
	unsigned depth = lbr->ctl ? (unsigned)t->lbr_depth : lbr->depth;

	for (unsigned i = 0; i < entries; i++) {
		static const struct reference_branch none = {0, 0, 0};
		const struct reference_branch *branch =
			!lbr->ctl   ? &t->lbr[(t->lbr_tos + depth - i) % depth]
			: i < depth ? &t->lbr[i]
				    : &none;

		append(record, 8, branch->from);
		append(record, 8, branch->to);
		append(record, 8, entry_info(lbr, branch->info));
	}
}

/* Returns bits 31:24, less 1. Reading: at most the depth of the stack. */
static unsigned entries_of(uint64_t config)
{
	unsigned more = config >> 24 & 0xff;

	return more < 31 ? 1 + more : 32;
}

static void make_adaptive(struct reference *unit, unsigned lp, const struct spmu_insn *insn,
			  uint64_t applicable, struct record *record)
{
	uint64_t config = unit->thread[lp].pebs_data_cfg;

	if (!is_adaptive(unit, lp, applicable))
		config = 0;
	/* The format word tells what the record contains. */
	config = (config & 0xff) |
		 (config & DATA_LBR ? (uint64_t)(entries_of(config) - 1) << 24 : 0);
	append(record, 8, config);
	append(record, 8, linear(unit, lp, insn->ip));
	append(record, 8, applicable);
	append(record, 8, unit->host.tsc(unit->host.opaque, lp));
	if (config & DATA_MEMORY) {
		append(record, 8, data_address(unit, lp, insn, applicable));
		append(record, 8, data_source(unit, lp, insn, applicable));
		append(record, 8, latency(unit, lp, insn, applicable));
		append(record, 8, 0);
	}
	if (config & DATA_GPRS)
		append_registers(unit, lp, record);
	if (config & DATA_XMM)
		append_vectors(unit, lp, record);
	if (config & DATA_LBR)
		append_branches(unit, lp, entries_of(config), record);
	reference_put(record->byte + 6, 2, record->bytes);
}

/* The fields of the area that PEBS uses. */
struct pebs_area {
	uint64_t base, index, maximum, threshold;
};

/* Checks bounds (18.4.2): the record must be between base and absolute maximum. */
static bool fits(const struct reference *unit, const struct pebs_area *a, unsigned bytes)
{
	uint64_t room = a->maximum - a->index;

	if (a->index < a->base || a->index > a->maximum)
		return false;
	if (unit->defect == REFERENCE_BOUNDS_LOOSE)
		return room > 0;
	if (unit->defect == REFERENCE_BOUNDS_TIGHT)
		return room > bytes;
	return room >= bytes;
}

static void reload(struct reference *unit, unsigned lp, const uint8_t *bytes, uint64_t applicable)
{
	const struct family_area *area = reference_area(unit, lp);
	struct reference_thread *t = reference_holder(unit, lp);

	for (unsigned n = 0; n < unit->generals; n++) {
		unsigned slot = unit->family->shared ? 0 : n; /* an area has one there (17.4.9) */

		if (!(applicable >> n & 1))
			continue;
		t->general[n].armed = t->general[n].late = false;
		if (unit->defect != REFERENCE_RELOAD_MISSING)
			t->general[n].value =
				reference_fetch(bytes + area->reset_at + 8 * slot, 8) &
				family_mask(unit->family);
		if (unit->defect == REFERENCE_OVF_NOT_STICKY && unit->family->shared)
			t->select[n] &= ~(UINT64_C(1) << 31);
	}
	for (unsigned n = 0; n < unit->family->fixed; n++) {
		if (!(applicable >> (32 + n) & 1))
			continue;
		t->fixed[n].armed = t->fixed[n].late = false;
		if (unit->defect != REFERENCE_FIXED_RELOAD_MISSING)
			t->fixed[n].value =
				reference_fetch(bytes + area->fixed_reset_at + 8 * n, 8) &
				((UINT64_C(1) << unit->family->fixed_bits) - 1);
	}
	if (unit->defect != REFERENCE_STATUS_KEPT)
		t->global_status &= ~applicable;
	if (unit->defect == REFERENCE_CONDITION_CLEARED)
		t->global_status &= ~(UINT64_C(1) << 63);
}

/* Returns the counters that a record of these counters reloads. */
static uint64_t reloaded(const struct reference *unit, unsigned lp, uint64_t applicable)
{
	const struct reference_thread *t = &unit->thread[lp];
	bool all = unit->family->pebs_format < 3 && unit->family->version >= 2;

	if (unit->defect == REFERENCE_RELOAD_TRIGGERED_ALONE)
		all = false;
	if (unit->defect == REFERENCE_RELOAD_ALL_OVERFLOWED)
		all = unit->family->version >= 2;
	return all ? applicable | (t->global_status & t->pebs_enable & unit->family->pebs_generals)
		   : applicable;
}

/*
 * Drops a record by 18.7.1.3: OvfDSBuffer reports an index outside the buffer. The applicable
 * counters lose their overflow and keep their value. Reading: they are no longer armed.
 */
static void drop(struct reference *unit, unsigned lp, uint64_t applicable)
{
	struct reference_thread *t = &unit->thread[lp];

	for (unsigned n = 0; n < unit->generals; n++)
		if (applicable >> n & 1)
			t->general[n].armed = t->general[n].late = false;
	for (unsigned n = 0; n < unit->family->fixed; n++)
		if (applicable >> (32 + n) & 1)
			t->fixed[n].armed = t->fixed[n].late = false;
	t->global_status &= ~applicable;
	reference_raise(unit, t, STATUS_OVFBUF);
}

/*
 * Makes a record.
 *
 * Reading of "skipped entirely" (18.4.2): nothing changes and PEBS stays armed, so software that
 * empties the buffer continues to capture. A buffer without space for the record sets OvfBuffer
 * without an interrupt ("no signaling"). Memory that the host refuses is like a bounds check that
 * fails, but sets no status of the buffer.
 *
 * 18.4.2 reloads "the counter". 18.8.1.1 and 18.9.4.1 reload "each counter" that "overflowed and
 * was enabled for PEBS". Reading of 18.7.1.3 ("according to Applicable Counters") and 18.13.1.1:
 * from format 3 on only the counters whose event made the record are reloaded. A counter that
 * passes to 0 by the same instruction, or waits for its event, keeps its overflow and stays armed.
 */
unsigned reference_assist(struct reference *unit, unsigned lp, const struct spmu_insn *insn,
			  uint64_t applicable, unsigned interrupts)
{
	const struct family_area *area = reference_area(unit, lp);
	struct reference_thread *t = &unit->thread[lp];
	const struct spmu_host *host = &unit->host;
	unsigned bytes = area->fixed_resets ? area->fixed_reset_at + 8u * area->fixed_resets
					    : area->reset_at + 8u * area->resets;
	struct record record = {.bytes = 0};
	uint8_t image[AREA_MAX], next[8];
	struct pebs_area a;
	uint64_t status = t->global_status;

	if (!host->read(host->opaque, lp, t->ds_area, image, bytes))
		return 0;
	a.base = reference_fetch(image + 4u * area->field, area->field);
	a.index = reference_fetch(image + 5u * area->field, area->field);
	a.maximum = reference_fetch(image + 6u * area->field, area->field);
	a.threshold = reference_fetch(image + 7u * area->field, area->field);
	if (unit->defect == REFERENCE_STATUS_AFTER_ASSIST)
		status &= ~applicable;
	if (unit->family->adaptive)
		make_adaptive(unit, lp, insn, applicable, &record);
	else
		make_plain(unit, lp, insn, applicable, status, &record);
	if (!fits(unit, &a, record.bytes)) {
		/* An index before the base does not mean that a buffer is full. */
		if (unit->family->pebs_goldmont && (a.index < a.base || a.index > a.maximum))
			drop(unit, lp, applicable);
		else if (a.index >= a.base && unit->family->version >= 2)
			reference_raise(unit, t, STATUS_OVFBUF);
		return 0;
	}
	reference_put(next, area->field, a.index + record.bytes);
	if (!host->write(host->opaque, lp, a.index, record.byte, record.bytes))
		return 0;
	if (!host->write(host->opaque, lp, t->ds_area + 5u * area->field, next, area->field))
		return 0;
	reload(unit, lp, image, reloaded(unit, lp, applicable));

	a.index += record.bytes;
	if (unit->defect == REFERENCE_THRESHOLD_LATE ? a.index > a.threshold
						     : a.index >= a.threshold) {
		if (unit->family->version >= 2)
			reference_raise(unit, t, STATUS_OVFBUF);
		for (unsigned i = 0; i < unit->threads; i++)
			if (interrupts >> i & 1)
				reference_request_pmi(unit, i);
	}
	return SPMU_EV_RECORD;
}
