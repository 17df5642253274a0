/* SPDX-License-Identifier: MIT */
/*
 * netburst.c: ESCRs, CCCRs and tags (18.15.1 to 18.15.7; two threads: 18.16.1 to 18.16.3).
 *
 * A core has one set of all this, which thread 0 keeps here. Codes of events are as model.h has
 * them: event select in 5:0, ESCR select in 10:8, block of counters in 13:12, event mask in 31:16.
 */
#include "reference.h"

#define CCCR_EXTENDED  (UINT64_C(1) << 11)
#define CCCR_ENABLE    (UINT64_C(1) << 12)
#define CCCR_COMPARE   (UINT64_C(1) << 18)
#define CCCR_COMPL     (UINT64_C(1) << 19)
#define CCCR_EDGE      (UINT64_C(1) << 24)
#define CCCR_FORCE_OVF (UINT64_C(1) << 25)
#define CCCR_CASCADE   (UINT64_C(1) << 30)
#define CCCR_OVF       (UINT64_C(1) << 31)

/* Classes of table 19-29 and 19-30: block IQ, ESCR select, event select. */
#define UOP_TYPE	0x3202u
#define INSTR_RETIRED	0x3402u
#define FRONT_END_EVENT 0x3508u
#define REPLAY_EVENT	0x3509u
#define EXECUTION_EVENT 0x350cu

/* What one ESCR selects. */
struct selection {
	unsigned code, mask; /* class, and which of its events */
	unsigned system, user;
	unsigned tag; /* 0: it does not tag */
	uint32_t counters;
};

/*
 * Returns true for events without a thread (table 19-34: TI): all events of MSR_FIRM_ESCR0 and 1,
 * and four classes of other ESCRs.
 */
static bool has_no_thread(unsigned code)
{
	return (code & 0x3700) == 0x2100 || code == 0x0617 || code == 0x0401 || code == 0x1101 ||
	       code == 0x2505;
}

static struct selection selection_of(const struct reference *unit, const struct family_escr *escr)
{
	uint64_t value = unit->thread[0].escr[escr->msr - FAMILY_ESCR_FIRST];
	unsigned first = (unsigned)__builtin_ctz(escr->counters);
	unsigned block = first >= 12 ? 3 : first / 4;
	unsigned both = unit->threads == 2 ? 3 : 1;
	struct selection s = {
		.code = block << 12 | (unsigned)escr->select << 8 | (unsigned)(value >> 25 & 0x3f),
		.mask = (unsigned)(value >> 9 & 0xffff),
		.user = (value >> 2 & 1) | (value >> 0 & 1) << 1,
		.system = (value >> 3 & 1) | (value >> 1 & 1) << 1,
		.tag = value >> 4 & 1 ? (unsigned)(value >> 5 & 15) : 0,
		.counters = escr->counters,
	};

	if (unit->defect == REFERENCE_QUALIFIER_SWAPPED) {
		s.user = s.user >> 1 | (s.user & 1) << 1;
		s.system = s.system >> 1 | (s.system & 1) << 1;
	}
	s.user &= both;
	s.system &= both;
	if (has_no_thread(s.code) && unit->threads == 2 && unit->defect != REFERENCE_THREAD_ASKED) {
		s.user = s.user ? both : 0; /* table 18-67 */
		s.system = s.system ? both : 0;
	}
	return s;
}

/*
 * Returns the ESCR, or NULL if the family lacks it or if it is 0 and so neither selects nor tags.
 */
static const struct family_escr *in_use(const struct reference *unit, uint32_t msr)
{
	return unit->thread[0].escr[msr - FAMILY_ESCR_FIRST] ? family_escr(unit->family, msr)
							     : NULL;
}

/*
 * Looks up the events that a selection's mask contains completely and that these counters can
 * count.
 */
static struct reference_view look_up(const struct reference *unit, const struct selection *s,
				     uint32_t counters)
{
	size_t count = spmu_event_count(unit->model);
	struct reference_view v = {.signals = 0};

	for (size_t i = 0; i < count; i++) {
		const struct spmu_event *event = spmu_event_at(unit->model, i);

		if ((event->code & 0xffff) == s->code && !(event->code >> 16 & ~s->mask) &&
		    (event->counters & counters))
			reference_add_event(unit, &v, event);
	}
	return v;
}

