/* SPDX-License-Identifier: MIT */
/*
 * perfevtsel.c: counters with an event select register each, and fixed counters (18.2.1.1, 18.2.2,
 * 18.2.3; the P6 family: 18.22.1).
 *
 * Hosts report nothing that happens inside a transaction, so a counter with IN_TX counts nothing
 * (18.11.5). A record of the precise store event has address and status only if PS_ENABLE of
 * IA32_PEBS_ENABLE is set, too (18.9.4.3).
 */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"
#include "src/pmu/metrics.h"
#include "src/pmu/records.h"

/* Adaptive records, and event logging. The bits are reserved if the family has none. */
#define SELECT_ADAPTIVE BITS(34, 1)
#define SELECT_LOGGED	BITS(35, 1)

/* Bits of an event select that disable PEBS for its counter (notes of table 18-54). */
static uint64_t imprecise_bits(const struct spmu_core *core)
{
	return FIELD(PERFEVTSEL, E) |
	       (core->model->counters->any_ignored ? 0 : FIELD(PERFEVTSEL, ANY));
}

/* No family retires this many instructions or micro-operations in a clock. */
#define RETIRED_IN_A_CLOCK 16

static uint16_t cmask_of(uint64_t select)
{
	return (uint16_t)(select >> FIELD_LOW(PERFEVTSEL, CMASK) & 0xff);
}

/*
 * "Fewer than 16 retire" holds in each clock, and software uses that to count core clocks by events
 * that have PEBS. If the host supplies clocks, they are counted as clocks, many at a time.
 */
static bool counts_clocks(const struct spmu_core *core, const struct spmu_event *event,
			  uint64_t select)
{
	return event->signals == SPMU_SIGBIT(INSTRUCTIONS) && !event->tally &&
	       (select & FIELD(PERFEVTSEL, INV)) && !(select & FIELD(PERFEVTSEL, E)) &&
	       cmask_of(select) >= RETIRED_IN_A_CLOCK &&
	       signals_supplied(core, SPMU_SIGBIT(CYCLES));
}

/*
 * Decides which address a record has: that of a load, or of a store if the event counts only stores
 * (18.11.3).
 */
static void update_address(const struct spmu_core *core, const struct thread *thread,
			   const struct spmu_event *event, struct counter *counter)
{
	bool enabled = thread->state.reg[SLOT_PEBS_ENABLE] & FIELD(PEBS_ENABLE_PS, PS_ENABLE);
	bool precise_store = event->code && event->code == core->model->counters->precise_store;

	counter->data_address = event->data_address && (enabled || !precise_store);
	counter->of_store = event->tally ? tally_of(event->tally) == SPMU_ACCESS_STORE
					 : event->signals == SPMU_SIGBIT(STORES);
	counter->store_status = enabled && precise_store;
}

/*
 * Table 18-54 and its notes: only some counters, only plain counting. The notes also require INV
 * and CMASK to be 0, but processors accept them: Intel's lists have precise events with both
 * (INST_RETIRED.TOTAL_CYCLES). The event itself makes the record, whatever the threshold does. On
 * some models PEBS takes any event. The record of an event that is not precise, or of clocks, is
 * then made at the next opportunity (18.7.1).
 */
static void update_precise(const struct spmu_core *core, struct thread *thread,
			   const struct spmu_event *event, unsigned n, uint64_t select)
{
	struct counter *counter = &thread->counter[n];
	bool precise = event->pebs_counters >> n & 1;

	if ((select & imprecise_bits(core)) || thread->state.smm ||
	    !(pebs_enabled(core, thread->state.reg[SLOT_PEBS_ENABLE]) >> n & 1) ||
	    !(precise || core->model->counters->pebs_any_event))
		return;
	counter->precise = counter->record_pmi = (uint8_t)(1u << thread_number(core, thread));
	counter->next = !precise || counts_clocks(core, event, select);
	counter->at_once = spmu_model_pdir(core->model, n, select);
	counter->adaptive = (select & SELECT_ADAPTIVE) != 0;
	update_address(core, thread, event, counter);
}

/* Returns the number of a fixed counter in global registers and records. */
static unsigned status_of_fixed(unsigned n)
{
	return FIELD_LOW(GLOBAL_STATUS, Ovf_FIXED_CTR0) + n;
}

