/* SPDX-License-Identifier: MIT */
/* record_events.c: checks that each event of `softpmu record` can be sampled, and how. */
#include <stdlib.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/events/event_resolve.h"
#include "tools/softpmu/run/record.h"

static int not_precise(const struct record *record, const struct event *event)
{
	const struct spmu_event *twin = event_resolve_precise_twin(record->model, event->row);

	return tool_error("event '%s' cannot be sampled precisely on %s%s%s%s", event->name,
			  spmu_model_describe(record->model).name, twin ? "; " : "",
			  twin ? twin->name : "", twin ? " counts the same and can" : "");
}

/* Returns the longest period.  A counter starts at the period below its overflow, but not at 0.
 * With jitter, a period can be a quarter longer. */
static uint64_t longest_period(const struct record *record, const struct event *event)
{
	struct spmu_model_info info = spmu_model_describe(record->model);
	uint64_t longest;

	if (info.perfmon_version)
		longest = (UINT64_C(1) << info.counter_bits) - 1;
	else /* These report an overflow by their sign; P6's are written with 32 bits. */
		longest = UINT64_C(1)
			  << (info.programming == SPMU_PROGRAM_PERFEVTSEL ? 31
									  : info.counter_bits - 1);
	return record_varies_period(record, event) ? longest / 5 * 4 : longest;
}

static int complete_branches(struct record *record)
{
	char *error;
	int status = -1;

	if (record->chains == CHAINS_LBR)
		branches_call_graph(&record->branches);
	if (!branches_complete(&record->branches, record->model, &error))
		status = tool_error("%s", error);
	free(error);
	if (record->branches.type || record->chains == CHAINS_DWARF)
		record->code = code_new();
	return status;
}

int record_events_check(struct record *record)
{
	int status;

	if (record->events.count > LINK_EVENTS_MAX)
		return tool_error("too many events: at most %d", LINK_EVENTS_MAX);
	if (record->chains == CHAINS_LBR && record->branches.type)
		return tool_usage_error(
			"record", "--call-graph lbr cannot be combined with branches (-b, -j)");
	for (size_t i = 0; i < record->events.count; i++) {
		struct event *event = &record->events.event[i];

		if (event->trace && !event->exclude_user && event->exclude_kernel) {
			if (record->traces)
				return tool_error("only one branch trace can be recorded");
			if (!run_stores_traces(record->model))
				return tool_error("event '%s' is absent: %s has no branch trace "
						  "store",
						  event->name,
						  spmu_model_describe(record->model).name);
			record->traces = true;
			continue;
		}
		record->event_of[record->counted++] = i;
		if (event->fidelity == SPMU_ABSENT)
			return tool_error("event '%s' is absent: %s (see softpmu list)",
					  event->name, event->absent_reason);
		if (event->precise && !event->counters && event->fixed < 0)
			return not_precise(record, event);
		if (!event->period && !event->frequency) {
			event->period = record->period;
			if (!record->period)
				event->frequency =
					record->frequency ? record->frequency : DEFAULT_FREQUENCY;
		}
		if (event->period > longest_period(record, event))
			return tool_usage_error(
				"record", "a period of %llu does not fit a counter; at most %llu",
				(unsigned long long)event->period,
				(unsigned long long)longest_period(record, event));
	}
	status = run_load_threshold(&record->events, &record->load_threshold);
	if (status < 0)
		status = run_frontend(&record->events, &record->frontend);
	if (status < 0)
		status = record_after(record);
	return status < 0 ? complete_branches(record) : status;
}
