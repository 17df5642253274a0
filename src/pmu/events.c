/* SPDX-License-Identifier: MIT */
/* events.c: the event tables of data/events: search and fidelity (chapter 19). */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"

size_t spmu_event_count(const struct spmu_model *model)
{
	size_t count = 0;

	for (unsigned p = 0; p < EVENT_PARTS_MAX; p++)
		count += model->events->part[p].count;
	return count;
}

const struct spmu_event *spmu_event_at(const struct spmu_model *model, size_t index)
{
	for (unsigned p = 0; p < EVENT_PARTS_MAX; p++) {
		const struct event_part *part = &model->events->part[p];

		if (index < part->count)
			return &part->event[index];
		index -= part->count;
	}
	return NULL;
}

/* Returns the first event with this code that all of `counters` can count. */
static const struct spmu_event *find(const struct spmu_model *model, uint64_t code,
				     uint32_t counters)
{
	for (unsigned p = 0; p < EVENT_PARTS_MAX; p++) {
		const struct event_part *part = &model->events->part[p];

		for (size_t i = 0; i < part->count; i++)
			if (part->event[i].code == code && !(counters & ~part->event[i].counters))
				return &part->event[i];
	}
	return NULL;
}

const struct spmu_event *spmu_event_by_code(const struct spmu_model *model, uint64_t code)
{
	return find(model, code, 0);
}

const struct spmu_event *event_on(const struct spmu_model *model, uint64_t code, unsigned counter)
{
	return find(model, code, 1u << counter);
}

void counter_adds(struct counter *counter, uint64_t signals)
{
	uint64_t kinds = signals & SPMU_SIGSET_BRANCHES;
	bool missed = signals & SPMU_SIGBIT(BRANCH_MISS);
	bool predicted = signals & SPMU_SIGBIT(BRANCH_PREDICTED);

	if (kinds && missed)
		counter->missed |= kinds;
	if (kinds && predicted)
		counter->predicted |= kinds;
	if (!kinds || !(missed || predicted))
		counter->signals |= signals;
	/* Kinds that count in any case need no question. */
	counter->missed &= ~counter->signals;
	counter->predicted &= ~counter->signals;
}

void counter_adds_tally(struct counter *counter, unsigned kind)
{
	if (!kind || !counter->tallies)
		return;
	if (!counter->tallied)
		*counter->tallies = (struct spmu_tally_set){{0}};
	counter->tallied = true;
	spmu_tally_set_add(counter->tallies, kind);
}

void event_counts(const struct spmu_core *core, const struct spmu_event *event, uint64_t signals,
		  struct counter *counter)
{
	if (event->instead && tally_supplied(core, event->instead)) {
		counter_adds_tally(counter, event->instead);
		return;
	}
	counter_adds(counter, signals);
	counter_adds_tally(counter, event->tally);
}

/* Mispredicted branches by their kind.  Other kinds are never mispredicted. */
static const struct {
	enum spmu_signal kind;
	enum spmu_tally_kind missed;
} kinds_missed[] = {
	{SPMU_SIG_COND_TAKEN, SPMU_TALLY_MISSED_COND_TAKEN},
	{SPMU_SIG_COND_NTAKEN, SPMU_TALLY_MISSED_COND_NTAKEN},
	{SPMU_SIG_CALL_IND, SPMU_TALLY_MISSED_CALL_IND},
	{SPMU_SIG_JMP_IND, SPMU_TALLY_MISSED_JMP_IND},
	{SPMU_SIG_RET_NEAR, SPMU_TALLY_MISSED_RET},
};

#define KINDS_MISSED (sizeof(kinds_missed) / sizeof(kinds_missed[0]))

void event_judges(const struct spmu_core *core, struct counter *counter)
{
	if (!counter->missed || !counter->tallies || !tally_supplied(core, SPMU_TALLY_MISSED_RET))
		return;
	for (size_t i = 0; i < KINDS_MISSED; i++)
		if (counter->missed >> kinds_missed[i].kind & 1)
			counter_adds_tally(counter, kinds_missed[i].missed);
	counter->missed = 0;
}

const struct spmu_event *spmu_event_fixed(const struct spmu_model *model, unsigned fixed)
{
	if (fixed >= model->counters->fixed_counters)
		return NULL;
	return spmu_event_by_code(model, model->events->fixed_code[fixed]);
}

/* Our reading: with a threshold the code is another event (18.13.1.2, note 2 of table 18-56). */
bool spmu_model_pdir(const struct spmu_model *model, unsigned counter, uint64_t select)
{
	const struct counter_layout *layout = model->counters;
	const uint64_t modifiers = FIELD(PERFEVTSEL, E) | FIELD(PERFEVTSEL, ANY) |
				   FIELD(PERFEVTSEL, INV) | FIELD(PERFEVTSEL, CMASK);
	const unsigned first_fixed = FIELD_LOW(GLOBAL_STATUS, Ovf_FIXED_CTR0);
	const struct spmu_event *event;

	if (counter >= first_fixed)
		return counter - first_fixed < FIXED_MAX &&
		       (layout->pdir_fixed >> (counter - first_fixed) & 1);
	if (counter >= GENERAL_MAX || (select & modifiers))
		return false;
	if (layout->skid_counters >> counter & 1) {
		event = event_on(model, select & EVENT_CODE, counter);
		return event && (event->pebs_counters >> counter & 1);
	}
	return (layout->pdir_counters >> counter & 1) &&
	       (select & EVENT_CODE) == layout->pdir_event;
}

enum spmu_fidelity spmu_event_fidelity(const struct spmu_event *event,
				       const struct spmu_supply *supply)
{
	uint64_t needed = signals_needed(event->signals);
	bool exact = !event->tally || spmu_tally_set_has(&supply->exact_tallies, event->tally);

	if ((!needed && !event->tally) || (needed & ~(supply->exact | supply->modelled)) ||
	    (!exact && !spmu_tally_set_has(&supply->modelled_tallies, event->tally)))
		return SPMU_ABSENT;
	if ((needed & ~supply->exact) || !exact)
		return event->fidelity < SPMU_MODELLED ? event->fidelity : SPMU_MODELLED;
	return event->fidelity;
}

const char *spmu_signal_meaning(enum spmu_signal signal)
{
	static const char *const meanings[] = {
#define MEANING(name, meaning) meaning,
		SPMU_SIGNAL_LIST(MEANING)
#undef MEANING
	};

	return (unsigned)signal < SPMU_SIGNALS ? meanings[signal] : NULL;
}