/* What a fixed counter counts is precise, except time (extended PEBS). */
static void update_precise_fixed(const struct spmu_core *core, struct thread *thread, unsigned n,
				 bool any)
{
	unsigned c = SLOT_FIXED_CTR + n;
	struct counter *counter = &thread->counter[c];

	if (any || thread->state.smm ||
	    !(pebs_enabled(core, thread->state.reg[SLOT_PEBS_ENABLE]) >> c & 1))
		return;
	counter->precise = counter->record_pmi = (uint8_t)(1u << thread_number(core, thread));
	counter->next = (counter->signals & ~SPMU_SIGSET_ARCHITECTURAL) || counter->tallied;
	counter->at_once = spmu_model_pdir(core->model, status_of_fixed(n), 0);
	counter->adaptive = thread->state.reg[SLOT_FIXED_CTR_CTRL] >> (32 + 4 * n) & 1;
}

/* What an event's counter adds up: each signal once, so a second count is a second signal. */
static uint64_t counted(const struct spmu_core *core, const struct spmu_event *event)
{
	if (has_erratum(core, ERRATUM_FAR_INSTRUCTIONS) &&
	    event->signals == SPMU_SIGBIT(INSTRUCTIONS))
		return event->signals | SPMU_SIGBIT(FAR);
	return event->signals;
}

/* Its own thread's rings, or those of both threads. Silvermont and Goldmont ignore the bit. */
static void set_rings(const struct spmu_core *core, const struct thread *thread,
		      struct counter *counter, bool os, bool usr, bool any)
{
	uint8_t rings = (uint8_t)((os ? SPMU_RING0 : 0) | (usr ? SPMU_RING_USER : 0));

	for (unsigned lp = 0; lp < core->threads; lp++)
		if (lp == thread_number(core, thread) ||
		    (any && !core->model->counters->any_ignored))
			counter->rings[lp] = rings;
}

/* Version 1 and earlier have no status register: only the interrupt reports an overflow. */
static uint64_t status_bit(const struct spmu_core *core, unsigned bit)
{
	return core->model->counters->version >= 2 ? UINT64_C(1) << bit : 0;
}

/*
 * Threshold, edge detection, inversion and equality. Edge detection without a threshold means "at
 * least one"; inversion and equality then have no effect.
 */
static void set_condition(struct counter *counter, uint64_t select)
{
	uint16_t cmask = cmask_of(select);

	counter->edge = (select & FIELD(PERFEVTSEL, E)) != 0;
	counter->invert = cmask && (select & FIELD(PERFEVTSEL, INV));
	counter->equal = cmask && (select & FIELD(PERFEVTSEL_V6, EQ));
	counter->at_least = cmask ? cmask : counter->edge;
}

static bool select_enabled(const struct spmu_core *core, const struct thread *thread, unsigned n)
{
	unsigned with = core->model->counters->enable_first ? 0 : n;

	return thread->state.reg[SLOT_PERFEVTSEL + with] & FIELD(PERFEVTSEL, EN);
}

/* PBi of the debug control register gives the pin to breakpoints (17.14.1). */
static uint8_t pin_free(const struct spmu_core *core, const struct thread *thread, unsigned n,
			uint64_t select)
{
	const unsigned pins = 2;

	if (n < pins && (thread->state.reg[SLOT_DEBUGCTL] & FIELD(DEBUGCTL_P6, PB0) << n))
		return PIN_NONE;
	return pin_of(core, (select & FIELD(PERFEVTSEL, PC)) != 0);
}

/* Bits of an event select that can belong to an event. */
#define CONDITION (FIELD(PERFEVTSEL, E) | FIELD(PERFEVTSEL, INV) | FIELD(PERFEVTSEL, CMASK))

/* Returns the event that counts by its own tally what the select's threshold asks for, or NULL. */
static const struct spmu_event *conditioned(const struct spmu_core *core, uint64_t select,
					    unsigned n)
{
	const struct spmu_event *event;

	if (!(select & CONDITION))
		return NULL;
	event = event_on(core->model, select & (CONDITION | EVENT_CODE), n);
	return event && event_supplied(core, event) ? event : NULL;
}

