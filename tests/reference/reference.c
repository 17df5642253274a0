/* SPDX-License-Identifier: MIT */
/*
 * reference.c: what one retired instruction does to the counters, the DS save
 * area and the local APIC, as plainly as it can be said.
 *
 * Vol. 3B 18.2 (architectural monitoring), 18.8.1.1 and 18.13.1 (PEBS),
 * 17.4.9 (DS save area), Vol. 3A 10.5.1 (local vector table).  No LBR, no BTS,
 * no load latency, no transactions, no SMM.
 *
 * Where the manual leaves room, the simplest reading is taken and named where
 * it is taken ("Reading:").
 */
#include "reference.h"

#include <string.h>

#define WIDTH_MASK    ((UINT64_C(1) << 48) - 1)
#define SELECT_USR    (UINT64_C(1) << 16)
#define SELECT_OS     (UINT64_C(1) << 17)
#define SELECT_E      (UINT64_C(1) << 18)
#define SELECT_INT    (UINT64_C(1) << 20)
#define SELECT_ANY    (UINT64_C(1) << 21)
#define SELECT_EN     (UINT64_C(1) << 22)
#define SELECT_INV    (UINT64_C(1) << 23)
#define STATUS_LBRFRZ (UINT64_C(1) << 58)
#define STATUS_CTRFRZ (UINT64_C(1) << 59)
#define STATUS_OVFBUF (UINT64_C(1) << 62)
#define DEBUGCTL_LBRS (UINT64_C(1) << 11)
#define DEBUGCTL_CTRS (UINT64_C(1) << 12)
#define LVT_MASK      (UINT32_C(1) << 16)
#define PEBS_COUNTERS 4 /* 18.13.1: PMC4-PMC7 have no PEBS */

const char *reference_defect_name(enum reference_defect defect)
{
	static const char *const names[] = {"SOUND",
#define REFERENCE_X(name, meaning) #name,
					    REFERENCE_DEFECTS(REFERENCE_X)
#undef REFERENCE_X
	};

	return defect < REFERENCE_DEFECT_END ? names[defect] : "?";
}

/*
 * One counter as the loop below sees it: the fields of IA32_PERFEVTSELx and of
 * a FIXED_CTR_CTRL block brought to one form.
 */
struct view {
	struct reference_counter *counter;
	uint64_t signals;
	bool enabled, usr, os, any, interrupt, edge, invert;
	unsigned cmask;
	uint64_t status_bit;
};

/* What the host supplies of an event; a signal that it does not is absent (signals.h). */
static uint64_t supplied(const struct reference *unit, const struct spmu_event *event)
{
	return event ? event->signals & (unit->host.supply.exact | unit->host.supply.modelled) : 0;
}

/* 18.2.4.1: EN & GLOBAL_CTRL & !CTR_FRZ. */
static struct view view_general(struct reference *unit, unsigned lp, unsigned n)
{
	struct reference_thread *t = &unit->thread[lp];
	const struct spmu_event *event = t->event[n];
	uint64_t select = t->select[n];
	struct view v = {
		.counter = &t->general[n],
		.enabled = (select & SELECT_EN) && (t->global_control >> n & 1) &&
			   !(t->global_status & STATUS_CTRFRZ),
		.usr = select & SELECT_USR,
		.os = select & SELECT_OS,
		.any = select & SELECT_ANY,
		.interrupt = select & SELECT_INT,
		.edge = select & SELECT_E,
		.invert = select & SELECT_INV,
		.cmask = select >> 24 & 0xff,
		.status_bit = UINT64_C(1) << n,
	};

	/*
	 * Reading: an event counts on the counters that the table names, elsewhere
	 * nothing; and what no signal describes counts nothing, whatever CMASK and INV.
	 */
	if (event && (event->counters >> n & 1))
		v.signals = supplied(unit, event);
	return v;
}

static struct view view_fixed(struct reference *unit, unsigned lp, unsigned n)
{
	struct reference_thread *t = &unit->thread[lp];
	const struct spmu_event *event = spmu_event_fixed(unit->model, n);
	unsigned control = t->fixed_control >> (4 * n) & 15;

	return (struct view){
		.counter = &t->fixed[n],
		.signals = supplied(unit, event),
		.enabled = (control & 3) && (t->global_control >> (32 + n) & 1) &&
			   !(t->global_status & STATUS_CTRFRZ),
		.os = control & 1,
		.usr = control & 2,
		.any = control & 4,
		.interrupt = control & 8,
		.status_bit = UINT64_C(1) << (32 + n),
	};
}