/* Does the same. Each instruction asks for a few selections, so answers are kept. */
static struct reference_view signals_of(const struct reference *unit, const struct selection *s,
					uint32_t counters)
{
	static struct answer {
		const struct spmu_model *model;
		uint64_t supply;
		uint32_t code, mask, counters;
		struct reference_view view;
	} answers[256];
	uint64_t supply = unit->host.supply.exact | unit->host.supply.modelled;
	struct answer *a =
		&answers[(s->code ^ s->code >> 8 ^ s->mask * 7 ^ counters % 251 * 5) % 256];

	if (a->model != unit->model || a->supply != supply || a->code != s->code ||
	    a->mask != s->mask || a->counters != counters)
		*a = (struct answer){unit->model, supply,   s->code,
				     s->mask,	  counters, look_up(unit, s, counters)};
	return a->view;
}

/* Signals that carry a tag, and the threads for which they were tagged. */
struct tags {
	uint64_t signals;
	unsigned system, user;
	struct spmu_tally_set tallies; /* of replays, which are tagged for all threads */
};

static void put_tag(struct tags *tags, uint64_t signals, unsigned system, unsigned user)
{
	if (!signals)
		return;
	tags->signals |= signals;
	tags->system |= system;
	tags->user |= user;
}

/* Returns what uop_type tags: loads and stores (table 19-31). */
static struct tags front_end_tags(const struct reference *unit)
{
	struct tags tags = {.signals = 0};

	for (uint32_t msr = FAMILY_ESCR_FIRST; msr <= FAMILY_ESCR_LAST; msr++) {
		const struct family_escr *escr = in_use(unit, msr);

		if (!escr)
			continue;
		struct selection s = selection_of(unit, escr);

		if (s.code == UOP_TYPE && (s.mask & 2))
			put_tag(&tags, reference_supplied(unit, SPMU_SIGBIT(LOADS)), s.system,
				s.user);
		if (s.code == UOP_TYPE && (s.mask & 4))
			put_tag(&tags, reference_supplied(unit, SPMU_SIGBIT(STORES)), s.system,
				s.user);
	}
	return tags;
}

/*
 * Returns execution tags (table 19-32). ESCRs with TAG_ENABLE set their tag value on what their
 * event counts.
 */
static struct tags execution_tags(const struct reference *unit, unsigned values)
{
	struct tags tags = {.signals = 0};

	for (uint32_t msr = FAMILY_ESCR_FIRST; msr <= FAMILY_ESCR_LAST; msr++) {
		const struct family_escr *escr = in_use(unit, msr);

		if (!escr)
			continue;
		struct selection s = selection_of(unit, escr);

		if (s.tag & values)
			put_tag(&tags, signals_of(unit, &s, s.counters).signals, s.system, s.user);
	}
	return tags;
}

static void put_tally(const struct reference *unit, struct tags *tags, unsigned kind)
{
	if (!reference_tally_supplied(unit, kind))
		return;
	spmu_tally_set_add(&tags->tallies, kind);
	tags->system = tags->user = 3;
}

/*
 * Returns replay tags (table 19-33): by bits of IA32_PEBS_ENABLE with UOP_TAG (24) and by bits of
 * MSR_PEBS_MATRIX_VERT. Loads are bit 0 of the latter, stores bit 1, branches bit 4.
 */
static struct tags replay_tags(const struct reference *unit)
{
	const struct reference_thread *t = &unit->thread[0];
	bool loads = t->matrix_vert & 1, stores = t->matrix_vert & 2;
	struct tags tags = {.signals = 0};

	if (!(t->pebs_enable >> 24 & 1))
		return tags;
	if ((t->pebs_enable & 1) && loads)
		put_tally(unit, &tags, SPMU_TALLY_LOAD_L1_MISSES);
	if ((t->pebs_enable & 2) && loads)
		put_tally(unit, &tags, SPMU_TALLY_LOAD_L2_MISSES);
	if ((t->pebs_enable & 4) && loads)
		put_tally(unit, &tags, SPMU_TALLY_LOAD_STLB_MISSES);
	if ((t->pebs_enable & 4) && stores)
		put_tally(unit, &tags, SPMU_TALLY_STORE_STLB_MISSES);
	if ((t->pebs_enable & 0x18000) == 0x18000 && (t->matrix_vert & 0x10))
		put_tag(&tags, reference_supplied(unit, SPMU_SIGBIT(BRANCH_MISS)), 3, 3);
	return tags;
}

static bool is_tagged_class(unsigned code)
{
	return code == FRONT_END_EVENT || code == EXECUTION_EVENT || code == REPLAY_EVENT;
}

