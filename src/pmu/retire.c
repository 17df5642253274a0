/* SPDX-License-Identifier: MIT */
/*
 * retire.c: one retired instruction, exactly: counting, overflow, PEBS, PMI
 * (18.2.1.1, 18.8.1.1 "Performance Counter Prioritization", 18.13.1).
 *
 * As long as the instruction fits the headroom of every meter it is only
 * subtracted, as a host does for a stretch of code.  Otherwise the counters are settled
 * and it is counted on each of them:
 *	- a counter that wraps sets its status bit, asks for a PMI when its INT
 *	  bit is set, and arms PEBS when it is enabled for that;
 *	- a counter that was armed before and counts this instruction takes part in its record;
 *	- a record that is written clears the counters' status and reloads them; one
 *	  that is refused leaves both, and disarms;
 *	- at most one PMI comes out of it, last.
 */
#include "src/pmu/core.h"

/* What one instruction, or some clocks, did to the counters of a thread. */
struct outcome {
	uint32_t overflowed;
	uint32_t triggered; /* armed before, and counted */
};

static void counter_add(struct spmu_core *core, struct thread *thread, unsigned c, uint64_t add,
			struct outcome *outcome)
{
	uint64_t mask = counter_mask(core, c);
	uint64_t *value = &thread->state.reg[c];

	if (!add)
		return;
	if (thread->counter[c].precise && (thread->state.pebs_armed >> c & 1))
		outcome->triggered |= 1u << c;
	if (add > mask - *value)
		outcome->overflowed |= 1u << c;
	*value = (*value + add) & mask;
}

static void count_own(struct spmu_core *core, struct thread *thread, const struct spmu_insn *insn,
		      struct outcome *outcome)
{
	unsigned ring = ring_of(insn->cpl);

	for (uint32_t set = thread->active; set;) {
		unsigned c = take_lowest(&set);
		const struct counter *counter = &thread->counter[c];
		unsigned add =
			counter->rings & ring ? occurrences(insn->signals, counter->signals) : 0;

		if (thread->clocked >> c & 1) {
			uint64_t clocks = clocks_pass(thread, c, insn->cycles, 0, ring);

			clocks_count(thread, c, add);
			counter_add(core, thread, c, clocks, outcome);
		} else {
			counter_add(core, thread, c, add, outcome);
		}
	}
	thread->state.clock_rings = ring;
}

/* The counters of the other thread that count on both (18.2.3). */
static void count_sibling(struct spmu_core *core, struct thread *sibling,
			  const struct spmu_insn *insn, struct outcome *outcome)
{
	for (uint32_t set = sibling->any; set;) {
		unsigned c = take_lowest(&set);
		const struct counter *counter = &sibling->counter[c];
		unsigned add;

		if (!(counter->rings & ring_of(insn->cpl)))
			continue;
		add = occurrences(insn->signals, counter->signals);
		if (sibling->clocked >> c & 1)
			clocks_count(sibling, c, add);
		else
			counter_add(core, sibling, c, add, outcome);
	}
}

/* Returns SPMU_EV_RECORD when one was written; *pmi is set at the threshold. */
static unsigned take_record(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn,
			    struct outcome *outcome, bool *pmi)
{
	struct thread_state *state = &core->thread[lp].state;
	enum pebs_result result = pebs_write(core, lp, insn, outcome->triggered);

	state->pebs_armed &= ~outcome->triggered;
	if (result == PEBS_FULL || result == PEBS_THRESHOLD)
		state->reg[SLOT_GLOBAL_STATUS] |= FIELD(GLOBAL_STATUS, OvfBuf);
	if (result == PEBS_SKIPPED || result == PEBS_FULL)
		return 0;
	for (uint32_t set = outcome->triggered; set;)
		state->reg[SLOT_GLOBAL_STATUS] &=
			~core->thread[lp].counter[take_lowest(&set)].status;
	outcome->overflowed &= ~outcome->triggered;
	if (result == PEBS_THRESHOLD)
		*pmi = true;
	return SPMU_EV_RECORD;
}

/* Draw the consequences for one thread.  Returns SPMU_EV_RECORD, and whether to interrupt. */
static unsigned conclude(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn,
			 struct outcome *outcome, bool *pmi)
{
	struct thread *thread = &core->thread[lp];
	unsigned events = 0;

	for (uint32_t set = outcome->overflowed; set;) {
		const struct counter *counter = &thread->counter[take_lowest(&set)];

		thread->state.reg[SLOT_GLOBAL_STATUS] |= counter->status;
		*pmi = *pmi || counter->pmi;
	}
	if (outcome->triggered && insn)
		events = take_record(core, lp, insn, outcome, pmi);
	for (uint32_t set = outcome->overflowed; set;) {
		unsigned c = take_lowest(&set);

		if (thread->counter[c].precise)
			thread->state.pebs_armed |= 1u << c;
	}
	return events;
}