/* Sets up one general counter. Returns false if it does not count. */
static bool update_general(const struct spmu_core *core, struct thread *thread, unsigned n)
{
	uint64_t select = thread->state.reg[SLOT_PERFEVTSEL + n];
	struct counter *counter = &thread->counter[n];
	const struct spmu_event *event;
	bool clocks, by_itself;

	if (!select_enabled(core, thread, n) || (select & FIELD(PERFEVTSEL, IN_TX)) ||
	    !(select & (FIELD(PERFEVTSEL, OS) | FIELD(PERFEVTSEL, USR))))
		return false;
	event = conditioned(core, select, n);
	by_itself = event != NULL;
	if (!by_itself)
		event = event_on(core->model, select & EVENT_CODE, n);
	clocks = !by_itself && event && counts_clocks(core, event, select);
	if (!event || (!clocks && !event_supplied(core, event))) {
		thread->absent |= 1u << n;
		return false;
	}
	*counter = (struct counter){
		.status = status_bit(core, n),
		.status_slot = SLOT_GLOBAL_STATUS,
		.pin = pin_free(core, thread, n, select),
		.tallies = &thread->counter_tallies[n],
	};
	if (clocks) {
		counter_adds(counter, SPMU_SIGBIT(CYCLES));
	} else if (event->tally == SPMU_TALLY_OFFCORE) {
		counter_adds(counter, counted(core, event));
		offcore_adds(core, thread, event, counter);
	} else if (event->tally == SPMU_TALLY_FRONTEND) {
		frontend_adds(core, thread, counter);
	} else if (by_itself || !(select & CONDITION)) {
		event_counts(core, event, counted(core, event), counter);
		event_judges(core, counter);
	} else {
		counter_adds(counter, counted(core, event));
		counter_adds_tally(counter, event->tally);
	}
	if (select & FIELD(PERFEVTSEL, INT))
		counter->pmi = (uint8_t)(1u << thread_number(core, thread));
	set_rings(core, thread, counter, (select & FIELD(PERFEVTSEL, OS)) != 0,
		  (select & FIELD(PERFEVTSEL, USR)) != 0, (select & FIELD(PERFEVTSEL, ANY)) != 0);
	if (!clocks && !by_itself)
		set_condition(counter, select);
	counter->logged = (select & SELECT_LOGGED) && !counter->at_least && core->model->lbr &&
			  (core->model->lbr->logged >> n & 1);
	update_precise(core, thread, event, n, select);
	return true;
}

static bool update_fixed(const struct spmu_core *core, struct thread *thread, unsigned n)
{
	unsigned control = (unsigned)(thread->state.reg[SLOT_FIXED_CTR_CTRL] >> (4 * n)) & 15;
	const struct spmu_event *event = spmu_event_fixed(core->model, n);
	struct counter *counter = &thread->counter[SLOT_FIXED_CTR + n];
	bool any = (control & FIELD(FIXED_CTR_CTRL, ANYTHREAD0)) != 0;

	if (!(control & 3))
		return false;
	if (!event || !event_supplied(core, event)) {
		thread->absent |= 1u << (SLOT_FIXED_CTR + n);
		return false;
	}
	*counter = (struct counter){
		.signals = counted(core, event),
		.status = status_bit(core, status_of_fixed(n)),
		.status_slot = SLOT_GLOBAL_STATUS,
		.tallies = &thread->counter_tallies[SLOT_FIXED_CTR + n],
	};
	counter_adds_tally(counter, event->tally);
	if (control & FIELD(FIXED_CTR_CTRL, PMI0))
		counter->pmi = (uint8_t)(1u << thread_number(core, thread));
	set_rings(core, thread, counter, control & 1, control & 2, any);
	update_precise_fixed(core, thread, n, any);
	return true;
}

void perfevtsel_update(const struct spmu_core *core, struct thread *thread)
{
	/* In version 1 and earlier only the EN bits decide (18.2.1.1). */
	uint64_t enabled = core->model->counters->version >= 2 ? thread->state.reg[SLOT_GLOBAL_CTRL]
							       : UINT64_MAX;

	if (thread->state.reg[SLOT_GLOBAL_STATUS] & FIELD(GLOBAL_STATUS, CTR_Frz))
		return;
	for (unsigned n = 0; n < core->general; n++)
		if ((enabled >> n & 1) && update_general(core, thread, n))
			thread->active |= 1u << n;
	for (unsigned n = 0; n < core->model->counters->fixed_counters; n++)
		if ((enabled >> (FIELD_LOW(GLOBAL_CTRL, EN_FIXED_CTR0) + n) & 1) &&
		    update_fixed(core, thread, n))
			thread->active |= 1u << (SLOT_FIXED_CTR + n);
	metrics_update(core, thread);
}

uint32_t perfevtsel_clocked(const struct spmu_core *core, const struct thread_state *state)
{
	uint32_t clocked = 0;

	for (unsigned n = 0; n < core->general; n++)
		if (state->reg[SLOT_PERFEVTSEL + n] &
		    (FIELD(PERFEVTSEL, CMASK) | FIELD(PERFEVTSEL, E)))
			clocked |= 1u << n;
	return clocked;
}