/* Returns what a counter of tagged micro-operations counts. */
static struct tags tags_of(const struct reference *unit, const struct selection *s)
{
	if (s->code == EXECUTION_EVENT)
		return execution_tags(unit, s->mask & 15);
	if (!(s->mask & 1))
		return (struct tags){.signals = 0};
	return s->code == FRONT_END_EVENT ? front_end_tags(unit) : replay_tags(unit);
}

/*
 * Splits instr_retired into instructions that the front end tagged (mask bit 1) and others (0).
 * Reading: while anything is tagged, hosts do not know the number of the others. They know that of
 * the tagged ones if one signal describes them. Both bits together count all in any case.
 */
static void split_instructions(const struct reference *unit, struct selection *s, uint64_t *signals)
{
	struct tags tags = front_end_tags(unit);
	unsigned which = s->mask & 3;

	*signals = 0;
	if (s->code != INSTR_RETIRED || which == 3 || !tags.signals)
		return;
	s->mask &= ~which;
	if (which != 2 || __builtin_popcountll(tags.signals) > 1)
		return;
	*signals = tags.signals;
	s->system &= tags.system;
	s->user &= tags.user;
}

/*
 * Returns true if the active threads match the field (18.16.2): 0 none, 1 a single one, 2 both, 3
 * any.
 */
static bool threads_suit(const struct reference *unit, uint64_t cccr)
{
	unsigned active = 0, wanted = cccr >> 16 & 3;

	if (unit->defect == REFERENCE_ACTIVE_THREADS_IGNORED)
		return true;
	for (unsigned lp = 0; lp < unit->threads; lp++)
		active += !unit->thread[lp].halted;
	return wanted == 3 ? active > 0 : active == wanted;
}

/*
 * Returns the threads of 18.16.3: the bits of the thread that reads or writes, kept as thread 0
 * sees them.
 */
static unsigned records_for(const struct reference *unit, unsigned n)
{
	uint64_t enable = unit->thread[0].pebs_enable;

	if (n == 16)
		return enable >> 25 & 1 ? 1 : 0;
	if (n == 17 && unit->threads == 2)
		return enable >> 26 & 1 ? 2 : 0;
	return 0;
}

static unsigned interrupts_of(const struct reference *unit, uint64_t cccr)
{
	unsigned first = cccr >> 26 & 1, second = cccr >> 27 & 1;

	if (unit->threads < 2)
		return first;
	if (unit->defect == REFERENCE_PMI_TO_THREAD_0)
		return first | second;
	return first | second << 1;
}

/*
 * Sets the condition of 18.15.3: more than the threshold, or at most as many with COMPLEMENT. EDGE
 * needs COMPARE.
 */
static void set_condition(const struct reference *unit, struct reference_view *v, uint64_t cccr)
{
	if (!(cccr & CCCR_COMPARE))
		return;
	v->at_least = (cccr >> 20 & 15) + 1;
	v->invert = cccr & CCCR_COMPL;
	v->edge = cccr & CCCR_EDGE;
	if (unit->defect == REFERENCE_THRESHOLD_INCLUSIVE && v->at_least > 1)
		v->at_least--;
}

/* Returns the ESCR that the CCCR connects. With a defect: the first that is selected at all. */
static const struct family_escr *connected(const struct reference *unit, unsigned n, uint64_t cccr)
{
	if (unit->defect != REFERENCE_ESCR_SELECT_IGNORED)
		return family_escr_of(unit->family, n, cccr >> 13 & 7);
	for (uint32_t msr = FAMILY_ESCR_FIRST; msr <= FAMILY_ESCR_LAST; msr++) {
		const struct family_escr *escr = family_escr(unit->family, msr);

		if (escr && (escr->counters >> n & 1) &&
		    unit->thread[0].escr[msr - FAMILY_ESCR_FIRST])
			return escr;
	}
	return NULL;
}

/*
 * Sets clocks by 18.17.2: with COMPLEMENT and the largest threshold a counter counts every clock,
 * whatever the event and the rings. Reading: of both threads, but not where PEBS waits for the
 * event itself.
 */
