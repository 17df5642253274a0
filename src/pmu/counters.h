/* SPDX-License-Identifier: MIT */
/*
 * counters.h: what counters count.  The registers of a family become struct counter (perfevtsel.c,
 * cesr.c, escr.c), and the active counters become meters (meters.c).
 */
#ifndef SPMU_SRC_COUNTERS_H
#define SPMU_SRC_COUNTERS_H

#include "src/pmu/core.h"

/*
 * One file for each way to program counters. *_update() sets `counter` and `active` from the
 * thread's registers. *_clocked() returns the counters that may remember a clock.
 */
void perfevtsel_update(const struct spmu_core *core, struct thread *thread);
uint32_t perfevtsel_clocked(const struct spmu_core *core, const struct thread_state *state);
void cesr_update(const struct spmu_core *core, struct thread *thread);
uint32_t cesr_clocked(const struct spmu_core *core, const struct thread_state *state);
void escr_update(const struct spmu_core *core, struct thread *thread);
uint32_t escr_clocked(const struct spmu_core *core, const struct thread_state *state);
uint32_t escr_flagged(const struct spmu_core *core, const struct thread_state *state);

/* meters.c */
void counters_update(struct spmu_core *core);
void meters_fold(struct spmu_core *core);
void meters_grant(struct spmu_core *core);
uint32_t counters_clocked(const struct spmu_core *core, const struct thread_state *state);

/* The event in an event select: select, unit mask and unit mask 2, which most families lack. */
#define EVENT_CODE (BITS(0, 16) | BITS(40, 8))

/* Returns the signals that a host must supply for an event with these signals. */
static inline uint64_t signals_needed(uint64_t signals)
{
	if (signals & SPMU_SIGBIT(BRANCH_PREDICTED))
		signals |= SPMU_SIGBIT(BRANCH_MISS);
	return signals & ~SPMU_SIGBIT(BRANCH_PREDICTED);
}

/* Returns true if the host supplies all of these signals. */
static inline bool signals_supplied(const struct spmu_core *core, uint64_t signals)
{
	return signals &&
	       !(signals_needed(signals) & ~(core->host.supply.exact | core->host.supply.modelled));
}

/* Returns true if the host supplies the tally. */
static inline bool tally_supplied(const struct spmu_core *core, unsigned kind)
{
	return spmu_tally_set_has(&core->host.supply.exact_tallies, kind) ||
	       spmu_tally_set_has(&core->host.supply.modelled_tallies, kind);
}

/* Returns true if the host supplies all that the event counts. */
static inline bool event_supplied(const struct spmu_core *core, const struct spmu_event *event)
{
	return event->tally ? tally_supplied(core, event->tally) &&
				      (!event->signals || signals_supplied(core, event->signals))
			    : signals_supplied(core, event->signals);
}

/*
 * Returns all signals that can move a counter. counter_signals_of() returns those that do so in an
 * instruction with the signals `insn`.
 */
static inline uint64_t counter_signals(const struct counter *counter)
{
	return counter->signals | counter->predicted | counter->missed;
}
static inline uint64_t counter_signals_of(const struct counter *counter, uint64_t insn)
{
	return counter->signals |
	       (insn & SPMU_SIGBIT(BRANCH_MISS) ? counter->missed : counter->predicted);
}

/* Returns what moves a counter's pin, by the pin control flag. */
static inline uint8_t pin_of(const struct spmu_core *core, bool control)
{
	if (!core->host.pin)
		return PIN_NONE;
	return control == core->model->counters->pin_asserts ? PIN_OVERFLOW : PIN_COUNT;
}

/*
 * events.c. event_on() returns the event that this counter has for a code, or NULL. counter_adds()
 * lets the counter count an event with these signals, too, and counter_adds_tally() a tally.
 */
const struct spmu_event *event_on(const struct spmu_model *model, uint64_t code, unsigned counter);

/* Lets the counter count what a host supplies of an event: its signals and its tally, or what it
 * has instead.  event_judges() does it for kinds of mispredicted branches, after all events. */
void event_counts(const struct spmu_core *core, const struct spmu_event *event, uint64_t signals,
		  struct counter *counter);
void event_judges(const struct spmu_core *core, struct counter *counter);
void counter_adds(struct counter *counter, uint64_t signals);
void counter_adds_tally(struct counter *counter, unsigned kind);

/* offcore.c: lets the counter count what the register of an off-core response event selects. */
void offcore_adds(const struct spmu_core *core, const struct thread *thread,
		  const struct spmu_event *event, struct counter *counter);

/* frontend.c: the same for the register of FRONTEND_RETIRED. */
void frontend_adds(const struct spmu_core *core, const struct thread *thread,
		   struct counter *counter);

/* Returns true if an active counter counts anything. */
static inline bool counter_counts(const struct counter *counter)
{
	return counter_signals(counter) || counter->tallied;
}

/* tallies.c: the properties of a kind of tally, and the accesses that tallies need. */
uint32_t tally_of(unsigned kind);
uint32_t tallies_need(const struct spmu_tally_set *set);
uint64_t tallies_in(const struct spmu_insn *insn, const struct spmu_tally_set *set);

/* clocks.c: return what clocks and occurrences of thread `source` add to a counter. */
#define CLOCK_COUNT_MAX 0xffffu
bool clocks_hold(const struct counter *counter, uint64_t count);
uint64_t clocks_pass(struct thread *thread, unsigned counter, unsigned source, uint64_t clocks,
		     unsigned each);
uint64_t clocks_count(struct thread *thread, unsigned counter, unsigned source,
		      unsigned occurrences);

/* Returns the occurrences of `set` in an instruction's signals, rarely more than one. */
static inline unsigned occurrences(uint64_t signals, uint64_t set)
{
	uint64_t bits = signals & set;
	unsigned count = bits != 0;

	while (bits &= bits - 1)
		count++;
	return count;
}

/* Moves the counter's pin if it is set up for this cause. */
static inline void counter_pin(const struct spmu_core *core, const struct thread *thread,
			       unsigned counter, enum pin cause, uint64_t toggles)
{
	if (thread->counter[counter].pin == cause)
		core->host.pin(core->host.opaque, thread_number(core, thread), counter, toggles);
}

#endif
