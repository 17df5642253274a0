/* SPDX-License-Identifier: MIT */
/*
 * stat_intervals.c: the counts of each interval of the run, in the form of perf stat -I.
 *
 * Each row begins with the time at which its interval ended, in seconds after the start.
 */
#include "tools/softpmu/counts/stat_intervals.h"

#include <stdlib.h>

#include "tools/softpmu/base/tool.h"

/* Fills in what was counted since the last time.  The engine counts the events that are not absent,
 * in order. */
static void subtract(struct stat_intervals *intervals, const uint64_t now[LINK_EVENTS_MAX],
		     bool counted, struct stat_table *one)
{
	size_t from = 0;

	for (size_t i = 0; i < one->events.count; i++) {
		struct stat_count *count = &one->counts[i];

		if (one->events.event[i].fidelity == SPMU_ABSENT)
			continue;
		*count = (struct stat_count){.counted = counted, .within = -1};
		/* A program that runs wild can write to the counts. */
		if (now[from] > intervals->count[from])
			count->value = now[from] - intervals->count[from];
		intervals->count[from] = now[from];
		from++;
	}
}

static void show(struct stat_intervals *intervals, uint64_t passed_ns,
		 const uint64_t now[LINK_EVENTS_MAX], bool counted)
{
	struct stat_table one = *intervals->table;

	one.runs = 1;
	one.until_ns = passed_ns;
	one.user = (struct spread){.mean = (double)(passed_ns - intervals->until_ns) / 1e9};
	one.kernel = (struct spread){0};
	one.counts = tool_alloc(one.events.count * sizeof(*one.counts));
	subtract(intervals, now, counted, &one);
	stat_output_interval(intervals->output, &one, intervals->shown);
	free(one.counts);
	intervals->until_ns = passed_ns;
	intervals->shown++;
}

bool stat_intervals_take(void *opaque, uint64_t passed_ns, const uint64_t count[LINK_EVENTS_MAX])
{
	struct stat_intervals *intervals = opaque;

	show(intervals, passed_ns, count, true);
	return !intervals->limit || intervals->shown < intervals->limit;
}

void stat_intervals_end(struct stat_intervals *intervals, const struct launch_result *result)
{
	if (!intervals->limit || intervals->shown < intervals->limit)
		show(intervals, result->elapsed_ns, result->count, result->end == LAUNCH_DONE);
}
