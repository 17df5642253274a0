/* SPDX-License-Identifier: MIT */
/*
 * meters.c: makes meters from the counters that count. A host runs by the meters (unit.h). The file
 * of each programming interface makes counters from registers.
 *
 * A counter's register holds its value of the time when headroom was last granted. What has passed
 * since is the difference between the headroom that was granted and what is left of it.
 *
 * Counters with a threshold or edge detection check each clock, so their meter needs every
 * instruction. A meter adds its signals up and cannot combine them. So counters that depend on the
 * prediction of a branch need each branch of their kinds. Counters that last branch records log
 * need each instruction that they count.
 */
#include <string.h>

#include "src/pmu/core.h"
#include "src/pmu/counters.h"
#include "src/pmu/records.h"

static void update_thread(const struct spmu_core *core, struct thread *thread)
{
	unsigned lp = thread_number(core, thread);

	thread->absent = 0;
	thread->active = thread->ready = thread->clocked = thread->any = thread->next = 0;
	thread->adaptive = thread->addressed = thread->judging = thread->logged = 0;
	switch ((enum spmu_programming)core->model->counters->programming) {
	case SPMU_PROGRAM_PERFEVTSEL:
		perfevtsel_update(core, thread);
		break;
	case SPMU_PROGRAM_CESR:
		cesr_update(core, thread);
		break;
	case SPMU_PROGRAM_ESCR:
		escr_update(core, thread);
		break;
	}

	for (uint32_t set = thread->active; set;) {
		unsigned c = take_lowest(&set);
		const struct counter *counter = &thread->counter[c];

		if (counter->at_least)
			thread->clocked |= 1u << c;
		if (counter->predicted | counter->missed)
			thread->judging |= 1u << c;
		if (counter->rings[1 - lp])
			thread->any |= 1u << c;
		if (counter->next)
			thread->next |= 1u << c;
		if (counter->adaptive)
			thread->adaptive |= 1u << c;
		if (counter->data_address)
			thread->addressed |= 1u << c;
		if (counter->logged)
			thread->logged |= 1u << c;
	}
}

uint64_t spmu_absent_counters(const struct spmu_core *core, unsigned lp)
{
	uint32_t absent;

	if (lp >= core->threads)
		return 0;
	absent = core->thread[lp].absent;
	return (absent & BITS(0, SLOT_FIXED_CTR)) | (absent >> SLOT_FIXED_CTR & BITS(0, FIXED_MAX))
							    << 32;
}

uint32_t counters_clocked(const struct spmu_core *core, const struct thread_state *state)
{
	switch ((enum spmu_programming)core->model->counters->programming) {
	case SPMU_PROGRAM_CESR:
		return cesr_clocked(core, state);
	case SPMU_PROGRAM_ESCR:
		return escr_clocked(core, state);
	default:
		return perfevtsel_clocked(core, state);
	}
}

static bool same_tallies(const struct spmu_tally_set *a, const struct spmu_tally_set *b)
{
	return a == b || (a && b && !memcmp(a, b, sizeof(*a)));
}

/* Returns the meter with these signals, tallies and rings. Adds it if there is none. */
static struct meter *meter_for(struct thread *thread, uint64_t signals,
			       const struct spmu_tally_set *tallies, uint32_t rings)
{
	struct meter *meter = thread->meter;

	for (; meter < thread->meter + thread->meters; meter++)
		if (meter->signals == signals && meter->rings == rings &&
		    same_tallies(thread->tallies_of[meter - thread->meter], tallies))
			return meter;
	*meter = (struct meter){.signals = signals, .rings = rings};
	thread->tallies_of[thread->meters++] = tallies;
	return meter;
}

/*
 * Counters of thread `from` feed meters of thread `to`. Counters that wait for a cascade have
 * meters, too, although they use no headroom. So the list is the same before and after they are
 * started.
 */
