/* SPDX-License-Identifier: MIT */
/*
 * escr.c: the counters of NetBurst (18.15.1 to 18.15.5; two threads: 18.16.1, 18.16.2).  CCCRn
 * connects counter n with one of the ESCRs of its block, which selects events of a class and,
 * for each thread, the rings in which they count.  What ESCRs tag is in tagging.c.
 *
 * A counter adds up all events that its ESCR's mask selects.  Of a mask that selects events
 * which no host reports as well, those that are reported count.
 *
 * Overflow sets the sticky CCCRn.OVF; the interrupt comes with the next count (18.15.3).  With PEBS
 * OVF_PMI asks for that of the buffer's threshold instead (table 18-11).
 *
 * A cascaded counter counts while its CASCADE flag and its partner's OVF flag are set: clearing
 * either halts it (18.15.5.5).  So the two flags are all there is to know of a cascade, and its
 * ENABLE flag stays 0.  A core has all of this once, so thread 0 has the counters of both.
 */
#include "src/pmu/core.h"

/* No event happens more often in a clock; it is the largest threshold, too. */
#define EVENTS_IN_A_CLOCK 15

/* BPU, MS, FLAME, IQ: four counters each, and six (table 18-63). */
static unsigned block_of(unsigned counter)
{
	return counter / 4 < 3 ? counter / 4 : 3;
}

/* What an ESCR selects, as event codes have it, without the mask; nonsense for absent ones. */
static uint32_t code_of(const struct escr *escr, uint64_t value)
{
	unsigned first = (unsigned)__builtin_ctz(escr->counters);

	return block_of(first) << 12 | (uint32_t)escr->select << 8 |
	       (uint32_t)((value & FIELD(ESCR, EVENT_SELECT)) >> FIELD_LOW(ESCR, EVENT_SELECT));
}

/*
 * Table 18-67: an event that cannot be qualified by thread counts for both in the rings that the
 * flags name for either.
 */
static void ignore_threads(const struct spmu_core *core, struct escr_selection *selection)
{
	const struct escr_layout *layout = core->model->counters->escrs;

	for (unsigned i = 0; i < layout->independents; i++)
		if (layout->independent[i] == selection->code)
			selection->rings[0] = selection->rings[1] |= selection->rings[0];
}

struct escr_selection escr_selection(const struct spmu_core *core, unsigned number)
{
	uint64_t value = core->thread[0].state.reg[SLOT_ESCR + number];
	struct escr_selection selection = {
		.code = code_of(&core->model->counters->escrs->escr[number], value),
		.mask = (uint32_t)((value & FIELD(ESCR, EVENT_MASK)) >>
				   FIELD_LOW(ESCR, EVENT_MASK)),
		.rings = {(uint8_t)((value & FIELD(ESCR, T0_OS) ? SPMU_RING0 : 0) |
				    (value & FIELD(ESCR, T0_USR) ? SPMU_RINGX : 0)),
			  (uint8_t)((value & FIELD(ESCR, T1_OS) ? SPMU_RING0 : 0) |
				    (value & FIELD(ESCR, T1_USR) ? SPMU_RINGX : 0))},
	};

	if (value & FIELD(ESCR, TAG_ENABLE))
		selection.tag =
			(uint8_t)((value & FIELD(ESCR, TAG_VALUE)) >> FIELD_LOW(ESCR, TAG_VALUE));
	if (core->threads < 2)
		selection.rings[1] = 0;
	else
		ignore_threads(core, &selection);
	return selection;
}

/* The ESCR that a CCCR connects with counter n; false: none. */
static bool connected(const struct escr_layout *layout, unsigned n, uint64_t cccr, unsigned *escr)
{
	unsigned select =
		(unsigned)((cccr & FIELD(CCCR, ESCR_SELECT)) >> FIELD_LOW(CCCR, ESCR_SELECT));

	for (*escr = 0; *escr < ESCR_MAX; ++*escr)
		if (layout->escr[*escr].select == select &&
		    (layout->escr[*escr].counters >> n & 1) && !(layout->absent >> *escr & 1))
			return true;
	return false;
}

