/* SPDX-License-Identifier: MIT */
/*
 * samples.c: what samples of the tool's events and of opened events have in common: how a period
 * follows from a rate, and what records of a model tell.
 */
#include "engine/count/samples.h"

#include <softpmu/softpmu.h>

#include "engine/count/activity.h"

/* Periods to which a rate may lead.  Before each sample of an event that a model of the machine
 * counts, many instructions run one by one. */
#define PERIOD_LEAST	      16
#define PERIOD_LEAST_MODELLED 1000
#define PERIOD_MOST	      (UINT64_C(1) << 40)

uint64_t samples_least_period(const struct spmu_model *model, uint64_t code)
{
	const struct spmu_event *event = model ? spmu_event_by_code(model, code) : NULL;
	struct spmu_meter meter = {.signals = event ? event->signals : 0};

	return (event && event->tally) || activity_wanted(&meter) ? PERIOD_LEAST_MODELLED
								  : PERIOD_LEAST;
}

/* The period changes by a factor of eight at most, because the first periods are guesses. */
uint64_t samples_next_period(const struct samples_rate *rate)
{
	uint64_t period = rate->period, wanted, next;

	if (!rate->elapsed || rate->ns < 1000)
		return period;
	wanted = (uint64_t)((unsigned __int128)rate->ticks * 1000000000u / rate->ns /
			    rate->frequency);
	next = (uint64_t)((unsigned __int128)rate->passed * wanted / rate->elapsed);
	if (next > period * 8)
		next = period * 8;
	if (next < period / 8)
		next = period / 8;
	next = (period + next) / 2;
	if (next < rate->least)
		next = rate->least;
	return next > PERIOD_MOST ? PERIOD_MOST : next;
}

bool samples_tell_address(const struct spmu_model *model, uint32_t code)
{
	bool known = false;

	for (size_t i = 0; i < spmu_event_count(model); i++) {
		const struct spmu_event *event = spmu_event_at(model, i);

		if (event->code == code && event->data_address)
			return true;
		known |= event->code == code;
	}
	return !known;
}

/* Returns whether last branch records say how a branch was predicted. */
static bool tells_prediction(const struct spmu_model *model)
{
	const struct spmu_lbr_layout *layout = spmu_model_lbr_layout(model);

	return layout && layout->format >= SPMU_LBR_FLAGS && activity_of_branches(1);
}

/* Without a model of the machine it is not known whether a branch was predicted, so neither flag is
 * set. */
uint64_t samples_branch_flags(const struct spmu_model *model, const struct spmu_branch *branch)
{
	bool missed = branch->flags & SPMU_BRANCH_MISPREDICTED;

	return (missed ? 1u : 0) | (!missed && tells_prediction(model) ? 1u << 1 : 0) |
	       (branch->flags & SPMU_BRANCH_IN_TX ? 1u << 2 : 0) |
	       (branch->flags & SPMU_BRANCH_ABORT ? 1u << 3 : 0) | (branch->cycles & 0xffffu) << 4;
}
