/* SPDX-License-Identifier: MIT */
/*
 * record_after.c: softpmu record --after: samples by a cascade of NetBurst's counters (Vol. 3B
 * 18.15.5.6).  The period counts one event.  Each overflow of its counter starts the counter of the
 * sampled event, whose next occurrence interrupts.
 */
#include <stdlib.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/run/record.h"

static int check_starter(const struct record *record, const struct event *starter)
{
	const char *name = spmu_model_describe(record->model).name;

	if (spmu_model_describe(record->model).programming != SPMU_PROGRAM_ESCR)
		return tool_error("--after: %s has no counters that cascade", name);
	if (record->after.count != 1 || starter->trace)
		return tool_usage_error("record", "--after takes one event");
	if (!record->period)
		return tool_usage_error("record",
					"--after needs -c: the occurrences of '%s' from "
					"one start to the next",
					starter->name);
	if (starter->fidelity == SPMU_ABSENT)
		return tool_error("event '%s' is absent: %s (see softpmu list)", starter->name,
				  starter->absent_reason);
	return -1;
}

int record_after(struct record *record)
{
	char *error;
	int status;

	if (!record->after_name)
		return -1;
	if (!events_parse(&record->after, record->model, record->after_name, &error)) {
		tool_error("%s", error);
		free(error);
		return EXIT_BAD_USAGE;
	}
	status = check_starter(record, record->after.event);
	for (size_t i = 0; status < 0 && i < record->events.count; i++) {
		struct event *event = &record->events.event[i];
		char *name = event->name;

		if (event->trace)
			continue;
		if (event->precise || record->after.event->precise)
			return tool_usage_error("record", "--after takes no precise events: the "
							  "sample is where the interrupt comes");
		event->name = tool_print("%s after %s", name, record->after.event->name);
		free(name);
	}
	return status;
}

void record_after_start(const struct record *record, struct link_event *event)
{
	const struct event *starter = record->after.event;

	if (!record->after.count)
		return;
	event->after_select = starter->select;
	event->after_code = starter->code;
	event->after_tagger = starter->tagger;
	event->after_counters = starter->counters;
}
