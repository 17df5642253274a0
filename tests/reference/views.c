/* SPDX-License-Identifier: MIT */
/*
 * views.c: brings the registers of a counter into the form that gain.c and reference.c use: event
 * select registers (18.2.1.1; the P6 family: 18.22.1) and fixed counters (18.2.2). CESR is in
 * pentium.c, ESCRs and CCCRs are in netburst.c.
 */
#include "reference.h"

#define SELECT_USR    (UINT64_C(1) << 16)
#define SELECT_OS     (UINT64_C(1) << 17)
#define SELECT_E      (UINT64_C(1) << 18)
#define SELECT_PC     (UINT64_C(1) << 19)
#define SELECT_INT    (UINT64_C(1) << 20)
#define SELECT_ANY    (UINT64_C(1) << 21)
#define SELECT_EN     (UINT64_C(1) << 22)
#define SELECT_INV    (UINT64_C(1) << 23)
#define STATUS_CTRFRZ (UINT64_C(1) << 59)
#define DEBUGCTL_PB0  (UINT64_C(1) << 2)

/* Returns the signals of an event, or 0 if the host does not supply them all (signals.h). */
uint64_t reference_supplied(const struct reference *unit, uint64_t signals)
{
	return signals & ~(unit->host.supply.exact | unit->host.supply.modelled) ? 0 : signals;
}

/* Returns true if the host supplies the tally (tallies.h). */
bool reference_tally_supplied(const struct reference *unit, unsigned kind)
{
	return spmu_tally_set_has(&unit->host.supply.exact_tallies, kind) ||
	       spmu_tally_set_has(&unit->host.supply.modelled_tallies, kind);
}

/*
 * Adds an event to a counter. Kinds of branches with BRANCH_MISS or BRANCH_PREDICTED are branches
 * that were mispredicted, or that were not (signals.h). The host reports only mispredictions.
 */
void reference_add_event(const struct reference *unit, struct reference_view *v,
			 const struct spmu_event *event)
{
	const uint64_t miss = SPMU_SIGBIT(BRANCH_MISS), hit = SPMU_SIGBIT(BRANCH_PREDICTED);
	uint64_t signals = event->signals;
	uint64_t kinds = signals & SPMU_SIGSET_BRANCHES;

	if (event->tally && !reference_tally_supplied(unit, event->tally))
		return;
	if (event->tally)
		spmu_tally_set_add(&v->tallies, event->tally);
	if (!kinds || !(signals & (miss | hit))) {
		v->signals |= reference_supplied(unit, signals);
	} else if (reference_supplied(unit, kinds | miss)) {
		v->missed |= signals & miss ? kinds : 0;
		v->predicted |= signals & hit ? kinds : 0;
	}
	v->missed &= ~v->signals;
	v->predicted &= ~v->signals;
}

/*
 * Returns GLOBAL_CTRL & !CTR_FRZ (18.2.4.1). The first version and earlier units have neither
 * (18.2.1).
 */
static bool globally(const struct reference *unit, unsigned lp, unsigned bit)
{
	const struct reference_thread *t = &unit->thread[lp];

	return unit->family->version < 2 ||
	       ((t->global_control >> bit & 1) && !(t->global_status & STATUS_CTRFRZ));
}

/* Returns the threads that a counter of this owner listens to. AnyThread means both (18.2.3). */
static unsigned threads_of(const struct reference *unit, unsigned owner, bool any)
{
	any = any && unit->defect != REFERENCE_ANY_IGNORED && !unit->family->any_ignored;
	return any ? (1u << unit->threads) - 1 : 1u << owner;
}

/*
 * Returns true if the condition holds in each clock. Reading: it holds for an event of retirement
 * with INV, a CMASK of 16 or more and no edge detection. No processor retires so much in a clock.
 * If the host has clocks, the counter then counts clocks. Each instruction has at least one
 * micro-operation.
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
	return event->signals == SPMU_SIGBIT(INSTRUCTIONS);
}

/*
 * Returns true if the counter makes records. Precise events need AnyThread, Edge, Invert and CMask
 * of 0 (18.9.4, 18.13.1), but processors accept the last two. With extended PEBS any event and
 * fixed counters make records.
 */
