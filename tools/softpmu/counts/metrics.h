/* SPDX-License-Identifier: MIT */
/* metrics.h: metrics by the names of Linux and of Intel's top-down analysis, and what they
 * count. */
#ifndef SOFTPMU_TOOL_METRICS_H
#define SOFTPMU_TOOL_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/softpmu/events/events.h"

struct stat_table;

/* What metrics are computed from. */
enum metric_input {
	METRIC_CLOCKS,
	METRIC_INSTRUCTIONS,
	METRIC_SLOTS,
	METRIC_RETIRED,
	METRIC_ISSUED,
	METRIC_RECOVERY,
	METRIC_UNDELIVERED,
	METRIC_UNDELIVERED_ALL,
	METRIC_STALLS,
	METRIC_STALLS_LOAD,
	METRIC_STALLS_L1,
	METRIC_STALLS_L2,
	METRIC_STALLS_L3,
	METRIC_STALLS_STORES,
	METRIC_EXECUTED,
	METRIC_EXECUTING,
	METRIC_EXECUTING_2,
	METRIC_BRANCHES,
	METRIC_MISPREDICTED,
	METRIC_RESTEER,
	METRIC_CODE_CACHE,
	METRIC_CODE_WALK,
	METRIC_DIVIDER,
	METRIC_LOAD_L1,
	METRIC_LOAD_L2,
	METRIC_LOAD_L3,
	METRIC_INPUTS
};

/* The metrics of a run, and where the events that they need are in the list of events. */
struct metrics {
	bool *wanted; /* one for each metric; NULL: none is wanted */
	int event[METRIC_INPUTS];
};

struct metric_value {
	const char *name, *unit, *description;
	bool known; /* otherwise an event that it needs is absent */
	double value;
};

/* Returns whether a list separated by commas names metrics or groups of them.  If not, *error is a
 * line to free(). */
bool metrics_want(struct metrics *metrics, const char *names, char **error);

/* Returns whether the first name of a list is a metric or a group. */
bool metrics_knows(const char *names);

/* Adds the events that the metrics need. */
void metrics_add_events(struct metrics *of, const struct spmu_model *model,
			struct event_list *events);

/* Computes metric number `index` if it is wanted.  Returns false after the last metric; the name
 * is NULL if it is not wanted. */
bool metrics_value(const struct metrics *metrics, const struct stat_table *table, size_t index,
		   struct metric_value *value);

/* Returns the name, the second name, the group and the description of metric number `index`, or
 * false. */
bool metrics_describe(size_t index, const char *text[4]);

void metrics_free(struct metrics *of);

#endif
