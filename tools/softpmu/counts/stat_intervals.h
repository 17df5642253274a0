/* SPDX-License-Identifier: MIT */
/* stat_intervals.h: stat -I, the counts of each interval of the run. */
#ifndef SOFTPMU_TOOL_STAT_INTERVALS_H
#define SOFTPMU_TOOL_STAT_INTERVALS_H

#include "tools/softpmu/counts/stat_output.h"

struct stat_intervals {
	const struct stat_output *output;
	const struct stat_table *table; /* its events, without counts */
	uint64_t limit;			/* how many intervals are shown; 0: all */
	uint64_t shown;
	uint64_t until_ns;		 /* the end of the last one */
	uint64_t count[LINK_EVENTS_MAX]; /* the counts at that time */
};

/* Prints what was counted since the last time (a launch_interval). */
bool stat_intervals_take(void *opaque, uint64_t passed_ns, const uint64_t count[LINK_EVENTS_MAX]);

/* Prints the last interval, which ended with the run. */
void stat_intervals_end(struct stat_intervals *intervals, const struct launch_result *result);

#endif
