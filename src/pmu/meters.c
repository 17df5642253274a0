/* SPDX-License-Identifier: MIT */
/*
 * meters.c: from select registers to counters that count, and from those to the
 * meters that a host runs by (18.2.1.1, 18.2.2, 18.2.3; lazy counting in unit.h).
 *
 * A counter's register holds what it had when headroom was last granted; what passed
 * since is the difference between the headroom granted and what is left of it.
 *
 * Counters with a threshold or edge detection judge each clock, so their meter
 * asks for every instruction.  Hosts report nothing that happens inside a
 * transaction, so a counter with IN_TX counts nothing (18.11.5).
 */
#include "src/pmu/core.h"

uint64_t counter_mask(const struct spmu_core *core, unsigned counter)
{
	const struct counter_layout *layout = core->model->counters;

	return BITS(0, counter < GENERAL_MAX ? layout->counter_bits : layout->fixed_bits);
}

/* Adaptive records; reserved where the family has none. */
#define SELECT_ADAPTIVE BITS(34, 1)

/* Whether the host tells the unit about all of these signals. */
static bool supplied(const struct spmu_core *core, uint64_t signals)
{
	return signals && !(signals & ~(core->host.supply.exact | core->host.supply.modelled));
}

/*
 * Table 18-54 and its notes: only some counters, only plain counting.  Where PEBS takes
 * any event, one that is not precise has its record made at the next opportunity (18.7.1).
 */
static void update_precise(const struct spmu_core *core, struct thread *thread,
			   const struct spmu_event *event, unsigned n, uint64_t select)
{
	const uint64_t forbidden = FIELD(PERFEVTSEL, ANY) | FIELD(PERFEVTSEL, E) |
				   FIELD(PERFEVTSEL, INV) | FIELD(PERFEVTSEL, CMASK);
	struct counter *counter = &thread->counter[n];
	bool precise = event->pebs_counters >> n & 1;

	if ((select & forbidden) ||
	    !(pebs_enabled(core, thread->state.reg[SLOT_PEBS_ENABLE]) >> n & 1) ||
	    !(precise || core->model->counters->pebs_any_event))
		return;
	counter->precise = true;
	counter->next = !precise;
	counter->adaptive = (select & SELECT_ADAPTIVE) != 0;
	counter->data_address = event->data_address;
}

