/* SPDX-License-Identifier: MIT */
/*
 * event_resolve.c: which row of the model's table an event takes, which counters can count it, and
 * whether it can be had at all.
 */
#include "event_resolve.h"

#include <linux/perf_event.h>

#include <hosts/user/launch.h>

#include "event_early.h"

static bool is_modified(const struct event *event)
{
	return event->select & (SELECT_EDGE | SELECT_INV | SELECT_CMASK | SELECT_ANY);
}

/* Why it is not counted; NULL when it is. */
static const char *reason_of_absence(const struct spmu_model *model, const struct event *event,
				     const struct event_code *code,
				     const struct modifiers *modifiers)
{
	bool levels = modifiers->user || modifiers->kernel || modifiers->hypervisor;

	if (levels && !modifiers->user)
		return "no kernel code runs here";
	if (modifiers->kernel)
		return "its kernel part is not observed; :u counts the program's part";
	if (modifiers->guest && !modifiers->host)
		return "no guest runs here";
	if (code->extra)
		return "it needs a register that is not modelled";
	if (event_cannot(model, event->select))
		return event_cannot(model, event->select);
	if (!event->row)
		return "the model's table does not have it";
	if (spmu_event_fidelity(event->row, &launch_supply) == SPMU_ABSENT)
		return "nothing here supplies what it counts";
	if (event_wants_tag(model, code))
		return "it counts what another event tags: tag=EVENT, or a metric such as "
		       "memory_loads";
	return NULL;
}

const struct spmu_event *events_precise_twin(const struct spmu_model *model,
					     const struct spmu_event *row)
{
	for (size_t i = 0; row && row->signals && i < spmu_event_count(model); i++) {
		const struct spmu_event *twin = spmu_event_at(model, i);
		const struct event_code code = {.code = twin->code};

		if (event_wants_tag(model, &code))
			continue;
		if (twin->signals == row->signals && twin->fidelity == row->fidelity &&
		    twin->pebs_counters)
			return twin;
	}
	return NULL;
}

/* Only some codes can be precise.  A generic name means what it counts, so it takes the code that
 * can; a code that was named is taken as it is. */
static void choose_row(struct event *event, const struct spmu_model *model,
		       const struct event_code *code, const struct modifiers *modifiers)
{
	const struct spmu_event *twin = NULL;

	event->row = code->row;
	event->select = code->select | modifiers->select | SELECT_USR;
	event->code = code->code;
	event->tagger = code->tagger;
	if (modifiers->precise && code->perf_type == PERF_TYPE_HARDWARE && event->row &&
	    !event->row->pebs_counters)
		twin = events_precise_twin(model, event->row);
	if (twin) {
		event->row = twin;
		event->code = twin->code;
		event->select = twin->code | modifiers->select | SELECT_USR;
	}
}

/* A precise event that no general counter takes goes to its fixed counter where that has PEBS. */
static bool fixed_alone(const struct event *event, const struct spmu_model *model,
			const struct event_code *code)
{
	return !event->counters && code->fixed >= 0 &&
	       (spmu_model_info(model).pebs_fixed >> code->fixed & 1);
}

/* "ppp" takes a fixed counter that is precisely distributed, as Linux has it. */
static bool most_precise(const struct event *event, const struct spmu_model *model,
			 const struct event_code *code, const struct modifiers *modifiers)
{
	const unsigned first_fixed = 32;

	return modifiers->precise == PRECISE_MAX && !is_modified(event) && code->fixed >= 0 &&
	       spmu_model_pdir(model, first_fixed + (unsigned)code->fixed, 0);
}

/* Returns the event's counters with precise distribution, for "ppp"; all of them if none has it. */
static uint32_t distributed(const struct event *event, const struct spmu_model *model)
{
	uint32_t set = 0;

	for (unsigned n = 0; n < 32; n++)
		if ((event->counters >> n & 1) && spmu_model_pdir(model, n, event->select))
			set |= UINT32_C(1) << n;
	return set ? set : event->counters;
}

void event_resolve(struct event *event, const struct spmu_model *model,
		   const struct event_code *code, const struct modifiers *modifiers)
{
	bool levels = modifiers->user || modifiers->kernel || modifiers->hypervisor;

	choose_row(event, model, code, modifiers);
	event->precise = modifiers->precise;
	event->period = modifiers->period;
	event->frequency = modifiers->frequency;
	event->exclude_user = levels && !modifiers->user;
	event->exclude_kernel = !modifiers->kernel;
	event->perf_type = modifiers->select ? PERF_TYPE_RAW : code->perf_type;
	event->perf_config = modifiers->select ? event->select & SELECT_CHOSEN : code->perf_config;
	if (event->perf_type == PERF_TYPE_RAW &&
	    spmu_model_info(model).programming != SPMU_PROGRAM_PERFEVTSEL)
		event->perf_config = code->code;

	event->fixed = -1;
	if (event->precise) {
		event->counters = event->row ? event->row->pebs_counters : 0;
		event->data_address = event->row && event->row->data_address;
	} else if (event->row) {
		event->counters = event->row->counters;
	} else {
		event->counters = event_counters(model, code->code);
	}
	if (modifiers->precise == PRECISE_MAX)
		event->counters = distributed(event, model);
	if (code->fixed_only || most_precise(event, model, code, modifiers))
		event->counters = 0;
	if (!is_modified(event) && (!event->precise || fixed_alone(event, model, code)))
		event->fixed = code->fixed;

	event->absent_reason = reason_of_absence(model, event, code, modifiers);
	event->fidelity = event->absent_reason ? SPMU_ABSENT
					       : spmu_event_fidelity(event->row, &launch_supply);
	/* A threshold compares occurrences in a cycle; the clock here is a model: one instruction a
	 * cycle. */
	if (event->fidelity == SPMU_EXACT && (event->select & (SELECT_EDGE | SELECT_CMASK)))
		event->fidelity = SPMU_MODELLED;
}
