/* SPDX-License-Identifier: MIT */
/*
 * retire.c: one retired instruction, exactly: counting, overflow, PEBS, PMI
 * (18.2.1.1, 18.8.1.1 "Performance Counter Prioritization", 18.13.1; NetBurst: 18.15.6).
 *
 * If the instruction fits the headroom of every meter, it is only subtracted, as a host does for a
 * stretch of code. Otherwise the headroom that was used is folded into the counters, and the
 * instruction is counted on each of them:
 *	- A counter that wraps sets its status bit. If it is programmed to, it requests a PMI, at
 *	  once or at its next count. It starts the counters that cascade from it. It arms PEBS if
 *	  it is enabled for PEBS.
 *	- A counter that was armed before, and whose event this instruction is, takes part in the
 *	  record. So does one with precise distribution that wraps (18.9.4.4).
 *	- A record that is written clears the counters' status and reloads them. Before format 3 it
 *	  does so for all counters with PEBS that have overflowed (pebs.c).
 *	- A record that is skipped changes neither. The counters stay armed, so that software that
 *	  empties the buffer continues to capture.
 *	- A record that Goldmont drops because the index is not in the buffer clears only the status
 *	  (18.7.1.3).
 *	- At most one PMI follows, last. For a record at the threshold and an overflow at the same
 *	  time the manual has two (18.8.1.1). The first sets the mask of the LVT entry, which the
 *	  service routine clears at its end (17.4.9.5), so the second is never delivered.
 */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"
#include "src/pmu/pmi.h"
#include "src/pmu/records.h"

/* The effect of one instruction, or of some clocks, on the counters of a thread. */
struct outcome {
	uint32_t counted;
	uint32_t overflowed;
	uint32_t triggered; /* their record is due: they were armed before, and have counted */
};

/* The consequences for the whole core. */
struct consequences {
	unsigned pmi; /* threads to interrupt */
	bool lists;   /* what counts has changed */
};

static void counter_add(struct spmu_core *core, struct thread *thread, unsigned c, uint64_t add,
			struct outcome *outcome)
{
	const struct counter *counter = &thread->counter[c];
	uint64_t mask = counter_mask(core, c);
	uint64_t *value = &thread->state.reg[c];

	if (!add)
		return;
	outcome->counted |= 1u << c;
	if (add > mask - *value || counter->force)
		outcome->overflowed |= 1u << c;
	*value = (*value + add) & mask;
	counter_pin(core, thread, c, PIN_COUNT, add);
}

/*
 * Counts one instruction of thread `source` on counters of `thread`: its own, or those that count
 * on the other thread, too (18.2.3).
 */
static void count_insn(struct spmu_core *core, struct thread *thread, uint32_t counters,
		       unsigned source, const struct spmu_insn *insn, struct outcome *outcome)
{
	unsigned ring = ring_of(insn->cpl);

	while (counters) {
		unsigned c = take_lowest(&counters);
		const struct counter *counter = &thread->counter[c];
		uint64_t n = occurrences(insn->signals, counter_signals_of(counter, insn->signals));
		uint64_t add;

		if (!(counter->rings[source] & ring))
			continue;
		if (counter->tallied)
			n += tallies_in(insn, counter->tallies);
		add = n;
		if (thread->clocked >> c & 1) {
			add = clocks_pass(thread, c, source, insn->cycles, 0);
			add += clocks_count(thread, c, source,
					    n < CLOCK_COUNT_MAX ? (unsigned)n : CLOCK_COUNT_MAX);
		}
		/* The event makes the record, whatever the threshold does. */
		if (n && (counter->precise >> source & 1) && (thread->state.pebs_armed >> c & 1))
			outcome->triggered |= 1u << c;
		counter_add(core, thread, c, add, outcome);
		if (counter->at_once && (outcome->overflowed >> c & 1))
			outcome->triggered |= 1u << c;
	}
}

/* Sets OvfBuffer; with the erratum only while the interrupt freezes counters. */
static void buffer_status(struct spmu_core *core, struct thread *thread)
{
	if (has_erratum(core, ERRATUM_PEBS_STATUS) &&
	    !(thread->state.reg[SLOT_DEBUGCTL] & FIELD(DEBUGCTL, FREEZE_PERFMON_ON_PMI)))
		return;
	status_raise(core, thread, FIELD(GLOBAL_STATUS, OvfBuf));
}

static unsigned record_interrupts(const struct thread *holder, uint32_t counters)
{
	unsigned pmi = 0;

	while (counters)
		pmi |= holder->counter[take_lowest(&counters)].record_pmi;
	return pmi;
}