/* Does the counter listen to a thread that runs at this CPL? */
static bool listens(const struct reference *unit, const struct view *v, bool same_thread,
		    unsigned cpl)
{
	bool system = cpl == 0;

	if (unit->defect == REFERENCE_RINGS_SWAPPED)
		system = !system;
	if (unit->defect == REFERENCE_RING1_IS_SYSTEM)
		system = cpl <= 1;
	if (!same_thread && (!v->any || unit->defect == REFERENCE_ANY_IGNORED))
		return false;
	return v->signals && v->enabled && (system ? v->os : v->usr);
}

/* Vol. 3B 18.2.1.1: precise events ask for AnyThread, Edge, Invert and CMask of 0 (18.13.1). */
static bool is_pebs(const struct reference *unit, unsigned lp, unsigned n)
{
	const struct reference_thread *t = &unit->thread[lp];
	const struct spmu_event *event = t->event[n];

	return n < PEBS_COUNTERS && (t->pebs_enable >> n & 1) && event &&
	       (event->pebs_counters >> n & 1) &&
	       !(t->select[n] & (SELECT_ANY | SELECT_E | SELECT_INV | UINT64_C(0xff000000)));
}

/* Add to a counter; true when it passes from its maximum to 0. */
static bool add(const struct reference *unit, struct reference_counter *counter, uint64_t n)
{
	uint64_t before = counter->value;
	uint64_t limit = WIDTH_MASK;

	counter->value = (before + n) & WIDTH_MASK;
	if (unit->defect == REFERENCE_OVERFLOW_ONE_LATE)
		return n && counter->value == 1;
	return n > limit - before;
}

static bool condition(const struct reference *unit, const struct view *v, uint64_t occurrences)
{
	uint64_t threshold = v->cmask ? v->cmask : 1;
	bool reached = occurrences >= threshold;

	if (unit->defect == REFERENCE_CMASK_EXCLUSIVE && v->cmask)
		reached = occurrences > threshold;
	/* 18.2.1.1: INV is ignored when CMASK is 0. */
	return reached != (v->cmask && v->invert && unit->defect != REFERENCE_INVERT_IGNORED);
}

static bool by_clock(const struct reference *unit, const struct view *v)
{
	return v->cmask || (v->edge && unit->defect != REFERENCE_EDGE_IGNORED);
}

static bool inverted(const struct view *v)
{
	return v->cmask && v->invert;
}

static bool by_edge(const struct reference *unit, const struct view *v)
{
	return v->edge && unit->defect != REFERENCE_EDGE_IGNORED;
}

/*
 * The clock of `source` ends and `empty` clocks without occurrence follow.
 * How much the counter gains.
 *
 * Reading of 18.2.1.1: a condition of the kind >= is met, and counted, by the
 * instruction that reaches the threshold (below); one of the kind < is known
 * when its clock is over, and then counted under the CPL at that moment.  While
 * the counter does not listen (disabled, another CPL) its clock stands still.
 */
static uint64_t end_clock(const struct reference *unit, const struct view *v, unsigned source,
			  uint64_t empty)
{
	struct reference_clock *clock = &v->counter->clock[source];
	bool now = condition(unit, v, clock->occurrences);
	bool idle = condition(unit, v, 0);
	uint64_t gain = 0;

	if (inverted(v)) {
		gain = by_edge(unit, v) ? now && !clock->asserted : now;
		if (idle && empty)
			gain += by_edge(unit, v) ? !now : empty;
	}
	clock->asserted = empty ? idle : now;
	clock->occurrences = 0;
	return gain;
}

/* `n` occurrences in the clock that is not over. */
static uint64_t in_clock(const struct reference *unit, const struct view *v, unsigned source,
			 uint64_t n)
{
	struct reference_clock *clock = &v->counter->clock[source];
	bool before = condition(unit, v, clock->occurrences);

	clock->occurrences += n;
	if (inverted(v) || before || !condition(unit, v, clock->occurrences))
		return 0;
	return by_edge(unit, v) ? !clock->asserted : 1;
}