static bool is_pebs(const struct reference *unit, unsigned lp, unsigned n)
{
	const struct reference_thread *t = &unit->thread[lp];
	const struct family *family = unit->family;

	if (t->smm && unit->defect != REFERENCE_SMM_RECORDS)
		return false; /* 17.4.9 */
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
	return !(t->select[n] & SELECT_E) && (family->any_ignored || !(t->select[n] & SELECT_ANY));
}

/*
 * Returns true for reduced skid (18.7.1.2): all precise events have it. It is "disabled for any
 * counter when the INV, ANY, E, or CMASK fields are set".
 */
static bool has_reduced_skid(const struct reference *unit, unsigned lp, unsigned n)
{
	const struct spmu_event *event = unit->thread[lp].event[n];
	uint64_t disabling = SELECT_INV | SELECT_ANY | SELECT_E | UINT64_C(0xff000000);

	if (unit->defect == REFERENCE_SKID_IGNORED)
		return false;
	if (unit->defect == REFERENCE_SKID_WITH_ANY)
		disabling &= ~SELECT_ANY;
	return !(unit->thread[lp].select[n] & disabling) && event &&
	       (event->pebs_counters >> n & 1);
}

/*
 * Returns true for PDIR, which traps on the instruction that overflows (18.9.4.4). It exists for
 * one event on one counter. Reading: with a threshold that is another event (table 18-56). On the
 * 10th generation fixed counter 0 has it.
 */
static bool is_pdir(const struct reference *unit, unsigned lp, unsigned n)
{
	const struct family *family = unit->family;
	uint64_t select = n < unit->generals ? unit->thread[lp].select[n] : 0;
	uint64_t threshold = select & (SELECT_INV | UINT64_C(0xff000000));

	if (n < unit->generals && (family->skid_generals >> n & 1))
		return has_reduced_skid(unit, lp, n);
	if (unit->defect == REFERENCE_PDIR_IGNORED)
		return false;
	if (n >= unit->generals)
		return family->pdir_fixed >> (n - unit->generals) & 1;
	if (!(family->pdir_generals >> n & 1) ||
	    (threshold && unit->defect != REFERENCE_PDIR_WITH_CMASK))
		return false;
	return (select & 0xffff) == family->pdir_event ||
	       unit->defect == REFERENCE_PDIR_OF_ANY_EVENT;
}

/*
 * Returns true if any instruction makes the record. Extended PEBS of an event that is not precise
 * takes "the next opportunity" (18.7.1). Reading: the next instruction of the thread in a ring that
 * the counter counts, and so for clocks, too.
 */
bool reference_takes_any(const struct reference *unit, unsigned owner, unsigned n)
{
	const struct spmu_event *event;

	if (n >= unit->generals)
		return n > unit->generals; /* the first counts instructions */
	event = unit->thread[owner].event[n];
	if (always_fewer(unit, event, unit->thread[owner].select[n]))
		return true;
	return unit->family->extended_pebs && event && !(event->pebs_counters >> n & 1);
}

/*
 * Returns true if the counter is enabled. EN of the first register enables all counters of a P6
 * (18.22.1).
 */
static bool is_enabled(const struct reference *unit, const struct reference_thread *t, unsigned n)
{
	bool first = unit->family->enable_first && unit->defect != REFERENCE_ENABLE_PER_COUNTER;

	return t->select[first ? 0 : n] & SELECT_EN;
}

/*
 * Returns what toggles the pin (18.2.1.1, 18.22.1). The PBi flags give the pin to breakpoints
 * (17.14.1).
 */
static enum reference_pin pin_of(const struct reference *unit, const struct reference_thread *t,
				 unsigned n)
{
	bool control = t->select[n] & SELECT_PC;

	if (n < 2 && unit->family->debugctl & t->debugctl & DEBUGCTL_PB0 << n)
		return PIN_IDLE;
	if (unit->defect == REFERENCE_PIN_CONTROL_SWAPPED)
		control = !control;
	return control ? PIN_AT_COUNT : PIN_AT_OVERFLOW;
}

/*
 * Sets the condition of 18.2.1.1: edge detection without CMASK takes a clock with any occurrence.
 * INV needs CMASK, and EQ of version 6, too.
 */
static void set_condition(const struct reference *unit, struct reference_view *v, uint64_t select)
{
	unsigned cmask = select >> 24 & 0xff;

	v->edge = (select & SELECT_E) && unit->defect != REFERENCE_EDGE_IGNORED;
	v->invert = (select & SELECT_INV) && cmask && unit->defect != REFERENCE_INVERT_IGNORED;
	v->equal = (select >> 36 & 1) && cmask && unit->defect != REFERENCE_EQUAL_IGNORED;
	v->at_least = cmask ? cmask : v->edge;
	if (unit->defect == REFERENCE_CMASK_EXCLUSIVE && cmask)
		v->at_least++;
}

