/* SPDX-License-Identifier: MIT */
/*
 * escr.c: the counters of NetBurst (18.15.1 to 18.15.5; two threads: 18.16.1, 18.16.2). CCCRn
 * connects counter n with one of the ESCRs of its block. The ESCR selects events of a class and,
 * for each thread, the rings in which they count. tagging.c has what ESCRs tag.
 *
 * A counter adds up all events that its ESCR's mask selects. If a host does not report some of
 * them, the others count.
 *
 * An overflow sets the sticky flag CCCRn.OVF. The interrupt comes with the next count (18.15.3).
 * With PEBS, OVF_PMI asks for the interrupt of the buffer's threshold instead (table 18-11).
 *
 * A cascaded counter counts while its CASCADE flag and its partner's OVF flag are set. Clearing
 * either flag halts it (18.15.5.5). So these two flags are the whole state of a cascade, and the
 * counter's ENABLE flag stays 0. A core has one set of these registers, so thread 0 has the
 * counters of both threads.
 */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"
#include "src/pmu/escr.h"
#include "src/pmu/records.h"

/* No event happens more often in a clock. It is also the largest threshold. */
#define EVENTS_IN_A_CLOCK 15

/* Finds the ESCR that a CCCR connects with counter n. Returns false if there is none. */
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

/* Returns true if the number of active threads is the one that the CCCR asks for (18.16.2). */
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
 * "At most 15" holds in each clock, whatever the event and the rings. Software uses that to count
 * clocks by any event (18.17.2), and Linux by an ESCR that Prescott does not have. The clocks of
 * two threads add up, because hosts run the threads in turns.
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
	counter->tallied = false;
	counter->at_least = 0;
	counter->invert = false;
	for (unsigned lp = 0; lp < core->threads; lp++)
		counter->rings[lp] = SPMU_RING0 | SPMU_RING_USER;
}

/* Returns the counters that would start counter n, by the bits that are set. */
static uint32_t starters(const struct spmu_core *core, uint64_t cccr, unsigned n)
{
	const struct escr_layout *layout = core->model->counters->escrs;

	return (cccr & FIELD(CCCR, CASCADE) ? layout->cascade[n] : 0) |
	       (cccr & FIELD(CCCR_IQ_0, CASCNT4INTO0) ? layout->extended[n] : 0);
}

/*
 * Returns true if counter n is enabled, by its own flag or by the overflow of a starter
 * (18.15.5.3).
 */
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

/*
 * Sets up one counter. Returns false if it does not count, and would not count if another counter
 * started it.
 */
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
	*counter = (struct counter){.tallies = &thread->counter_tallies[n]};
	if (tagging_counts(core, &selection)) {
		tagging_select(core, &selection, counter);
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
	if (!counter_counts(counter) && (counter->rings[0] | counter->rings[1]))
		thread->absent |= 1u << n;
	return counter_counts(counter) && (counter->rings[0] | counter->rings[1]);
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

/* Returns the counters whose overflow may still have to interrupt. */
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
