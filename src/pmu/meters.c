/* SPDX-License-Identifier: MIT */
/*
 * meters.c: from registers to counters that count, and from those to the meters that a host runs
 * by (lazy counting in unit.h).  What a counter's registers say is for the file of its
 * programming interface.
 *
 * A counter's register holds what it had when headroom was last granted; what passed
 * since is the difference between the headroom granted and what is left of it.
 *
 * Counters with a threshold or edge detection judge each clock, so their meter
 * asks for every instruction.  Those that ask whether a branch was predicted get each branch of
 * their kinds, as signals of a meter add up and do not meet.
 */
#include "src/pmu/core.h"

static void update_thread(const struct spmu_core *core, struct thread *thread)
{
	unsigned lp = thread_number(core, thread);

	thread->absent = 0;
	thread->active = thread->ready = thread->clocked = thread->any = thread->next = 0;
	thread->adaptive = thread->addressed = thread->judging = 0;
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
	}
}

uint64_t spmu_absent_counters(const struct spmu_core *core, unsigned lp)
{
	uint32_t absent;

	if (lp >= core->threads)
		return 0;
	absent = core->thread[lp].absent;
	return (absent & BITS(0, SLOT_FIXED_CTR)) | (uint64_t)(absent >> SLOT_FIXED_CTR) << 32;
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

/* The meter with these signals and rings, added when there is none. */
static struct meter *meter_for(struct thread *thread, uint64_t signals, uint32_t rings)
{
	struct meter *meter = thread->meter;

	for (; meter < thread->meter + thread->meters; meter++)
		if (meter->signals == signals && meter->rings == rings)
			return meter;
	*meter = (struct meter){.signals = signals, .rings = rings};
	thread->meters++;
	return meter;
}

/*
 * Counters of thread `from` feed meters of thread `to`.  Those that wait for a cascade have their
 * meters, too, and use up nothing: so the list is the same before and after they are started.
 */
static void meters_add(struct spmu_core *core, unsigned to, unsigned from, uint32_t counters)
{
	/* Besides: instructions, in each of the sets of rings that the own counters have. */
	_Static_assert(SPMU_METERS_MAX >= SPMU_THREADS_MAX * (GENERAL_OWN_MAX + FIXED_MAX) + 3 &&
			       SPMU_METERS_MAX >= GENERAL_MAX + 3,
		       "room for all");

	while (counters) {
		unsigned c = take_lowest(&counters);
		const struct thread *source = &core->thread[from];
		uint64_t signals = counter_signals(&source->counter[c]);
		uint32_t rings = source->counter[c].rings[to];
		uint32_t fed = source->active & 1u << c;
		struct meter *meter;

		if (!rings)
			continue;
		if (source->counter[c].at_least) {
			signals |= SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(CYCLES);
			rings = SPMU_RING0 | SPMU_RINGX;
			core->thread[to].by_clock |= fed != 0;
		}
		meter = meter_for(&core->thread[to], signals, rings);
		if (to == from)
			meter->own |= fed;
		else
			meter->sibling |= fed;
	}
}

/*
 * The counters whose record any instruction makes have a meter that bulk code can use up
 * only while one of them waits: so the list is the same before and after a record.
 */
static void meters_add_waiting(struct spmu_core *core, unsigned lp)
{
	struct thread *thread = &core->thread[lp];

	for (uint32_t set = thread->next; set;) {
		unsigned c = take_lowest(&set);

		meter_for(thread, SPMU_SIGBIT(INSTRUCTIONS), thread->counter[c].rings[lp])
			->waiting |= 1u << c;
	}
}

/* Tell the host, and bump the epoch if the list is another than before. */
static void meters_publish(struct thread *thread)
{
	struct spmu_meters *out = thread->published;
	bool same = out->count == thread->meters;

	for (unsigned i = 0; i < thread->meters; i++) {
		const struct meter *meter = &thread->meter[i];

		same = same && out->meter[i].signals == meter->signals &&
		       out->meter[i].rings == meter->rings;
		out->meter[i] = (struct spmu_meter){
			.signals = meter->signals,
			.rings = meter->rings,
		};
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

/* How many occurrences a counter can take without anything to be done exactly. */
static inline uint64_t counter_room(const struct spmu_core *core, const struct thread *thread,
				    unsigned c)
{
	uint64_t room = counter_mask(core, c) - thread->state.reg[c];

	if (((thread->clocked | thread->judging | thread->state.pmi_due) >> c & 1) ||
	    thread->counter[c].force ||
	    (thread->counter[c].precise && (thread->state.pebs_armed >> c & 1)))
		return 0;
	/* Both threads run against the same counter: each gets half. */
	return core->threads > 1 && (thread->any >> c & 1) ? room / 2 : room;
}

/*
 * Its overflow arms PEBS and does nothing else, and the record comes with a count of its own: so
 * one count more than there is room for calls nobody.
 */
static bool overflows_quietly(const struct thread *thread, unsigned c)
{
	const struct counter *counter = &thread->counter[c];

	return counter->precise && !counter->at_once &&
	       !((thread->state.pebs_armed | thread->clocked | thread->judging) >> c & 1) &&
	       !(thread->any >> c & 1) && !counter->next && !counter->pmi && !counter->starts &&
	       !counter->force && counter->pin != PIN_OVERFLOW;
}

/* What some counters have room for: before something has to be done exactly, and before somebody
 * is called. */
struct room {
	uint64_t exact, call;
};

static inline void least_room(const struct spmu_core *core, const struct thread *thread,
			      uint32_t counters, struct room *least)
{
	while (counters) {
		unsigned c = take_lowest(&counters);
		uint64_t room = counter_room(core, thread, c);
		uint64_t call = room + overflows_quietly(thread, c);

		least->exact = room < least->exact ? room : least->exact;
		least->call = call < least->call ? call : least->call;
	}
}

/* While branches are traced granting looks into the area itself. */
static bool traces(const struct spmu_core *core)
{
	bool any = false;

	for (unsigned lp = 0; lp < core->threads; lp++)
		any |= core->thread[lp].bts.rings != 0;
	return any;
}

void meters_grant(struct spmu_core *core)
{
	bool quiet = !traces(core);

	for (unsigned lp = 0; lp < core->threads; lp++) {
		struct thread *thread = &core->thread[lp];

		for (unsigned i = 0; i < thread->meters; i++) {
			struct meter *meter = &thread->meter[i];
			struct room room = {INT64_MAX, INT64_MAX};

			least_room(core, thread, meter->own, &room);
			if (meter->sibling)
				least_room(core, &core->thread[1 - lp], meter->sibling, &room);
			if (meter->waiting & thread->state.pebs_armed)
				room.exact = room.call = 0;
			meter->granted = (int64_t)room.exact;
			thread->published->meter[i].headroom = (int64_t)room.exact;
			thread->published->meter[i].quiet =
				quiet ? (uint32_t)(room.call - room.exact) : 0;
		}
		if (thread->bts.rings)
			bts_room(core, lp);
	}
}

/*
 * Add what passed to some counters.  A host that keeps to its headroom never
 * wraps one here; one that does not loses the interrupt, not the status.
 */
static void settle_counters(const struct spmu_core *core, struct thread *thread, uint32_t counters,
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
 * Add what passed in bulk to the counters.  The headroom that is left stays good, so this is
 * enough for who only reads.
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
			settle_counters(core, thread, meter->own, passed);
			if (meter->sibling)
				settle_counters(core, &core->thread[1 - lp], meter->sibling,
						passed);
		}
	}
}

void spmu_settle(struct spmu_core *core)
{
	meters_fold(core);
	meters_grant(core);
}