/*
 * Returns the event that the list has for this code with this condition, or NULL. Reading: if the
 * host supplies it, it counts by itself, and the condition is not applied again.
 */
static const struct spmu_event *by_itself(const struct reference *unit, uint64_t select, unsigned n)
{
	uint64_t condition = select & (SELECT_E | SELECT_INV | UINT64_C(0xff000000));
	const struct spmu_event *event;

	if (!condition)
		return NULL;
	event = spmu_event_by_code(unit->model, condition | (select & UINT64_C(0xff000000ffff)));
	if (!event || !(event->counters >> n & 1) ||
	    (event->tally && !reference_tally_supplied(unit, event->tally)) ||
	    (event->signals && !reference_supplied(unit, event->signals)))
		return NULL;
	return event;
}

static struct reference_view view_general(struct reference *unit, unsigned lp, unsigned n)
{
	struct reference_thread *t = &unit->thread[lp];
	const struct spmu_event *event = t->event[n], *own = by_itself(unit, t->select[n], n);
	uint64_t select = t->select[n];
	unsigned threads;
	struct reference_view v = {.counter = &t->general[n], .bits = unit->family->bits};

	if (!is_enabled(unit, t, n) || !globally(unit, lp, n))
		return v;
	threads = threads_of(unit, lp, select & SELECT_ANY);
	v = (struct reference_view){
		.counter = v.counter,
		.bits = v.bits,
		.enabled = true,
		.user = select & SELECT_USR ? threads : 0,
		.system = select & SELECT_OS ? threads : 0,
		.interrupts = select & SELECT_INT ? 1u << lp : 0,
		.records = is_pebs(unit, lp, n) ? 1u << lp : 0,
		.at_once = is_pdir(unit, lp, n),
		.record_interrupts = 1u << lp,
		.pin = pin_of(unit, t, n),
		.status_bit = UINT64_C(1) << n,
	};

	/*
	 * Reading: an event counts only on the counters that the table names. If no signal
	 * describes an event, it counts nothing, whatever CMASK and INV are.
	 */
	if (own) {
		reference_add_event(unit, &v, own);
		return v;
	}
	if (event && (event->counters >> n & 1))
		reference_add_event(unit, &v, event);
	set_condition(unit, &v, select);
	if (event && (event->counters >> n & 1) && always_fewer(unit, event, select)) {
		v.signals = SPMU_SIGBIT(CYCLES);
		v.at_least = 0;
		v.invert = v.equal = false;
	}
	return v;
}

static struct reference_view view_fixed(struct reference *unit, unsigned lp, unsigned n)
{
	struct reference_thread *t = &unit->thread[lp];
	unsigned control = t->fixed_control >> (4 * n) & 15;
	unsigned threads = threads_of(unit, lp, control & 4);
	const struct spmu_event *event;
	struct reference_view v;

	if (!(control & 3) || !globally(unit, lp, 32 + n))
		return (struct reference_view){.counter = &t->fixed[n],
					       .bits = unit->family->fixed_bits};
	event = spmu_event_fixed(unit->model, n);
	v = (struct reference_view){
		.counter = &t->fixed[n],
		.bits = unit->family->fixed_bits,
		.enabled = true,
		.system = control & 1 ? threads : 0,
		.user = control & 2 ? threads : 0,
		.interrupts = control & 8 ? 1u << lp : 0,
		.records = is_pebs(unit, lp, unit->generals + n) ? 1u << lp : 0,
		.at_once = is_pdir(unit, lp, unit->generals + n),
		.record_interrupts = 1u << lp,
		.status_bit = UINT64_C(1) << (32 + n),
	};
	if (event)
		reference_add_event(unit, &v, event);
	return v;
}

struct reference_view reference_view(struct reference *unit, unsigned owner, unsigned n)
{
	if (n >= unit->generals)
		return view_fixed(unit, owner, n - unit->generals);
	switch ((enum family_programming)unit->family->programming) {
	case BY_CESR:
		return reference_view_cesr(unit, owner, n);
	case BY_ESCRS:
		return reference_view_escr(unit, n);
	default:
		return view_general(unit, owner, n);
	}
}