/* What a fixed counter counts is precise unless it is time (extended PEBS). */
static void update_precise_fixed(const struct spmu_core *core, struct thread *thread, unsigned n)
{
	unsigned c = SLOT_FIXED_CTR + n;
	struct counter *counter = &thread->counter[c];

	if (counter->any || !(pebs_enabled(core, thread->state.reg[SLOT_PEBS_ENABLE]) >> c & 1))
		return;
	counter->precise = true;
	counter->next = (counter->signals & ~SPMU_SIGSET_ARCHITECTURAL) != 0;
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

/* Make one general counter; false when it does not count. */
static bool update_general(const struct spmu_core *core, struct thread *thread, unsigned n)
{
	uint64_t select = thread->state.reg[SLOT_PERFEVTSEL + n];
	const struct spmu_event *event;
	struct counter *counter = &thread->counter[n];

	if (!(select & FIELD(PERFEVTSEL, EN)) || (select & FIELD(PERFEVTSEL, IN_TX)))
		return false;
	event = spmu_event_by_code(core->model, (uint16_t)select);
	if (!event || !(event->counters >> n & 1) || !supplied(core, event->signals))
		return false;
	*counter = (struct counter){
		.signals = counted(core, event),
		.status = UINT64_C(1) << n,
		.rings = (uint8_t)((select & FIELD(PERFEVTSEL, OS) ? SPMU_RING0 : 0) |
				   (select & FIELD(PERFEVTSEL, USR) ? SPMU_RINGX : 0)),
		.cmask = (uint8_t)(select >> FIELD_LOW(PERFEVTSEL, CMASK)),
		.any = (select & FIELD(PERFEVTSEL, ANY)) != 0,
		.pmi = (select & FIELD(PERFEVTSEL, INT)) != 0,
		.edge = (select & FIELD(PERFEVTSEL, E)) != 0,
		.invert = (select & FIELD(PERFEVTSEL, INV)) != 0,
	};
	update_precise(core, thread, event, n, select);
	return counter->rings != 0;
}

static bool update_fixed(const struct spmu_core *core, struct thread *thread, unsigned n)
{
	unsigned control = (unsigned)(thread->state.reg[SLOT_FIXED_CTR_CTRL] >> (4 * n)) & 15;
	const struct spmu_event *event = spmu_event_fixed(core->model, n);

	if (!event || !supplied(core, event->signals) || !(control & 3))
		return false;
	thread->counter[SLOT_FIXED_CTR + n] = (struct counter){
		.signals = counted(core, event),
		.status = FIELD(GLOBAL_STATUS, Ovf_FIXED_CTR0) << n,
		.rings = (uint8_t)(control & 3),
		.any = (control & FIELD(FIXED_CTR_CTRL, ANYTHREAD0)) != 0,
		.pmi = (control & FIELD(FIXED_CTR_CTRL, PMI0)) != 0,
	};
	update_precise_fixed(core, thread, n);
	return true;
}

static void update_thread(const struct spmu_core *core, struct thread *thread)
{
	/* Version 1: the EN bits alone decide (18.2.1.1). */
	uint64_t enabled = core->model->counters->version >= 2 ? thread->state.reg[SLOT_GLOBAL_CTRL]
							       : UINT64_MAX;

	thread->active = thread->clocked = thread->any = thread->next = 0;
	thread->adaptive = thread->addressed = 0;
	if (thread->state.reg[SLOT_GLOBAL_STATUS] & FIELD(GLOBAL_STATUS, CTR_Frz))
		enabled = 0;
	for (unsigned n = 0; n < core->general; n++)
		if ((enabled >> n & 1) && update_general(core, thread, n))
			thread->active |= 1u << n;
	for (unsigned n = 0; n < core->model->counters->fixed_counters; n++)
		if ((enabled >> (FIELD_LOW(GLOBAL_CTRL, EN_FIXED_CTR0) + n) & 1) &&
		    update_fixed(core, thread, n))
			thread->active |= 1u << (SLOT_FIXED_CTR + n);

	for (uint32_t set = thread->active; set;) {
		unsigned c = take_lowest(&set);

		if (thread->counter[c].cmask || thread->counter[c].edge)
			thread->clocked |= 1u << c;
		if (thread->counter[c].any)
			thread->any |= 1u << c;
		if (thread->counter[c].next)
			thread->next |= 1u << c;
		if (thread->counter[c].adaptive)
			thread->adaptive |= 1u << c;
		if (thread->counter[c].data_address)
			thread->addressed |= 1u << c;
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

/* The counters of `from` feed meters of `to`. */
static void meters_add(struct thread *to, const struct thread *from, uint32_t counters)
{
	/* Besides: instructions, in each of the three sets of rings. */
	_Static_assert(SPMU_METERS_MAX >= SPMU_THREADS_MAX * COUNTERS_MAX + 3, "room for all");

	while (counters) {
		unsigned c = take_lowest(&counters);
		uint64_t signals = from->counter[c].signals;
		uint32_t rings = from->counter[c].rings;
		struct meter *meter;

		if (from->clocked >> c & 1) {
			signals |= SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(CYCLES);
			rings = SPMU_RING0 | SPMU_RINGX;
		}
		meter = meter_for(to, signals, rings);
		if (to == from)
			meter->own |= 1u << c;
		else
			meter->sibling |= 1u << c;
	}
}

/*
 * The counters whose record any instruction makes have a meter that bulk code can use up
 * only while one of them waits: so the list is the same before and after a record.
 */
static void meters_add_waiting(struct thread *thread)
{
	for (uint32_t set = thread->next; set;) {
		unsigned c = take_lowest(&set);

		meter_for(thread, SPMU_SIGBIT(INSTRUCTIONS), thread->counter[c].rings)->waiting |=
			1u << c;
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
		thread->by_clock = thread->clocked != 0;
		meters_add(thread, thread, thread->active);
		meters_add_waiting(thread);
		if (core->threads > 1) {
			const struct thread *sibling = &core->thread[1 - lp];

			thread->by_clock |= (sibling->clocked & sibling->any) != 0;
			meters_add(thread, sibling, sibling->any);
		}
		meters_publish(thread);
	}
	branches_update(core);
	meters_grant(core);
}

/* How many occurrences a counter can take without anything to be done exactly. */
static uint64_t counter_room(const struct spmu_core *core, const struct thread *thread, unsigned c)
{
	uint64_t room = counter_mask(core, c) - thread->state.reg[c];

	if ((thread->clocked >> c & 1) ||
	    (thread->counter[c].precise && (thread->state.pebs_armed >> c & 1)))
		return 0;
	/* Both threads run against the same counter: each gets half. */
	return core->threads > 1 && (thread->any >> c & 1) ? room / 2 : room;
}

static uint64_t least_room(const struct spmu_core *core, const struct thread *thread,
			   uint32_t counters, uint64_t least)
{
	while (counters) {
		uint64_t room = counter_room(core, thread, take_lowest(&counters));

		least = room < least ? room : least;
	}
	return least;
}

void meters_grant(struct spmu_core *core)
{
	for (unsigned lp = 0; lp < core->threads; lp++) {
		struct thread *thread = &core->thread[lp];

		for (unsigned i = 0; i < thread->meters; i++) {
			struct meter *meter = &thread->meter[i];
			uint64_t room = least_room(core, thread, meter->own, INT64_MAX);

			if (meter->sibling)
				room = least_room(core, &core->thread[1 - lp], meter->sibling,
						  room);
			if (meter->waiting & thread->state.pebs_armed)
				room = 0;
			meter->granted = (int64_t)room;
			thread->published->meter[i].headroom = (int64_t)room;
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
	counters &= ~thread->clocked;
	while (counters) {
		unsigned c = take_lowest(&counters);
		uint64_t mask = counter_mask(core, c);

		if (passed > mask - thread->state.reg[c])
			status_raise(core, thread, thread->counter[c].status);
		thread->state.reg[c] = (thread->state.reg[c] + passed) & mask;
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