/*
 * Makes a record of thread lp's instruction for counters of `holder`. Returns SPMU_EV_RECORD if a
 * record was written; *pmi is set at the threshold.
 */
static unsigned take_record(struct spmu_core *core, unsigned lp, struct thread *holder,
			    const struct spmu_insn *insn, struct outcome *outcome, unsigned *pmi)
{
	struct thread_state *state = &holder->state;
	uint32_t done = outcome->triggered;
	enum pebs_result result = pebs_write(core, lp, holder, insn, &done);

	if (result != PEBS_SKIPPED && result != PEBS_WRITTEN)
		buffer_status(core, &core->thread[lp]);
	if (result == PEBS_LATE || result == PEBS_THRESHOLD)
		*pmi |= record_interrupts(holder, outcome->triggered);
	if (result == PEBS_SKIPPED || result == PEBS_FULL || result == PEBS_LATE)
		return 0;
	/* CCCR.OVF is sticky (18.15.3). */
	if (core->model->counters->programming == SPMU_PROGRAM_PERFEVTSEL)
		state->reg[SLOT_GLOBAL_STATUS] &= ~pebs_applicable(done);
	state->pebs_armed &= ~done;
	outcome->overflowed &= ~done;
	return result == PEBS_OUTSIDE ? 0 : SPMU_EV_RECORD;
}

/* Requests interrupts that waited for the counter's next count (18.15.3, OVF_PMI). */
static unsigned late_interrupts(struct thread *thread, uint32_t counted)
{
	uint32_t set = thread->state.pmi_due & counted;
	unsigned pmi = 0;

	thread->state.pmi_due &= ~set;
	while (set)
		pmi |= thread->counter[take_lowest(&set)].pmi;
	return pmi;
}

static void overflow(struct spmu_core *core, struct thread *thread, unsigned c,
		     struct consequences *then)
{
	const struct counter *counter = &thread->counter[c];

	status_overflow(core, thread, counter);
	if (counter->late && counter->pmi)
		thread->state.pmi_due |= 1u << c;
	else
		then->pmi |= counter->pmi;
	then->lists |= counter->starts;
	counter_pin(core, thread, c, PIN_OVERFLOW, 1);
}

/*
 * Handles overflow and records of the counters of one thread. `insn` is thread lp's, or NULL.
 * Returns SPMU_EV_RECORD.
 */
static unsigned conclude(struct spmu_core *core, struct thread *thread, unsigned lp,
			 const struct spmu_insn *insn, struct outcome *outcome,
			 struct consequences *then)
{
	unsigned events = 0;

	if (thread->state.pmi_due & outcome->counted)
		then->pmi |= late_interrupts(thread, outcome->counted);
	for (uint32_t set = outcome->overflowed; set;)
		overflow(core, thread, take_lowest(&set), then);
	if (outcome->triggered && insn)
		events = take_record(core, lp, thread, insn, outcome, &then->pmi);
	for (uint32_t set = outcome->overflowed; set;) {
		unsigned c = take_lowest(&set);

		if (thread->counter[c].precise)
			thread->state.pebs_armed |= 1u << c;
	}
	return events;
}

/*
 * Finishes for all threads, grants new headroom, then interrupts. `insn` is thread lp's, or NULL.
 * `traced`: it is a branch that the branch trace wants. PEBS comes before the branch trace, and
 * interrupts wait until both are done (18.4.4).
 */
static unsigned finish(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn,
		       struct outcome outcome[SPMU_THREADS_MAX], bool traced)
{
	struct consequences then = {0, false};
	unsigned events = 0;

	for (unsigned i = 0; i < core->threads; i++)
		events |= conclude(core, &core->thread[i], lp, insn, &outcome[i], &then);
	if (traced && branches_traced(core, lp, insn))
		then.pmi |= 1u << lp;
	for (unsigned i = 0; i < core->threads; i++)
		if (then.pmi >> i & 1)
			then.lists |= pmi_request(core, &core->thread[i]);
	if (then.lists)
		counters_update(core);
	else
		meters_grant(core);
	for (unsigned i = 0; i < core->threads; i++)
		if (then.pmi >> i & 1)
			events |= pmi_deliver(core, i);
	return events;
}

/*
 * Returns the counters of a thread that thread lp moves: all of its own, and those of the other
 * thread that count here, too (18.2.3).
 */
