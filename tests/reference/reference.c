/* SPDX-License-Identifier: MIT */
/*
 * reference.c: what one retired instruction does to the counters and the local
 * APIC, as plainly as it can be said.
 *
 * Vol. 3B 18.2 (architectural monitoring), 17.4.7 (freeze), Vol. 3A 10.5.1
 * (local vector table).  PEBS is in records.c, branches are in branches.c.  No
 * load latency, no transactions.
 *
 * Where the manual leaves room, the simplest reading is taken and named where
 * it is taken ("Reading:").
 */
#include "reference.h"

#include <string.h>

#define SELECT_USR    (UINT64_C(1) << 16)
#define SELECT_OS     (UINT64_C(1) << 17)
#define SELECT_E      (UINT64_C(1) << 18)
#define SELECT_INT    (UINT64_C(1) << 20)
#define SELECT_ANY    (UINT64_C(1) << 21)
#define SELECT_EN     (UINT64_C(1) << 22)
#define SELECT_INV    (UINT64_C(1) << 23)
#define DEBUGCTL_LBR  UINT64_C(1)
#define DEBUGCTL_TR   (UINT64_C(1) << 6)
#define STATUS_LBRFRZ (UINT64_C(1) << 58)
#define STATUS_CTRFRZ (UINT64_C(1) << 59)
#define DEBUGCTL_LBRS (UINT64_C(1) << 11)
#define DEBUGCTL_CTRS (UINT64_C(1) << 12)
#define LVT_MASK      (UINT32_C(1) << 16)

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
	unsigned bits;
	bool enabled, usr, os, any, interrupt, edge, invert;
	unsigned cmask;
	uint64_t status_bit;
};

/* What the host supplies of an event; a signal that it does not is absent (signals.h). */
static uint64_t supplied(const struct reference *unit, const struct spmu_event *event)
{
	return event ? event->signals & (unit->host.supply.exact | unit->host.supply.modelled) : 0;
}

/* 18.2.4.1: GLOBAL_CTRL & !CTR_FRZ; the first version has neither (18.2.1). */
static bool globally(const struct reference *unit, unsigned lp, unsigned bit)
{
	const struct reference_thread *t = &unit->thread[lp];

	return unit->family->version < 2 ||
	       ((t->global_control >> bit & 1) && !(t->global_status & STATUS_CTRFRZ));
}

/*
 * Reading: with INV, a CMASK of 16 or more and no edge detection an event that retirement makes
 * holds in each clock, as no processor retires so much in one.  Where the host has clocks they are
 * what is counted.  Each instruction has a micro-operation at least.
 */
static bool always_fewer(const struct reference *unit, const struct spmu_event *event,
			 uint64_t select)
{
	const uint64_t clocks = SPMU_SIGBIT(CYCLES);

	if (unit->defect == REFERENCE_FEWER_BY_CLOCK)
		return false;
	if (!event || !(select & SELECT_INV) || (select & SELECT_E) || (select >> 24 & 0xff) < 16 ||
	    !(clocks & (unit->host.supply.exact | unit->host.supply.modelled)))
		return false;
	return event->signals == SPMU_SIGBIT(INSTRUCTIONS) ||
	       (unit->family->uops && event->code == unit->family->uops);
}