/* What an instruction adds to a counter; *occurred says whether its event took place. */
static uint64_t contribution(const struct reference *unit, const struct view *v, unsigned source,
			     const struct spmu_insn *insn, bool *occurred)
{
	uint64_t n = (uint64_t)__builtin_popcountll(insn->signals & v->signals);
	uint64_t gain = 0;

	*occurred = n > 0;
	if (!by_clock(unit, v))
		return n;
	if (insn->cycles)
		gain = end_clock(unit, v, source, insn->cycles - 1);
	return gain + in_clock(unit, v, source, n);
}

/* 17.4.7, version 4: a PMI request freezes; the LVT entry then decides about delivery. */
static void request_pmi(struct reference *unit, unsigned lp)
{
	struct reference_thread *t = &unit->thread[lp];

	t->pmi_requested = true;
	if ((t->debugctl & DEBUGCTL_CTRS) && unit->defect != REFERENCE_FREEZE_IGNORED)
		t->global_status |= STATUS_CTRFRZ;
	if (t->debugctl & DEBUGCTL_LBRS)
		t->global_status |= STATUS_LBRFRZ;
}

/* Vol. 3A 10.5.1: one interrupt for an instruction; delivery sets the mask. */
static unsigned deliver_pmi(struct reference *unit, unsigned lp)
{
	struct reference_thread *t = &unit->thread[lp];
	unsigned mode = t->lvt >> 8 & 7;
	struct spmu_pmi pmi = {.delivery = (enum spmu_delivery)mode, .vector = t->lvt & 0xff};

	if (!t->pmi_requested)
		return 0;
	t->pmi_requested = false;
	if (t->lvt & LVT_MASK)
		return 0;
	/* Reading: reserved delivery modes deliver nothing. */
	if (mode != SPMU_DELIVER_FIXED && mode != SPMU_DELIVER_SMI && mode != SPMU_DELIVER_NMI)
		return 0;
	if (mode != SPMU_DELIVER_FIXED)
		pmi.vector = 0;
	if (unit->defect != REFERENCE_LVT_NOT_MASKED)
		t->lvt |= LVT_MASK;
	unit->host.pmi(unit->host.opaque, lp, pmi);
	return SPMU_EV_PMI;
}

/* DS management area of 64-bit format (figure 18-22) and record format 3 (table 18-55). */
enum {
	DS_PEBS_BASE = 0x20,
	DS_PEBS_INDEX = 0x28,
	DS_PEBS_MAXIMUM = 0x30,
	DS_PEBS_THRESHOLD = 0x38,
	DS_RESETS = 0x40,
	DS_BYTES_MAX = 0x80,
	RECORD_BYTES = 0xc8,
};

static uint64_t get64(const uint8_t *from)
{
	uint64_t value = 0;

	for (int i = 7; i >= 0; i--)
		value = value << 8 | from[i];
	return value;
}

static void put64(uint8_t *to, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		to[i] = (uint8_t)(value >> (8 * i));
}

static void make_record(struct reference *unit, unsigned lp, const struct spmu_insn *insn,
			uint64_t applicable, uint8_t *record)
{
	struct spmu_registers r = {0};
	uint64_t address = 0;

	unit->host.registers(unit->host.opaque, lp, &r);
	for (unsigned n = 0; n < PEBS_COUNTERS; n++)
		if ((applicable >> n & 1) && unit->thread[lp].event[n]->data_address)
			address = insn->data_address;

	const uint64_t fields[RECORD_BYTES / 8] = {
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
		/* 90H */ applicable,
		address,
		0,
		0,
		insn->ip,
		0,
		unit->host.tsc(unit->host.opaque, lp),
	};
	for (unsigned i = 0; i < RECORD_BYTES / 8; i++)
		put64(record + 8 * i, fields[i]);
}

/* 18.4.2: bounds.  The record must stand between base and absolute maximum. */
static bool fits(const struct reference *unit, const uint8_t *area)
{
	uint64_t base = get64(area + DS_PEBS_BASE);
	uint64_t index = get64(area + DS_PEBS_INDEX);
	uint64_t maximum = get64(area + DS_PEBS_MAXIMUM);
	uint64_t room = maximum - index;

	if (index < base || index > maximum)
		return false;
	if (unit->defect == REFERENCE_BOUNDS_LOOSE)
		return room > 0;
	if (unit->defect == REFERENCE_BOUNDS_TIGHT)
		return room > RECORD_BYTES;
	return room >= RECORD_BYTES;
}