static uint32_t moved_by(const struct thread *thread, bool own)
{
	return own ? thread->active : thread->any;
}

/* `late`: the instruction retired before, so it makes no record. */
static unsigned retire_exactly(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn,
			       bool traced, bool late)
{
	struct outcome outcome[SPMU_THREADS_MAX] = {{0, 0, 0}};
	uint32_t epoch = core_epochs(core);
	uint32_t due = pebs_due(&core->thread[lp], lp, ring_of(insn->cpl));
	unsigned events;

	meters_fold(core);
	for (unsigned i = 0; i < core->threads; i++)
		count_insn(core, &core->thread[i], moved_by(&core->thread[i], i == lp), lp, insn,
			   &outcome[i]);
	outcome[lp].triggered |= due;
	events = finish(core, lp, late ? NULL : insn, outcome, traced);
	return core_epochs(core) == epoch ? events : events | SPMU_EV_METERS;
}

/* Returns the occurrences in an instruction that a meter counts. */
static inline __attribute__((always_inline)) int64_t meter_occurrences(const struct thread *thread,
								       unsigned i,
								       const struct spmu_insn *insn,
								       bool tallied)
{
	int64_t n = occurrences(insn->signals, thread->meter[i].signals);

	if (tallied && thread->tallies_of[i])
		n += (int64_t)tallies_in(insn, thread->tallies_of[i]);
	return n;
}

/*
 * If the instruction fits the headroom, nothing else happens. Otherwise what was taken of the
 * headroom is given back, and the instruction is counted exactly. `tallied`: some meter counts
 * tallies.
 */
static inline __attribute__((always_inline)) unsigned retire_by(struct spmu_core *core, unsigned lp,
								const struct spmu_insn *insn,
								bool tallied, bool late)
{
	struct thread *thread = &core->thread[lp];
	struct spmu_meter *published = thread->published->meter;
	unsigned ring = ring_of(insn->cpl);

	for (unsigned i = 0; i < thread->meters; i++) {
		int64_t n = meter_occurrences(thread, i, insn, tallied);

		if (!n || !(thread->meter[i].rings & ring))
			continue;
		if (published[i].headroom >= n) {
			published[i].headroom -= n;
			continue;
		}
		while (i--)
			if (thread->meter[i].rings & ring)
				published[i].headroom +=
					meter_occurrences(thread, i, insn, tallied);
		return retire_exactly(core, lp, insn, false, late);
	}
	return 0;
}

static inline unsigned retire_counted(struct spmu_core *core, unsigned lp,
				      const struct spmu_insn *insn)
{
	return retire_by(core, lp, insn, false, false);
}

/* Counters may treat several privilege levels as the system's (CESR, 18.23.1). */
static unsigned level_of(const struct spmu_core *core, unsigned cpl)
{
	return cpl <= core->os_cpl ? 0 : cpl;
}

/*
 * The last branch record is made before the instruction is counted, so that a PEBS record of the
 * instruction and a freeze find it. The branch trace comes after. The function is not inline, so
 * that the usual path stays short.
 */
static __attribute__((noinline)) unsigned retire_special(struct spmu_core *core, unsigned lp,
							 const struct spmu_insn *insn)
{
	struct thread *thread = &core->thread[lp];
	bool traced = thread->by_branch && branches_retired(core, lp, insn);
	struct spmu_insn levelled;

	if (core->os_cpl) {
		levelled = *insn;
		levelled.cpl = (uint8_t)level_of(core, insn->cpl);
		insn = &levelled;
	}
	if (thread->by_clock || traced)
		return retire_exactly(core, lp, insn, traced, false);
	if (thread->by_tally)
		return retire_by(core, lp, insn, true, false);
	return retire_counted(core, lp, insn);
}

/*
 * Each entry counts like an instruction without signals, for which no record can be made any more.
 */
unsigned spmu_tallies(struct spmu_core *core, unsigned lp, const struct spmu_tally *tallies,
		      size_t count, unsigned cpl)
{
	struct spmu_insn insn = {.tally_count = 1};
	unsigned events = 0;

	if (lp >= core->threads)
		return 0;
	insn.cpl = (uint8_t)level_of(core, cpl);
	for (; count; count--, tallies++) {
		insn.tallies = tallies;
		if (lbr_logging(&core->thread[lp]))
			lbr_log(&core->thread[lp], lp, &insn);
		if (core->thread[lp].by_tally)
			events |= retire_by(core, lp, &insn, true, true);
	}
	return events;
}

