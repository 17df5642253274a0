/* SPDX-License-Identifier: MIT */
/*
 * gain.c: what one instruction, or clocks without any, add to one counter, and what an overflow is.
 *
 * Vol. 3B 18.2.1.1 (threshold, inversion, edge), 18.15.3 (the same fields of CCCRs, FORCE_OVF,
 * OVF_PMI), 18.23.1 (levels and durations of the Pentium).
 */
#include "reference.h"

/* Returns true if the counter listens to a thread that runs at this CPL. */
bool reference_listens(const struct reference *unit, const struct reference_view *v,
		       unsigned source, unsigned cpl)
{
	bool system = cpl <= unit->family->system_cpl;

	if (unit->defect == REFERENCE_CPL_2_IS_USER)
		system = cpl == 0;
	if (unit->defect == REFERENCE_RINGS_SWAPPED)
		system = !system;
	if (unit->defect == REFERENCE_RING1_IS_SYSTEM)
		system = cpl <= 1;
	bool tallies = false;

	for (unsigned kind = 0; kind < SPMU_TALLIES; kind++)
		tallies |= spmu_tally_set_has(&v->tallies, kind);
	return (v->signals || v->predicted || v->missed || tallies) && v->enabled &&
	       ((system ? v->system : v->user) >> source & 1);
}

static bool condition(const struct reference_view *v, uint64_t occurrences)
{
	bool holds = v->equal ? occurrences == v->at_least : occurrences >= v->at_least;

	return holds != v->invert;
}

/*
 * Ends the clock of `source` and adds `empty` clocks without occurrence. Returns what the counter
 * gains.
 *
 * Reading of 18.2.1.1: the instruction that reaches the threshold meets a condition of the kind >=,
 * and is counted (below). A condition of the kind <, == or != is known when its clock is over, and
 * counts under the CPL at that moment. While the counter does not listen (disabled, another CPL),
 * its clock does not move.
 */
static uint64_t end_clock(const struct reference_view *v, unsigned source, uint64_t empty)
{
	struct reference_clock *clock = &v->counter->clock[source];
	bool now = condition(v, clock->occurrences);
	bool idle = condition(v, 0);
	uint64_t gain = 0;

	if (v->invert || v->equal) {
		gain = v->edge ? now && !clock->asserted : now;
		if (idle && empty)
			gain += v->edge ? !now : empty;
	}
	clock->asserted = empty ? idle : now;
	clock->occurrences = 0;
	return gain;
}

/* Returns what `n` occurrences in the current clock add. */
static uint64_t in_clock(const struct reference_view *v, unsigned source, uint64_t n)
{
	struct reference_clock *clock = &v->counter->clock[source];
	bool before = condition(v, clock->occurrences);

	clock->occurrences += n;
	if (v->invert || v->equal || before || !condition(v, clock->occurrences))
		return 0;
	return v->edge ? !clock->asserted : 1;
}

/* Returns what a counter gains. *occurred: whether the counter's event took place. */
uint64_t reference_gain(const struct reference_view *v, unsigned source,
			const struct spmu_insn *insn, bool once, bool *occurred)
{
	uint64_t judged = insn->signals & SPMU_SIGBIT(BRANCH_MISS) ? v->missed : v->predicted;
	uint64_t n = (uint64_t)__builtin_popcountll(insn->signals & (v->signals | judged));
	uint64_t gain = 0, signals = n;

	for (unsigned i = 0; i < insn->tally_count; i++)
		if (spmu_tally_set_has(&v->tallies, insn->tallies[i].kind))
			n += insn->tallies[i].count;
	if (once && n > signals)
		n = signals + 1;
	*occurred = n > 0;
	if (!v->at_least)
		return n;
	if (insn->cycles)
		gain = end_clock(v, source, insn->cycles - 1);
	return gain + in_clock(v, source, n);
}

/* Adds to a counter. Returns true if it passes from its maximum to 0. */
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

static void pin(struct reference *unit, unsigned owner, unsigned n, const struct reference_view *v,
		enum reference_pin cause, uint64_t toggles)
{
	if (v->pin == cause && toggles)
		unit->host.pin(unit->host.opaque, owner, n, toggles);
}

/*
 * Counts, and returns true at an overflow. By 18.15.3 the interrupt of a NetBurst counter is
 * "generated on the next event count after the counter has overflowed". Reading: on the next count
 * of that counter, to the threads that its flags name at that time. The same applies with
 * FORCE_OVF, where every count is an overflow.
 */
bool reference_count(struct reference *unit, unsigned owner, unsigned n,
		     const struct reference_view *v, uint64_t gain, unsigned *interrupts)
{
	struct reference_thread *t = reference_holder(unit, owner);
	bool wrapped = add(unit, v->counter, v->bits, gain);

	if (gain && v->counter->due) {
		v->counter->due = false;
		*interrupts |= v->interrupts;
	}
	pin(unit, owner, n, v, PIN_AT_COUNT, gain);
	if (!wrapped && !(v->force && gain))
		return false;
	if (unit->family->programming == BY_ESCRS)
		t->select[n] |= v->status_bit;
	else if (unit->family->version >= 2)
		reference_raise(unit, t, v->status_bit);
	pin(unit, owner, n, v, PIN_AT_OVERFLOW, 1);
	if (!v->late)
		*interrupts |= v->interrupts;
	else if (v->interrupts)
		v->counter->due = true;
	return true;
}