/* Conclude for all threads, grant headroom anew, then interrupt. */
static unsigned finish(struct spmu_core *core, const unsigned lps[SPMU_THREADS_MAX],
		       const struct spmu_insn *insn, struct outcome outcome[SPMU_THREADS_MAX])
{
	bool pmi[SPMU_THREADS_MAX] = {false};
	bool stopped = false;
	unsigned events = 0;

	for (unsigned i = 0; i < core->threads; i++) {
		events |= conclude(core, lps[i], i == 0 ? insn : NULL, &outcome[i], &pmi[i]);
		if (pmi[i])
			stopped |= pmi_request(core, &core->thread[lps[i]]);
	}
	if (stopped)
		counters_update(core);
	else
		meters_grant(core);
	for (unsigned i = 0; i < core->threads; i++)
		if (pmi[i])
			events |= pmi_deliver(core, lps[i]);
	return events;
}

static unsigned retire_exactly(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn)
{
	struct outcome outcome[SPMU_THREADS_MAX] = {{0, 0}};
	unsigned lps[SPMU_THREADS_MAX] = {lp, 1 - lp};
	uint32_t epoch = core->thread[lp].published->epoch;
	unsigned events;

	spmu_settle(core);
	count_own(core, &core->thread[lp], insn, &outcome[0]);
	if (core->threads > 1)
		count_sibling(core, &core->thread[1 - lp], insn, &outcome[1]);
	events = finish(core, lps, insn, outcome);
	return core->thread[lp].published->epoch == epoch ? events : events | SPMU_EV_METERS;
}

unsigned spmu_retire(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn)
{
	struct thread *thread;
	struct spmu_meter *published;
	unsigned ring = ring_of(insn->cpl);

	if (lp >= core->threads)
		return 0;
	thread = &core->thread[lp];
	if (thread->clocked)
		return retire_exactly(core, lp, insn);
	published = thread->published->meter;
	for (unsigned i = 0; i < thread->meters; i++) {
		if (!(insn->signals & thread->meter[i].signals) || !(thread->meter[i].rings & ring))
			continue;
		if (published[i].headroom <
		    (int64_t)occurrences(insn->signals, thread->meter[i].signals))
			return retire_exactly(core, lp, insn);
	}
	for (unsigned i = 0; i < thread->meters; i++)
		if (thread->meter[i].rings & ring)
			published[i].headroom -=
				(int64_t)occurrences(insn->signals, thread->meter[i].signals);
	return 0;
}

/* How many of `clocks` can pass before or until some counter wraps; at least 1. */
static uint64_t clocks_until_wrap(const struct spmu_core *core, const struct thread *thread,
				  uint32_t counters, uint64_t signals, uint64_t clocks)
{
	while (counters) {
		unsigned c = take_lowest(&counters);
		uint64_t room = counter_mask(core, c) - thread->state.reg[c];
		unsigned each = occurrences(signals, thread->counter[c].signals);

		if (each < 2 || (thread->clocked >> c & 1))
			each = 1;
		clocks = room / each + 1 < clocks ? room / each + 1 : clocks;
	}
	return clocks;
}

static unsigned clocks_exactly(struct spmu_core *core, unsigned lp, uint64_t signals,
			       uint64_t clocks, unsigned ring)
{
	struct outcome outcome[SPMU_THREADS_MAX] = {{0, 0}};
	unsigned lps[SPMU_THREADS_MAX] = {lp, 1 - lp};

	for (unsigned i = 0; i < core->threads; i++) {
		struct thread *thread = &core->thread[lps[i]];

		for (uint32_t set = i == 0 ? thread->active : thread->any; set;) {
			unsigned c = take_lowest(&set);
			unsigned each = thread->counter[c].rings & ring
						? occurrences(signals, thread->counter[c].signals)
						: 0;
			uint64_t add = clocks * each;

			if (thread->clocked >> c & 1) {
				add = i == 0 ? clocks_pass(thread, c, clocks, each, ring) : 0;
				clocks_count(thread, c, each);
			}
			counter_add(core, thread, c, add, &outcome[i]);
		}
	}
	core->thread[lp].state.clock_rings = ring;
	return finish(core, lps, NULL, outcome);
}

/*
 * The clocks are taken in as many pieces as counters wrap in them, so that
 * a freeze stops the others where it should.
 */
unsigned spmu_clocks(struct spmu_core *core, unsigned lp, uint64_t signals, uint64_t clocks,
		     unsigned cpl)
{
	uint32_t epoch;
	unsigned events = 0;

	if (lp >= core->threads || !clocks)
		return 0;
	epoch = core->thread[lp].published->epoch;
	spmu_settle(core);
	while (clocks) {
		uint64_t piece = clocks_until_wrap(core, &core->thread[lp], core->thread[lp].active,
						   signals, clocks);

		if (core->threads > 1)
			piece = clocks_until_wrap(core, &core->thread[1 - lp],
						  core->thread[1 - lp].any, signals, piece);
		events |= clocks_exactly(core, lp, signals, piece, ring_of(cpl));
		clocks -= piece;
	}
	return core->thread[lp].published->epoch == epoch ? events : events | SPMU_EV_METERS;
}