static void set_clocks(struct reference *unit, struct reference_view *v, uint64_t cccr)
{
	uint64_t clocks = reference_supplied(unit, SPMU_SIGBIT(CYCLES));

	if ((cccr & (CCCR_COMPARE | CCCR_COMPL | CCCR_EDGE)) != (CCCR_COMPARE | CCCR_COMPL) ||
	    (cccr >> 20 & 15) != 15 || v->records || !clocks ||
	    unit->defect == REFERENCE_CLOCKS_BY_EVENT)
		return;
	v->signals = clocks;
	v->predicted = v->missed = 0;
	v->tallies = (struct spmu_tally_set){{0}};
	v->system = v->user = unit->threads == 2 ? 3 : 1;
	v->at_least = 0;
	v->invert = false;
}

/*
 * Returns true if counter `by` starts n through CCCRn.CASCADE: the partner in the other pair
 * (18.15.2).
 */
static bool is_partner(unsigned n, unsigned by)
{
	if (n >= 16) /* of the third pair, which starts nothing that way (18.15.5.7) */
		return by == n - 2;
	return by == (n ^ 2);
}

/*
 * Returns true for the pairs of table 18-65: CASCNT4INTO0, CASCNT5INTO3, CASCNT5INTO4,
 * CASCNT4INTO5.
 */
static bool is_extended(unsigned n, unsigned by)
{
	return (n == 12 && by == 16) || (n == 15 && by == 17) || (n == 16 && by == 17) ||
	       (n == 17 && by == 16);
}

/*
 * Returns true if the counter was started by a cascade (18.15.5.5): CASCADE of the counter and OVF
 * of its starter are set. Clearing either halts it. Reading: ENABLE stays 0.
 */
static bool cascaded(const struct reference *unit, unsigned n)
{
	const struct reference_thread *t = &unit->thread[0];

	for (unsigned by = 0; by < unit->generals; by++) {
		if (!(t->select[by] & CCCR_OVF))
			continue;
		if ((t->select[n] & CCCR_CASCADE) && is_partner(n, by) &&
		    unit->defect != REFERENCE_CASCADE_IGNORED)
			return true;
		if ((t->select[n] & CCCR_EXTENDED) && is_extended(n, by) &&
		    unit->defect != REFERENCE_EXTENDED_CASCADE_IGNORED)
			return true;
	}
	return false;
}

struct reference_view reference_view_escr(struct reference *unit, unsigned n)
{
	struct reference_thread *t = &unit->thread[0];
	uint64_t cccr = t->select[n];
	bool enabled = (cccr & CCCR_ENABLE) || cascaded(unit, n);
	const struct family_escr *escr = enabled ? connected(unit, n, cccr) : NULL;
	struct reference_view v = {
		.counter = &t->general[n],
		.bits = unit->family->bits,
		.enabled = escr && threads_suit(unit, cccr),
		.interrupts = interrupts_of(unit, cccr),
		.late = unit->defect != REFERENCE_PMI_AT_OVERFLOW,
		.force = (cccr & CCCR_FORCE_OVF) && unit->defect != REFERENCE_FORCE_IGNORED,
		.status_bit = CCCR_OVF,
	};

	set_condition(unit, &v, cccr);
	if (!v.enabled)
		return v;
	struct selection s = selection_of(unit, escr);

	if (!is_tagged_class(s.code)) {
		split_instructions(unit, &s, &v.signals);
		struct reference_view events = signals_of(unit, &s, 1u << n);

		v.signals |= events.signals;
		v.predicted = events.predicted & ~v.signals;
		v.missed = events.missed & ~v.signals;
		v.tallies = events.tallies;
		v.system = s.system;
		v.user = s.user;
		set_clocks(unit, &v, cccr);
		return v;
	}
	struct tags tags = tags_of(unit, &s);

	v.records = records_for(unit, n);
	/* Reading: with PEBS its interrupts are those of the buffer's threshold (18.15.7). */
	v.record_interrupts = v.interrupts;
	if (v.records)
		v.interrupts = 0;
	for (unsigned lp = 0; lp < unit->threads; lp++)
		if (unit->thread[lp].smm && unit->defect != REFERENCE_SMM_RECORDS)
			v.records &= ~(1u << lp); /* 17.4.9 */
	if (unit->defect == REFERENCE_TAGS_IGNORED)
		tags = (struct tags){signals_of(unit, &s, 1u << n).signals, 3, 3, {{0}}};
	v.signals = tags.signals;
	v.tallies = tags.tallies;
	/* Reading: what one ESCR tags in a ring counts in all rings in which any ESCR tags. */
	v.system = s.system & tags.system;
	v.user = s.user & tags.user;
	set_clocks(unit, &v, cccr);
	return v;
}
