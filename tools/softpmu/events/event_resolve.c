/* SPDX-License-Identifier: MIT */
/*
 * event_resolve.c: chooses the row of the model's table for an event and the counters that can
 * count it, and decides whether it is absent.
 */
#include "tools/softpmu/events/event_resolve.h"

#include <linux/perf_event.h>

#include <hosts/user/launch.h>
#include <softpmu/uarch_time.h>

#include "tools/softpmu/events/event_legacy.h"

static bool is_modified(const struct event *event)
{
	return event->select & (SELECT_EDGE | SELECT_INV | SELECT_CMASK | SELECT_ANY);
}

/* Returns whether a row counts branches of some kinds that were predicted.  No tally has them. */
static bool is_judged(const struct spmu_event *row)
{
	return row->signals & SPMU_SIGBIT(BRANCH_PREDICTED);
}

/* Returns whether a row counts clocks or slots of a model of time. */
static bool is_timed(const struct spmu_event *row)
{
	return row->signals & SPMU_SIGSET_CLOCKS || spmu_tally_is_timed(row->tally);
}

/* Returns whether a row is an event that has a threshold of its own. */
static bool has_condition(const struct spmu_event *row)
{
	return row && row->code & SELECT_CONDITION;
}

/* Returns whether the clocks are those of a timeline, which supplies more. */
static bool has_timeline(void)
{
	for (unsigned t = 1; t < SPMU_TALLIES; t++)
		if (spmu_tally_is_timed(t) &&
		    spmu_tally_set_has(&launch_supply.modelled_tallies, t))
			return true;
	return false;
}

/* Returns why nothing supplies what a row counts. */
static const char *reason_of_supply(const struct spmu_model *model, const struct spmu_event *row)
{
	const struct spmu_machine *own = spmu_machine_of_model(spmu_model_describe(model).name);
	const struct spmu_core_shape *core = spmu_core_shape_find(own->name);
	struct spmu_supply with = launch_supply;
	bool machine = launch_supply.modelled;

	if (is_judged(row))
		return "nothing here supplies what it counts";
	spmu_machine_supplies(own, &with);
	spmu_uarch_supplies_offcore(&with);
	if (spmu_event_fidelity(row, &with) != SPMU_ABSENT)
		return machine ? "this machine's latencies are not known"
			       : "with --machine a model counts it";
	if (core)
		spmu_timeline_supplies(core, &with);
	if (spmu_event_fidelity(row, &with) == SPMU_ABSENT)
		return "nothing here supplies what it counts";
	if (has_timeline())
		return "too little is known of this machine's core";
	if (launch_supply.modelled & SPMU_SIGSET_CLOCKS)
		return "stat --machine counts it without --static-clocks";
	if (machine && row->signals & SPMU_SIGSET_CLOCKS)
		return "only stat and profile count these clocks; those of --static-clocks can be "
		       "sampled";
	if (row->signals & SPMU_SIGSET_CLOCKS)
		return "--static-clocks, or --machine of stat and profile, counts it by a model";
	return machine ? "only stat and profile count clocks, on a machine whose core is modelled"
		       : "stat and profile count it with --machine, by a model";
}

/* Returns why a condition of the front end is absent, or NULL if it is not. */
static const char *reason_of_frontend(uint64_t value)
{
	unsigned tally = spmu_frontend_tally(value);

	if (!value)
		return "it needs a condition of the front end: frontend=N";
	return spmu_tally_set_has(&launch_supply.modelled_tallies, tally)
		       ? NULL
		       : "nothing here supplies this condition of the front end";
}

/* Returns why off-core responses are absent, or NULL if they are not. */
static const char *reason_of_offcore(const struct spmu_model *model, uint64_t value)
{
	struct spmu_tally_set set;

	if (!value)
		return "it needs the requests and responses that count: offcore_rsp=N";
	return spmu_offcore_tallies(model, value, &set)
		       ? NULL
		       : "nothing here makes all of these off-core requests, or gives such "
			 "responses";
}

/* Returns why the event is absent, or NULL if it is not. */
static const char *reason_of_absence(const struct spmu_model *model, const struct event *event,
				     const struct event_code *code,
				     const struct modifiers *modifiers)
{
	bool levels = modifiers->user || modifiers->kernel || modifiers->hypervisor;

	if (levels && !modifiers->user)
		return "no kernel code runs here";
	if (modifiers->kernel)
		return "the kernel is not observed; use :u to count the program's part";
	if (modifiers->guest && !modifiers->host)
		return "no guest runs here";
	if (code->extra)
		return "it needs a register that is not modelled";
	if (event_legacy_cannot(model, event->select))
		return event_legacy_cannot(model, event->select);
	if (!event->row)
		return "the model's table does not list it";
	if (spmu_event_fidelity(event->row, &launch_supply) == SPMU_ABSENT)
		return reason_of_supply(model, event->row);
	if (event->row->tally == SPMU_TALLY_FRONTEND && reason_of_frontend(event->frontend))
		return reason_of_frontend(event->frontend);
	if (event->row->tally == SPMU_TALLY_OFFCORE && reason_of_offcore(model, event->offcore))
		return reason_of_offcore(model, event->offcore);
	if (is_timed(event->row) && event->select & SELECT_CONDITION && !has_condition(event->row))
		return "a threshold needs each clock, and the model of time has sums";
	if (is_judged(event->row))
		return "it counts predictions by kinds of branches";
	if (event_legacy_wants_tag(model, code))
		return "it counts tags; name the event that sets them with tag=EVENT, or use a "
		       "metric such as memory_loads";
	return NULL;
}

