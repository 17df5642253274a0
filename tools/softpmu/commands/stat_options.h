/* SPDX-License-Identifier: MIT */
/* stat_options.h: what `softpmu stat` is asked for. */
#ifndef SOFTPMU_TOOL_STAT_OPTIONS_H
#define SOFTPMU_TOOL_STAT_OPTIONS_H

#include "tools/softpmu/counts/metrics.h"
#include "tools/softpmu/counts/stat_intervals.h"
#include "tools/softpmu/counts/stat_windows.h"
#include "tools/softpmu/machine/machine_options.h"
#include "tools/softpmu/machine/sweep.h"
#include "tools/softpmu/run/run.h"
#include "tools/softpmu/run/run_options.h"

struct stat_options {
	struct run_options run;
	struct stat_output output;
	const char *baseline, *write_baseline, *threshold, *label;
	struct machine_options machine_options;
	struct spmu_machine machine;
	struct stat_windows windows; /* count 0: the model sees the whole run */
	const char *sweep_text;	     /* NULL: no sweep */
	struct sweep sweep;
	bool per_thread;
	unsigned detailed; /* how often -d was given */
	struct metrics metrics;
	struct stat_intervals intervals;
	uint64_t runs, load_threshold, frontend;
	const char *pre, *post; /* commands before and after each run; NULL: none */
	bool sync;		/* sync(2) before each run */
};

/* Reads the command line.  The table gets its model and its events.  Returns -1 to go on; then
 * optind is the place of the program.  Otherwise returns the status to end with. */
int stat_options_parse(struct stat_options *stat, struct stat_table *table, int argc, char **argv);

#endif
