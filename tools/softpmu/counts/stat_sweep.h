/* SPDX-License-Identifier: MIT */
/* stat_sweep.h: the counts of runs with several values of one parameter. */
#ifndef SOFTPMU_TOOL_STAT_SWEEP_H
#define SOFTPMU_TOOL_STAT_SWEEP_H

#include <stdio.h>

#include "tools/softpmu/counts/stat_table.h"

/* `table` says which events there are; `count` has a row of them for each value, in order. */
struct stat_sweep {
	const struct stat_table *table;
	const char *machine, *key;
	char *const *value;
	size_t values;
	double *count; /* values * events; negative: there is no count */
};

/* Prepares for the counts of each run. */
void stat_sweep_start(struct stat_sweep *sweep);
/* Takes the counts of the table's last run as those of value number `index`. */
void stat_sweep_take(struct stat_sweep *sweep, size_t index);

/* Prints a table, and a plot of each event whose counts differ. */
void stat_sweep_print(const struct stat_sweep *sweep, FILE *file);

/* Prints a line of VALUE, COUNT and EVENT for each count. */
void stat_sweep_print_fields(const struct stat_sweep *sweep, const char *separator, FILE *file);

#endif