static void meters_add(struct spmu_core *core, unsigned to, unsigned from, uint32_t counters)
{
	/* Adds meters of instructions for each set of rings that the own counters have. */
	_Static_assert(SPMU_METERS_MAX >= SPMU_THREADS_MAX * (GENERAL_OWN_MAX + FIXED_MAX) + 3 &&
			       /* models with metrics count no other thread (AnyThread) */
			       SPMU_METERS_MAX >= GENERAL_OWN_MAX + FIXED_MAX + METRICS_MAX + 3 &&
			       SPMU_METERS_MAX >= GENERAL_MAX + 3,
		       "room for all");

	while (counters) {
		unsigned c = take_lowest(&counters);
		const struct thread *source = &core->thread[from];
		uint64_t signals = counter_signals(&source->counter[c]);
		const struct spmu_tally_set *tallies =
			source->counter[c].tallied ? source->counter[c].tallies : NULL;
		uint32_t rings = source->counter[c].rings[to];
		uint32_t fed = source->active & 1u << c;
		struct meter *meter;

		if (!rings)
			continue;
		if (source->counter[c].at_least) {
			signals |= SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(CYCLES);
			rings = SPMU_RING0 | SPMU_RING_USER;
			core->thread[to].by_clock |= fed != 0;
		}
		meter = meter_for(&core->thread[to], signals, tallies, rings);
		if (to == from)
			meter->own |= fed;
		else
			meter->sibling |= fed;
	}
}

/*
 * Counters whose record any instruction makes have a meter that bulk code uses up only while one of
 * them waits. So the list is the same before and after a record.
 */
static void meters_add_waiting(struct spmu_core *core, unsigned lp)
{
	struct thread *thread = &core->thread[lp];

	for (uint32_t set = thread->next; set;) {
		unsigned c = take_lowest(&set);

		meter_for(thread, SPMU_SIGBIT(INSTRUCTIONS), NULL, thread->counter[c].rings[lp])
			->waiting |= 1u << c;
	}
}

/* Publishes the list. Increments the epoch if the list has changed. */
static void meters_publish(struct thread *thread)
{
	struct spmu_meters *out = thread->published;
	bool same = out->count == thread->meters;

	thread->by_tally = false;
	for (unsigned i = 0; i < thread->meters; i++) {
		const struct meter *meter = &thread->meter[i];

		same = same && out->meter[i].signals == meter->signals &&
		       out->meter[i].rings == meter->rings &&
		       same_tallies(out->meter[i].tallies, thread->tallies_of[i]);
		out->meter[i] = (struct spmu_meter){
			.signals = meter->signals,
			.rings = meter->rings,
		};
		if (!thread->tallies_of[i])
			continue;
		thread->meter_tallies[i] = *thread->tallies_of[i];
		out->meter[i].tallies = &thread->meter_tallies[i];
		thread->by_tally = true;
	}
	out->count = thread->meters;
	if (!same)
		out->epoch++;
}

void counters_update(struct spmu_core *core)
{
	for (unsigned lp = 0; lp < core->threads; lp++)
		update_thread(core, &core->thread[lp]);
	for (unsigned lp = 0; lp < core->threads; lp++) {
		struct thread *thread = &core->thread[lp];

		thread->meters = 0;
		thread->by_clock = false;
		meters_add(core, lp, lp, thread->active | thread->ready);
		meters_add_waiting(core, lp);
		if (core->threads > 1)
			meters_add(core, lp, 1 - lp,
				   core->thread[1 - lp].any | core->thread[1 - lp].ready);
		meters_publish(thread);
	}
	branches_update(core);
	meters_grant(core);
}

/* Returns how many occurrences a counter can take before something must be done exactly. */
static inline uint64_t counter_headroom(const struct spmu_core *core, const struct thread *thread,
					unsigned c)
{
	uint64_t headroom = counter_mask(core, c) - thread->state.reg[c];

	if (((thread->clocked | thread->judging | lbr_logging(thread) | thread->state.pmi_due) >>
		     c &
	     1) ||
	    thread->counter[c].force ||
	    (thread->counter[c].precise && (thread->state.pebs_armed >> c & 1)))
		return 0;
	/* Both threads use the same counter, so each gets half. */
	return core->threads > 1 && (thread->any >> c & 1) ? headroom / 2 : headroom;
}