const struct spmu_event *event_resolve_precise_twin(const struct spmu_model *model,
						    const struct spmu_event *row)
{
	for (size_t i = 0; row && (row->signals || row->tally) && i < spmu_event_count(model);
	     i++) {
		const struct spmu_event *twin = spmu_event_at(model, i);
		const struct event_code code = {.code = twin->code};

		if (event_legacy_wants_tag(model, &code))
			continue;
		if (twin->signals == row->signals && twin->tally == row->tally &&
		    twin->fidelity == row->fidelity && twin->pebs_counters)
			return twin;
	}
	return NULL;
}

/* Returns the row that counts the select's threshold by itself, if something supplies that. */
static const struct spmu_event *conditioned_row(const struct event *event,
						const struct spmu_model *model)
{
	const struct spmu_event *row;

	if (spmu_model_describe(model).programming != SPMU_PROGRAM_PERFEVTSEL ||
	    !(event->select & SELECT_CONDITION))
		return NULL;
	row = spmu_event_by_code(model, event->select & (SELECT_CODE | SELECT_CONDITION));
	if (row && event->row && spmu_event_fidelity(row, &launch_supply) == SPMU_ABSENT &&
	    spmu_event_fidelity(event->row, &launch_supply) != SPMU_ABSENT)
		return NULL;
	return row;
}

/* Chooses the row and the code.  Only some codes can be precise.  A generic name takes a code that
 * counts the same and can be precise.  Any other code is taken as it is. */
static void choose_row(struct event *event, const struct spmu_model *model,
		       const struct event_code *code, const struct modifiers *modifiers)
{
	const struct spmu_event *twin = NULL, *conditioned;

	event->row = code->row;
	event->select = code->select | modifiers->select | SELECT_USR;
	event->code = code->code;
	event->tagger = code->tagger;
	conditioned = conditioned_row(event, model);
	if (conditioned)
		event->row = conditioned;
	if (modifiers->precise && code->perf_type == PERF_TYPE_HARDWARE && event->row &&
	    !event->row->pebs_counters)
		twin = event_resolve_precise_twin(model, event->row);
	if (twin) {
		event->row = twin;
		event->code = twin->code;
		event->select = twin->code | modifiers->select | SELECT_USR;
	}
}

/* Returns true if only the fixed counter can sample the event precisely. */
static bool fixed_alone(const struct event *event, const struct spmu_model *model,
			const struct event_code *code)
{
	return !event->counters && code->fixed >= 0 &&
	       (spmu_model_describe(model).pebs_fixed >> code->fixed & 1);
}

/* Returns true if "ppp" takes the fixed counter, as in Linux: it has precise distribution. */
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

/* Returns the threshold of an event of load latency.  Like Linux's, it is at least 3. */
static uint64_t threshold_of(const struct event_code *code, const struct modifiers *modifiers)
{
	const uint64_t least = 3;
	uint64_t given =
		modifiers->load_threshold ? modifiers->load_threshold : code->load_threshold;

	return given < least ? least : given;
}

void event_resolve(struct event *event, const struct spmu_model *model,
		   const struct event_code *code, const struct modifiers *modifiers)
{
	bool levels = modifiers->user || modifiers->kernel || modifiers->hypervisor;

	choose_row(event, model, code, modifiers);
	event->precise = modifiers->precise;
	event->period = modifiers->period;
	event->frequency = modifiers->frequency;
	if (event->row && event->row->tally == SPMU_TALLY_LOAD_LATENCY)
		event->load_threshold = threshold_of(code, modifiers);
	if (event->row && event->row->tally == SPMU_TALLY_FRONTEND)
		event->frontend = modifiers->frontend ? modifiers->frontend : code->frontend;
	if (event->row && event->row->tally == SPMU_TALLY_OFFCORE)
		event->offcore = modifiers->offcore ? modifiers->offcore : code->offcore;
	event->exclude_user = levels && !modifiers->user;
	event->exclude_kernel = !modifiers->kernel;
	event->perf_type = modifiers->select ? PERF_TYPE_RAW : code->perf_type;
	event->perf_config = modifiers->select ? event->select & SELECT_CHOSEN : code->perf_config;
	if (event->perf_type == PERF_TYPE_RAW &&
	    spmu_model_describe(model).programming != SPMU_PROGRAM_PERFEVTSEL)
		event->perf_config = code->code;

	event->fixed = -1;
	if (event->precise) {
		event->counters = event->row ? event->row->pebs_counters : 0;
		event->data_address = event->row && event->row->data_address;
	} else if (event->row) {
		event->counters = event->row->counters;
	} else {
		event->counters = event_legacy_counters(model, code->code);
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
	/* A threshold compares occurrences in a clock, and the clock is a model: one instruction
	 * each. */
	if (event->fidelity == SPMU_EXACT && !has_condition(event->row) &&
	    (event->select & (SELECT_EDGE | SELECT_CMASK)))
		event->fidelity = SPMU_MODELLED;
}