static struct view view_general(struct reference *unit, unsigned lp, unsigned n)
{
	struct reference_thread *t = &unit->thread[lp];
	const struct spmu_event *event = t->event[n];
	uint64_t select = t->select[n];
	struct view v = {
		.counter = &t->general[n],
		.bits = unit->family->bits,
		.enabled = (select & SELECT_EN) && globally(unit, lp, n),
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
	if (event && (event->counters >> n & 1) && always_fewer(unit, event, select)) {
		v.signals = SPMU_SIGBIT(CYCLES);
		v.cmask = 0;
	}
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
		.bits = unit->family->fixed_bits,
		.enabled = (control & 3) && globally(unit, lp, 32 + n),
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

/*
 * 18.9.4, 18.13.1: precise events ask for AnyThread, Edge, Invert and CMask of 0; processors
 * take the last two.  With extended PEBS any event will do, and fixed counters.
 */
static bool is_pebs(const struct reference *unit, unsigned lp, unsigned n)
{
	const struct reference_thread *t = &unit->thread[lp];
	const struct family *family = unit->family;

	if (n >= unit->generals) {
		n -= unit->generals;
		return (family->pebs_fixed >> n & 1) && (t->pebs_enable >> (32 + n) & 1);
	}
	const struct spmu_event *event = t->event[n];

	if (!(family->pebs_generals >> n & 1) || !(t->pebs_enable >> n & 1) || !event)
		return false;
	if (!family->extended_pebs && !(event->pebs_counters >> n & 1))
		return false;
	if (unit->defect == REFERENCE_PEBS_WITHOUT_CMASK &&
	    (t->select[n] & (SELECT_INV | UINT64_C(0xff000000))))
		return false;
	return !(t->select[n] & (SELECT_ANY | SELECT_E));
}

/*
 * Extended PEBS of an event that is not precise takes "the next opportunity" (18.7.1).
 * Reading: the next instruction of the thread in a ring that the counter counts; so it is
 * for clocks, too.
 */
static bool takes_any(const struct reference *unit, unsigned lp, unsigned n)
{
	const struct spmu_event *event;

	if (n >= unit->generals)
		return n > unit->generals; /* the first counts instructions */
	event = unit->thread[lp].event[n];
	if (always_fewer(unit, event, unit->thread[lp].select[n]))
		return true;
	return unit->family->extended_pebs && event && !(event->pebs_counters >> n & 1);
}

/* Add to a counter; true when it passes from its maximum to 0. */
static bool add(const struct reference *unit, struct reference_counter *counter, unsigned bits,
		uint64_t n)
{
	uint64_t before = counter->value;
	uint64_t limit = (UINT64_C(1) << bits) - 1;

	counter->value = (before + n) & limit;
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

/*
 * 17.4.7: a PMI request freezes; the LVT entry then decides about delivery.  From version 4 on
 * by the status, before by the enables themselves.
 */
static void freeze(struct reference *unit, unsigned lp)
{
	struct reference_thread *t = &unit->thread[lp];
	bool counters = (t->debugctl & DEBUGCTL_CTRS) && unit->defect != REFERENCE_FREEZE_IGNORED;
	bool branches = (t->debugctl & DEBUGCTL_LBRS) && unit->defect != REFERENCE_LBR_NOT_FROZEN;

	if (unit->family->version >= 4) {
		t->global_status |= counters ? STATUS_CTRFRZ : 0;
		t->global_status |= branches ? STATUS_LBRFRZ : 0;
		return;
	}
	if (counters && unit->defect != REFERENCE_LEGACY_KEEPS_ENABLES)
		t->global_control = 0;
	if (branches)
		t->debugctl &= ~DEBUGCTL_LBR;
	if (branches && unit->family->freeze_clears_tr)
		t->debugctl &= ~DEBUGCTL_TR;
}

/* 18.4.4: the request is held until PEBS and BTS of the instruction are done. */
void reference_request_pmi(struct reference *unit, unsigned lp)
{
	unit->thread[lp].pmi_requested = true;
}

/* Vol. 3A 10.5.1: one interrupt for an instruction; delivery sets the mask. */
unsigned reference_deliver_pmi(struct reference *unit, unsigned lp)
{
	struct reference_thread *t = &unit->thread[lp];
	unsigned mode = t->lvt >> 8 & 7;
	struct spmu_pmi pmi = {.delivery = (enum spmu_delivery)mode, .vector = t->lvt & 0xff};

	if (!t->pmi_requested)
		return 0;
	t->pmi_requested = false;
	freeze(unit, lp);
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

/* One counter and one gain.  True when it overflowed. */
static bool count(struct reference *unit, unsigned owner, const struct view *v, uint64_t gain)
{
	if (!add(unit, v->counter, v->bits, gain))
		return false;
	if (unit->family->version >= 2)
		unit->thread[owner].global_status |= v->status_bit;
	return true;
}

/* The counters of `owner` meet what `source` retired. */
static unsigned retire_on(struct reference *unit, unsigned owner, unsigned source,
			  const struct spmu_insn *insn)
{
	struct view views[REFERENCE_COUNTERS];
	unsigned generals = unit->generals, events = 0;
	bool interrupt = false;
	uint64_t triggered = 0;

	/* Who listens is settled before anything moves: a freeze acts from the next on. */
	for (unsigned n = 0; n < generals; n++)
		views[n] = view_general(unit, owner, n);
	for (unsigned n = 0; n < unit->family->fixed; n++)
		views[generals + n] = view_fixed(unit, owner, n);

	for (unsigned n = 0; n < generals + unit->family->fixed; n++) {
		struct view *v = &views[n];
		bool occurred, was_armed = v->counter->armed;

		if (!listens(unit, v, owner == source, insn->cpl))
			continue;
		uint64_t gain = contribution(unit, v, source, insn, &occurred);
		bool overflow = count(unit, owner, v, gain);

		if (unit->defect == REFERENCE_RECORD_BY_COUNT)
			occurred = gain > 0;
		if (overflow && v->interrupt)
			interrupt = true;
		if (!is_pebs(unit, owner, n))
			continue;
		occurred |= takes_any(unit, owner, n) && owner == source;
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
			triggered |= v->status_bit;
	}
	if (triggered)
		events |= reference_assist(unit, owner, insn, triggered);
	if (interrupt)
		reference_request_pmi(unit, owner);
	return events;
}

/* The taken branch among an instruction's signals; false: none. */
static bool branch_of(const struct spmu_insn *insn, struct spmu_branch *branch)
{
	uint64_t taken = insn->signals & SPMU_SIGSET_TAKEN;

	if (!taken)
		return false;
	*branch = (struct spmu_branch){
		.from = insn->ip,
		.to = insn->next_ip,
		.cycles = insn->cycles,
		.signal = (uint8_t)__builtin_ctzll(taken),
		.cpl = insn->cpl,
		.next_cpl = taken & SPMU_SIGBIT(FAR) ? insn->next_cpl : insn->cpl,
		.flags = insn->signals & SPMU_SIGBIT(BRANCH_MISS) ? SPMU_BRANCH_MISPREDICTED : 0,
	};
	return true;
}

/*
 * Reading of 18.4.4 ("PEBS is processed before BTS are processed; the PMI request is
 * held"): the last branch record belongs to retirement and comes first, then the
 * counters and PEBS, then the branch trace, then the interrupt.
 */
unsigned reference_retire(struct reference *unit, unsigned lp, const struct spmu_insn *insn)
{
	struct spmu_branch branch;
	bool taken = branch_of(insn, &branch);
	unsigned events = 0;

	reference_pass_clocks(unit, lp, insn->cycles);
	if (taken)
		reference_last_branch(unit, lp, &branch);
	for (unsigned owner = 0; owner < unit->threads; owner++)
		events |= retire_on(unit, owner, lp, insn);
	if (taken)
		reference_store_branch(unit, lp, &branch);
	for (unsigned owner = 0; owner < unit->threads; owner++)
		events |= reference_deliver_pmi(unit, owner);
	return events;
}

/*
 * One clock in which `signals` take place and nothing retires.  gain[] gets
 * what each counter gained; true when one overflowed.
 */
static bool one_clock(struct reference *unit, unsigned lp, uint64_t signals, unsigned cpl,
		      uint64_t gain[SPMU_THREADS_MAX][REFERENCE_COUNTERS])
{
	bool overflowed = false;

	for (unsigned owner = 0; owner < unit->threads; owner++) {
		bool interrupt = false;

		for (unsigned n = 0; n < unit->generals + unit->family->fixed; n++) {
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
			v.counter->armed |= is_pebs(unit, owner, n);
			interrupt |= v.interrupt;
		}
		if (interrupt)
			reference_request_pmi(unit, owner);
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
		     uint64_t gain[SPMU_THREADS_MAX][REFERENCE_COUNTERS])
{
	unsigned counters = unit->generals + unit->family->fixed;

	for (unsigned owner = 0; owner < unit->threads; owner++)
		for (unsigned n = 0; n < counters; n++) {
			unsigned bits =
				n < unit->generals ? unit->family->bits : unit->family->fixed_bits;
			uint64_t room =
				((UINT64_C(1) << bits) - 1) - counter_of(unit, owner, n)->value;

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
	uint64_t gain[SPMU_THREADS_MAX][REFERENCE_COUNTERS];
	unsigned events = 0, quiet = 0;

	signals &= SPMU_SIGBIT(CYCLES) | SPMU_SIGBIT(REF_CYCLES);
	if (signals & SPMU_SIGBIT(CYCLES))
		reference_pass_clocks(unit, lp, clocks < 0xffff ? clocks : 0xffff);
	while (clocks) {
		quiet = one_clock(unit, lp, signals, cpl, gain) ? 0 : quiet + 1;
		clocks--;
		for (unsigned owner = 0; owner < unit->threads; owner++)
			events |= reference_deliver_pmi(unit, owner);
		/* The third clock after an overflow is like all that follow it. */
		if (quiet >= 3)
			clocks -= skip(unit, clocks, gain);
	}
	return events;
}