/* No room left; an index before the base says nothing of that kind. */
static bool is_full(const uint8_t *area)
{
	return get64(area + DS_PEBS_INDEX) >= get64(area + DS_PEBS_BASE);
}

/*
 * The PEBS assist (18.4.2, 18.8.1.1): bounds check, record, index, status,
 * reload, threshold.  `applicable`: the counters whose event took place.
 *
 * Reading of "skipped entirely": nothing changes and PEBS stays armed, so that
 * software which makes room again continues to capture.  A buffer without room
 * for the record sets OvfBuffer without an interrupt ("no signaling").  Memory
 * that the host refuses is like a bounds check that fails, but says nothing
 * about the buffer.
 *
 * Reading of "reload" (18.4.2 "the counter", 18.8.1.1 "each counter that
 * overflowed", 18.13.1 "applicable counters"): the counters whose event made
 * the record are reloaded.  One that passes to 0 by the same instruction, or
 * waits for its event, keeps its overflow and its claim to a record.
 */
static unsigned assist(struct reference *unit, unsigned lp, const struct spmu_insn *insn,
		       uint64_t applicable)
{
	struct reference_thread *t = &unit->thread[lp];
	const struct spmu_host *host = &unit->host;
	uint8_t area[DS_BYTES_MAX], record[RECORD_BYTES], next[8];
	size_t area_bytes = spmu_ds_layout(unit->model, true)->bytes;

	if (area_bytes > sizeof(area) ||
	    !host->read(host->opaque, lp, t->ds_area, area, area_bytes))
		return 0;
	if (!fits(unit, area)) {
		if (is_full(area))
			t->global_status |= STATUS_OVFBUF;
		return 0;
	}

	uint64_t index = get64(area + DS_PEBS_INDEX);
	uint64_t threshold = get64(area + DS_PEBS_THRESHOLD);

	make_record(unit, lp, insn, applicable, record);
	put64(next, index + RECORD_BYTES);
	if (!host->write(host->opaque, lp, index, record, sizeof(record)))
		return 0;
	if (!host->write(host->opaque, lp, t->ds_area + DS_PEBS_INDEX, next, sizeof(next)))
		return 0;

	for (unsigned n = 0; n < PEBS_COUNTERS; n++) {
		if (!(applicable >> n & 1))
			continue;
		t->general[n].armed = t->general[n].late = false;
		if (unit->defect != REFERENCE_STATUS_KEPT)
			t->global_status &= ~(UINT64_C(1) << n);
		if (unit->defect != REFERENCE_RELOAD_MISSING)
			t->general[n].value = get64(area + DS_RESETS + 8 * n) & WIDTH_MASK;
	}

	index += RECORD_BYTES;
	if (unit->defect == REFERENCE_THRESHOLD_LATE ? index > threshold : index >= threshold) {
		t->global_status |= STATUS_OVFBUF;
		request_pmi(unit, lp);
	}
	return SPMU_EV_RECORD;
}

/* One counter and one gain.  True when it overflowed. */
static bool count(struct reference *unit, unsigned owner, const struct view *v, uint64_t gain)
{
	if (!add(unit, v->counter, gain))
		return false;
	unit->thread[owner].global_status |= v->status_bit;
	return true;
}

/* The counters of `owner` meet what `source` retired. */
static unsigned retire_on(struct reference *unit, unsigned owner, unsigned source,
			  const struct spmu_insn *insn)
{
	struct view views[REFERENCE_GENERAL + REFERENCE_FIXED];
	unsigned generals = unit->generals, events = 0;
	bool interrupt = false;
	uint64_t triggered = 0;

	/* Who listens is settled before anything moves: a freeze acts from the next on. */
	for (unsigned n = 0; n < generals; n++)
		views[n] = view_general(unit, owner, n);
	for (unsigned n = 0; n < REFERENCE_FIXED; n++)
		views[generals + n] = view_fixed(unit, owner, n);

	for (unsigned n = 0; n < generals + REFERENCE_FIXED; n++) {
		struct view *v = &views[n];
		bool occurred, was_armed = v->counter->armed;

		if (!listens(unit, v, owner == source, insn->cpl))
			continue;
		uint64_t gain = contribution(unit, v, source, insn, &occurred);
		bool overflow = count(unit, owner, v, gain);

		if (overflow && v->interrupt)
			interrupt = true;
		if (n >= generals || !is_pebs(unit, owner, n))
			continue;
		if (overflow)
			v->counter->armed = true;
		if (unit->defect == REFERENCE_ARM_RECORDS_AT_ONCE)
			was_armed = v->counter->armed;
		if (unit->defect == REFERENCE_ARM_ONE_EVENT_LATE && was_armed && occurred &&
		    !v->counter->late) {
			v->counter->late = true;
			continue;
		}
		if (was_armed && occurred)
			triggered |= UINT64_C(1) << n;
	}
	if (triggered)
		events |= assist(unit, owner, insn, triggered);
	if (interrupt)
		request_pmi(unit, owner);
	return events;
}