/* Whether as many threads are active as the CCCR asks for (18.16.2). */
static bool threads_active(const struct spmu_core *core, uint64_t cccr)
{
	const unsigned any = 3;
	unsigned wanted =
		(unsigned)((cccr & FIELD(CCCR, ACTIVE_THREAD)) >> FIELD_LOW(CCCR, ACTIVE_THREAD));
	unsigned active = 0;

	for (unsigned lp = 0; lp < core->threads; lp++)
		active += !core->thread[lp].state.halted;
	return wanted == any ? active != 0 : active == wanted;
}

/* The counter counts all events that a selection's mask holds whole. */
void escr_count(const struct spmu_core *core, const struct escr_selection *selection,
		uint32_t counters, struct counter *counter)
{
	for (unsigned p = 0; p < EVENT_PARTS_MAX; p++) {
		const struct event_part *part = &core->model->events->part[p];

		for (size_t i = 0; i < part->count; i++) {
			const struct spmu_event *event = &part->event[i];

			if ((event->code & UINT16_MAX) == selection->code &&
			    !(event->code >> 16 & ~selection->mask) &&
			    (event->counters & counters) && signals_supplied(core, event->signals))
				counter_adds(counter, event->signals);
		}
	}
}

static void set_rest(const struct spmu_core *core, struct counter *counter, unsigned n,
		     uint64_t cccr)
{
	counter->status = has_erratum(core, ERRATUM_OVERFLOW_UNFLAGGED) ? 0 : FIELD(CCCR, OVF);
	counter->status_slot = (uint16_t)(SLOT_PERFEVTSEL + n);
	counter->late = true;
	counter->force = (cccr & FIELD(CCCR, FORCE_OVF)) != 0;
	counter->pmi = cccr & FIELD(CCCR, OVF_PMI_T0) ? 1 : 0;
	if ((cccr & FIELD(CCCR, OVF_PMI_T1)) && core->threads > 1)
		counter->pmi |= 2;
	if (has_erratum(core, ERRATUM_CASCADE_PMI) && (cccr & FIELD(CCCR, CASCADE)))
		counter->pmi = 0;
	if (counter->precise) {
		counter->record_pmi = counter->pmi;
		counter->pmi = 0;
	}
	if (!(cccr & FIELD(CCCR, COMPARE)))
		return;
	counter->at_least =
		(uint16_t)(((cccr & FIELD(CCCR, THRESHOLD)) >> FIELD_LOW(CCCR, THRESHOLD)) + 1);
	counter->invert = (cccr & FIELD(CCCR, COMPLEMENT)) != 0;
	counter->edge = (cccr & FIELD(CCCR, EDGE)) != 0;
}

/*
 * "At most 15" holds in each clock, whatever the event and the rings: so software counts clocks by
 * any event (18.17.2), and Linux by an ESCR that Prescott does not have.  The clocks of two threads
 * add up, as hosts let them run by turns.
 */
static bool counts_clocks(const struct spmu_core *core, uint64_t cccr)
{
	return (cccr & FIELD(CCCR, COMPARE)) && (cccr & FIELD(CCCR, COMPLEMENT)) &&
	       !(cccr & FIELD(CCCR, EDGE)) &&
	       (cccr & FIELD(CCCR, THRESHOLD)) >> FIELD_LOW(CCCR, THRESHOLD) == EVENTS_IN_A_CLOCK &&
	       signals_supplied(core, SPMU_SIGBIT(CYCLES));
}

static void set_clocks(const struct spmu_core *core, struct counter *counter)
{
	counter->signals = SPMU_SIGBIT(CYCLES);
	counter->predicted = counter->missed = 0;
	counter->at_least = 0;
	counter->invert = false;
	for (unsigned lp = 0; lp < core->threads; lp++)
		counter->rings[lp] = SPMU_RING0 | SPMU_RINGX;
}

/* Counters that would start counter n, by the bits that are set. */
static uint32_t starters(const struct spmu_core *core, uint64_t cccr, unsigned n)
{
	const struct escr_layout *layout = core->model->counters->escrs;

	return (cccr & FIELD(CCCR, CASCADE) ? layout->cascade[n] : 0) |
	       (cccr & FIELD(CCCR_IQ_0, CASCNT4INTO0) ? layout->extended[n] : 0);
}