/* Aligned: its few loops run a third slower if their jumps cross a cache line. */
__attribute__((aligned(64))) unsigned spmu_retire(struct spmu_core *core, unsigned lp,
						  const struct spmu_insn *insn)
{
	if (lp >= core->threads)
		return 0;
	if (core->thread[lp].special)
		return retire_special(core, lp, insn);
	return retire_counted(core, lp, insn);
}

/*
 * Returns true if each count of this counter is an overflow, and one more changes only its value:
 * its flag is set, it has started and armed all that it can, and the LVT entries hold its
 * interrupts back.
 */
static bool overflows_for_nothing(const struct spmu_core *core, const struct thread *thread,
				  unsigned c)
{
	const struct counter *counter = &thread->counter[c];
	bool nothing =
		counter->force && !counter->starts &&
		(!counter->status || (thread->state.reg[counter->status_slot] & counter->status)) &&
		(!counter->precise || (thread->state.pebs_armed >> c & 1));

	if (counter->pmi && !(thread->state.pmi_due >> c & 1))
		nothing = false;
	for (unsigned lp = 0; lp < core->threads; lp++)
		if ((counter->pmi >> lp & 1) && pmi_deliverable(core->thread[lp].state.lvt))
			nothing = false;
	return nothing;
}

/*
 * Returns how many of `clocks` can pass until some counter wraps, at least 1. A counter with a
 * threshold that has seen two equal clocks gains the same in each further one.
 */
static uint64_t clocks_until_wrap(const struct spmu_core *core, const struct thread *thread,
				  unsigned lp, uint64_t signals, uint64_t clocks, unsigned ring)
{
	for (uint32_t counters = moved_by(thread, thread == &core->thread[lp]); counters;) {
		unsigned c = take_lowest(&counters);
		const struct counter *counter = &thread->counter[c];
		uint64_t headroom = counter_mask(core, c) - thread->state.reg[c];
		unsigned each = occurrences(signals, counter->signals);

		if (thread->clocked >> c & 1)
			each = clocks_hold(counter, each) && !counter->edge;
		if ((counter->force || (thread->state.pmi_due >> c & 1)) &&
		    !overflows_for_nothing(core, thread, c))
			headroom = 0;
		if (each && (counter->rings[lp] & ring))
			clocks = headroom / each + 1 < clocks ? headroom / each + 1 : clocks;
	}
	return clocks;
}

static unsigned clocks_exactly(struct spmu_core *core, unsigned lp, uint64_t signals,
			       uint64_t clocks, unsigned ring)
{
	struct outcome outcome[SPMU_THREADS_MAX] = {{0, 0, 0}};

	for (unsigned i = 0; i < core->threads; i++) {
		struct thread *thread = &core->thread[i];

		for (uint32_t set = moved_by(thread, i == lp); set;) {
			unsigned c = take_lowest(&set);
			unsigned each = occurrences(signals, thread->counter[c].signals);
			uint64_t add = clocks * each;

			if (!(thread->counter[c].rings[lp] & ring))
				continue;
			if (thread->clocked >> c & 1) {
				add = clocks_pass(thread, c, lp, clocks, each);
				add += clocks_count(thread, c, lp, each);
			}
			counter_add(core, thread, c, add, &outcome[i]);
		}
	}
	return finish(core, lp, NULL, outcome, false);
}

/*
 * The clocks are counted in pieces. A piece ends when a counter wraps, so that a freeze stops the
 * other counters at the right clock.
 */
unsigned spmu_clocks(struct spmu_core *core, unsigned lp, uint64_t signals, uint64_t clocks,
		     unsigned cpl)
{
	uint32_t epoch;
	unsigned events = 0;

	if (lp >= core->threads || !clocks)
		return 0;
	epoch = core_epochs(core);
	cpl = level_of(core, cpl);
	spmu_sync(core);
	if (signals & SPMU_SIGBIT(CYCLES))
		lbr_clocks(&core->thread[lp], clocks);
	for (unsigned pieces = 0; clocks; pieces++) {
		bool alike = !core->thread[lp].by_clock || pieces >= 2;
		uint64_t piece = alike ? clocks : 1;

		for (unsigned i = 0; i < core->threads; i++)
			piece = clocks_until_wrap(core, &core->thread[i], lp, signals, piece,
						  ring_of(cpl));
		events |= clocks_exactly(core, lp, signals, piece, ring_of(cpl));
		clocks -= piece;
	}
	return core_epochs(core) == epoch ? events : events | SPMU_EV_METERS;
}