unsigned reference_retire(struct reference *unit, unsigned lp, const struct spmu_insn *insn)
{
	unsigned events = 0;

	for (unsigned owner = 0; owner < unit->threads; owner++)
		events |= retire_on(unit, owner, lp, insn);
	for (unsigned owner = 0; owner < unit->threads; owner++)
		events |= deliver_pmi(unit, owner);
	return events;
}

/*
 * One clock in which `signals` take place and nothing retires.  gain[] gets
 * what each counter gained; true when one overflowed.
 */
static bool one_clock(struct reference *unit, unsigned lp, uint64_t signals, unsigned cpl,
		      uint64_t gain[SPMU_THREADS_MAX][REFERENCE_GENERAL + REFERENCE_FIXED])
{
	bool overflowed = false;

	for (unsigned owner = 0; owner < unit->threads; owner++) {
		bool interrupt = false;

		for (unsigned n = 0; n < unit->generals + REFERENCE_FIXED; n++) {
			struct view v = n < unit->generals
						? view_general(unit, owner, n)
						: view_fixed(unit, owner, n - unit->generals);
			struct spmu_insn clock = {.signals = signals, .cycles = 1};
			bool occurred;

			gain[owner][n] = 0;
			if (!listens(unit, &v, owner == lp, cpl))
				continue;
			gain[owner][n] = contribution(unit, &v, lp, &clock, &occurred);
			if (!count(unit, owner, &v, gain[owner][n]))
				continue;
			overflowed = true;
			interrupt |= v.interrupt;
		}
		if (interrupt)
			request_pmi(unit, owner);
	}
	return overflowed;
}

static struct reference_counter *counter_of(struct reference *unit, unsigned owner, unsigned n)
{
	struct reference_thread *t = &unit->thread[owner];

	return n < unit->generals ? &t->general[n] : &t->fixed[n - unit->generals];
}

/*
 * Clocks that are all alike: leave out those in which every counter gains what
 * it gained in the last and none overflows.  How many were left out.
 */
static uint64_t skip(struct reference *unit, uint64_t clocks,
		     uint64_t gain[SPMU_THREADS_MAX][REFERENCE_GENERAL + REFERENCE_FIXED])
{
	unsigned counters = unit->generals + REFERENCE_FIXED;

	for (unsigned owner = 0; owner < unit->threads; owner++)
		for (unsigned n = 0; n < counters; n++) {
			uint64_t room = WIDTH_MASK - counter_of(unit, owner, n)->value;

			if (gain[owner][n] && room / gain[owner][n] < clocks)
				clocks = room / gain[owner][n];
		}
	for (unsigned owner = 0; owner < unit->threads; owner++)
		for (unsigned n = 0; n < counters; n++)
			counter_of(unit, owner, n)->value += gain[owner][n] * clocks;
	return clocks;
}

unsigned reference_clocks(struct reference *unit, unsigned lp, uint64_t signals, uint64_t clocks,
			  unsigned cpl)
{
	uint64_t gain[SPMU_THREADS_MAX][REFERENCE_GENERAL + REFERENCE_FIXED];
	unsigned events = 0, quiet = 0;

	signals &= SPMU_SIGBIT(CYCLES) | SPMU_SIGBIT(REF_CYCLES);
	while (clocks) {
		quiet = one_clock(unit, lp, signals, cpl, gain) ? 0 : quiet + 1;
		clocks--;
		for (unsigned owner = 0; owner < unit->threads; owner++)
			events |= deliver_pmi(unit, owner);
		/* The third clock after an overflow is like all that follow it. */
		if (quiet >= 3)
			clocks -= skip(unit, clocks, gain);
	}
	return events;
}