/*
 * Returns true if the counter's overflow only arms PEBS. The record comes with a later count, so
 * one count more than the headroom makes no callback.
 */
static bool overflows_silently(const struct thread *thread, unsigned c)
{
	const struct counter *counter = &thread->counter[c];

	return counter->precise && !counter->at_once &&
	       !((thread->state.pebs_armed | thread->clocked | thread->judging |
		  lbr_logging(thread)) >>
			 c &
		 1) &&
	       !(thread->any >> c & 1) && !counter->next && !counter->pmi && !counter->starts &&
	       !counter->force && counter->pin != PIN_OVERFLOW;
}

/* The headroom of some counters: before something must be done exactly, and before a callback. */
struct headroom {
	uint64_t exact, call;
};

static inline void least_headroom(const struct spmu_core *core, const struct thread *thread,
				  uint32_t counters, struct headroom *least)
{
	while (counters) {
		unsigned c = take_lowest(&counters);
		uint64_t headroom = counter_headroom(core, thread, c);
		uint64_t call = headroom + overflows_silently(thread, c);

		least->exact = headroom < least->exact ? headroom : least->exact;
		least->call = call < least->call ? call : least->call;
	}
}

/* While branches are traced, granting headroom reads the DS area. */
static bool traces(const struct spmu_core *core)
{
	bool any = false;

	for (unsigned lp = 0; lp < core->threads; lp++)
		any |= core->thread[lp].bts.rings != 0;
	return any;
}

void meters_grant(struct spmu_core *core)
{
	bool silent = !traces(core);

	for (unsigned lp = 0; lp < core->threads; lp++) {
		struct thread *thread = &core->thread[lp];

		for (unsigned i = 0; i < thread->meters; i++) {
			struct meter *meter = &thread->meter[i];
			struct headroom headroom = {INT64_MAX, INT64_MAX};

			least_headroom(core, thread, meter->own, &headroom);
			if (meter->sibling)
				least_headroom(core, &core->thread[1 - lp], meter->sibling,
					       &headroom);
			if (meter->waiting & thread->state.pebs_armed)
				headroom.exact = headroom.call = 0;
			meter->granted = (int64_t)headroom.exact;
			thread->published->meter[i].headroom = (int64_t)headroom.exact;
			thread->published->meter[i].silent =
				silent ? (uint32_t)(headroom.call - headroom.exact) : 0;
		}
		if (thread->bts.rings)
			bts_headroom(core, lp);
	}
}

/*
 * Adds what has passed to some counters. A host that keeps to its headroom never makes a counter
 * wrap here. If a host does not, the interrupt is lost, but not the status.
 */
static void add_passed(const struct spmu_core *core, struct thread *thread, uint32_t counters,
		       uint64_t passed)
{
	counters &= ~(thread->clocked | thread->judging);
	while (counters) {
		unsigned c = take_lowest(&counters);
		const struct counter *counter = &thread->counter[c];
		uint64_t mask = counter_mask(core, c);

		if (passed > mask - thread->state.reg[c])
			status_overflow(core, thread, counter);
		thread->state.reg[c] = (thread->state.reg[c] + passed) & mask;
		counter_pin(core, thread, c, PIN_COUNT, passed);
	}
}

/*
 * Adds what has passed in bulk to the counters. The headroom that is left remains valid, so this is
 * enough for a caller that only reads.
 */
void meters_fold(struct spmu_core *core)
{
	for (unsigned lp = 0; lp < core->threads; lp++) {
		struct thread *thread = &core->thread[lp];

		for (unsigned i = 0; i < thread->meters; i++) {
			struct meter *meter = &thread->meter[i];
			int64_t left = thread->published->meter[i].headroom;

			uint64_t passed = (uint64_t)meter->granted - (uint64_t)left;

			if (left >= meter->granted)
				continue;
			meter->granted = left;
			add_passed(core, thread, meter->own, passed);
			if (meter->sibling)
				add_passed(core, &core->thread[1 - lp], meter->sibling, passed);
		}
	}
}

void spmu_sync(struct spmu_core *core)
{
	meters_fold(core);
	meters_grant(core);
}
