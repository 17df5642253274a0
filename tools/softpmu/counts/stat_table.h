/* SPDX-License-Identifier: MIT */
/* stat_table.h: the counts of one or more runs. */
#ifndef SOFTPMU_TOOL_STAT_TABLE_H
#define SOFTPMU_TOOL_STAT_TABLE_H

#include <hosts/user/launch.h>

#include "tools/softpmu/events/events.h"

/* Mean and spread, updated with each number (Welford's method). */
struct spread {
	uint64_t count;
	double mean, squares;
};

struct stat_count {
	bool counted;	/* the last run had a count */
	double within;	/* half the confidence interval of windows, in percent; negative: none */
	uint64_t value; /* of the last run, exact */
	struct spread values;
	bool has_baseline;
	double baseline; /* the earlier count */
};

/* How far a count may be from the baseline's. */
struct stat_threshold {
	double percent;
	bool only_more; /* a smaller count is never too far */
};
bool stat_table_is_too_far(const struct stat_threshold *threshold, double percent);

struct stat_threads;
struct stat_regions;
struct metrics;

struct stat_table {
	const struct spmu_model *model;
	struct event_list events;
	struct stat_count *counts; /* one for each event */
	char *command;
	const char *label; /* the benchmark in a baseline; NULL: without a label */
	uint64_t runs;
	struct spread elapsed, user, kernel; /* seconds */
	const char *baseline;		     /* file of the earlier counts; NULL: none */
	char *baseline_version;		     /* version of softpmu that wrote it; NULL: not known */
	struct stat_threshold threshold;
	const struct metrics *metrics;	/* that are computed from the counts; NULL: none */
	bool system;			/* perf's events of the kernel are shown, too */
	struct spread switches, faults; /* of the program and of what follows it */
	struct stat_threads *threads;	/* counts of each thread; NULL: only of all */
	struct stat_regions *regions;	/* of the program; NULL: there are none */
	uint64_t until_ns;		/* the counts are those of an interval that ended so long
					   after the start; 0: of whole runs */
	const char *thread;		/* the counts are those of this thread; NULL: of all */
};

void stat_table_start(struct stat_table *table);
/* Adds a run.  The result has the counts of the events that are not absent, in order. */
void stat_table_add(struct stat_table *table, const struct launch_result *result);
void stat_table_free(struct stat_table *table);
/* Returns true if any count is further from its baseline than the threshold allows. */
bool stat_table_changed(const struct stat_table *table);

/* Returns the standard error of the mean, as perf's +-; and as a percentage of the mean. */
double stat_table_spread_error(const struct spread *spread);
double stat_table_spread_percent(const struct spread *spread);

/* Returns the count of an event: the mean of several runs. */
double stat_table_value(const struct stat_table *table, size_t index);

/* Returns true if the event is one of the kernel's, and was measured. */
bool stat_table_is_measured(const struct stat_table *table, size_t index);

/* Returns the text in place of a number, NULL if there is a number. */
const char *stat_table_no_number(const struct stat_table *table, size_t index);

/* Returns true if the event has a count and the baseline has one, too. */
bool stat_table_can_compare(const struct stat_table *table, size_t index);

/* Returns how many percent more the count is than the baseline's; INFINITY if that is 0. */
double stat_table_change(const struct stat_table *table, size_t index);

/* Returns true if the count is further from the baseline's than the threshold allows. */
bool stat_table_is_beyond(const struct stat_table *table, size_t index);

/* Computes a branch's share of all branches, another event's count for each instruction.  Returns
 * false if neither is known. */
bool stat_table_metric(const struct stat_table *table, size_t index, double *value,
		       const char **unit);

#endif