/* Whether counter n is enabled, by its own flag or by the overflow of a starter (18.15.5.3). */
static bool enabled(const struct spmu_core *core, const struct thread *thread, unsigned n)
{
	uint64_t cccr = thread->state.reg[SLOT_PERFEVTSEL + n];

	if (cccr & FIELD(CCCR, ENABLE))
		return true;
	for (uint32_t set = starters(core, cccr, n); set;)
		if (thread->state.reg[SLOT_PERFEVTSEL + take_lowest(&set)] & FIELD(CCCR, OVF))
			return true;
	return false;
}

/* Make one counter; false when it neither counts nor would if another one started it. */
static bool update(const struct spmu_core *core, struct thread *thread, unsigned n)
{
	uint64_t cccr = thread->state.reg[SLOT_PERFEVTSEL + n];
	struct counter *counter = &thread->counter[n];
	struct escr_selection selection = {0}; /* no ESCR: no events */
	const unsigned broken = 1;	       /* MSR_BPU_CCCR1 */
	unsigned escr;

	if (n == broken && has_erratum(core, ERRATUM_CCCR1_ENABLE))
		return false;
	if (!(cccr & FIELD(CCCR, ENABLE)) && !starters(core, cccr, n))
		return false;
	if (!threads_active(core, cccr))
		return false;
	if (connected(core->model->counters->escrs, n, cccr, &escr))
		selection = escr_selection(core, escr);
	*counter = (struct counter){0};
	if (tagging_counts(core, &selection)) {
		counter->signals = tagging_select(core, &selection);
		counter->precise = pebs_threads(core, thread->state.reg[SLOT_PEBS_ENABLE], n);
	} else {
		counter_adds(counter, tagging_splits(core, &selection));
		escr_count(core, &selection, 1u << n, counter);
	}
	for (unsigned lp = 0; lp < core->threads; lp++)
		counter->rings[lp] = selection.rings[lp];
	set_rest(core, counter, n, cccr);
	if (counts_clocks(core, cccr) && !counter->precise)
		set_clocks(core, counter);
	counter->precise &= (uint8_t)~threads_in_smm(core);
	if (!counter_signals(counter) && (counter->rings[0] | counter->rings[1]))
		thread->absent |= 1u << n;
	return counter_signals(counter) && (counter->rings[0] | counter->rings[1]);
}

void escr_update(const struct spmu_core *core, struct thread *thread)
{
	uint32_t programmed = 0;

	if (thread_number(core, thread) != 0)
		return;
	for (unsigned n = 0; n < core->general; n++) {
		if (!update(core, thread, n))
			continue;
		programmed |= 1u << n;
		if (enabled(core, thread, n))
			thread->active |= 1u << n;
	}
	for (uint32_t waiting = programmed & ~thread->active; waiting;) {
		unsigned n = take_lowest(&waiting);
		uint32_t set = starters(core, thread->state.reg[SLOT_PERFEVTSEL + n], n);

		set &= thread->active;
		if (set)
			thread->ready |= 1u << n;
		while (set) {
			struct counter *starter = &thread->counter[take_lowest(&set)];

			starter->starts |= starter->status != 0;
		}
	}
}

uint32_t escr_clocked(const struct spmu_core *core, const struct thread_state *state)
{
	uint32_t clocked = 0;

	for (unsigned n = 0; n < core->general; n++)
		if (state->reg[SLOT_PERFEVTSEL + n] & FIELD(CCCR, COMPARE))
			clocked |= 1u << n;
	return clocked;
}

/* Counters whose overflow may still have to interrupt. */
uint32_t escr_flagged(const struct spmu_core *core, const struct thread_state *state)
{
	uint32_t flagged = 0;

	for (unsigned n = 0; n < core->general; n++) {
		uint64_t cccr = state->reg[SLOT_PERFEVTSEL + n];
		bool overflowed =
			(cccr & FIELD(CCCR, OVF)) || has_erratum(core, ERRATUM_OVERFLOW_UNFLAGGED);

		if (overflowed && (cccr & (FIELD(CCCR, OVF_PMI_T0) | FIELD(CCCR, OVF_PMI_T1))))
			flagged |= 1u << n;
	}
	return flagged;
}
