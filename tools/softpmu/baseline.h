/* SPDX-License-Identifier: MIT */
/*
 * baseline.h: counts of an earlier run, as `stat -j` wrote them, to compare with.
 */
#ifndef SOFTPMU_TOOL_BASELINE_H
#define SOFTPMU_TOOL_BASELINE_H

#include "stat_print.h"

/* How far a count may be from the baseline's: "1.5" both ways, "+1.5" upwards only.  False: it is
 * no such text. */
bool threshold_parse(const char *text, struct stat_threshold *threshold);

/*
 * Read the file and give each event of the table its count of then; before the program runs, so
 * that a mistake costs no run.  The table has its command and label.  False after a line on
 * standard error: the file cannot be used, has no such benchmark or one of another model or
 * program, or does not have exactly the counts that the table is going to have.
 */
bool baseline_read(struct stat_table *table, const char *path);

/* Before the program runs: whether baseline_write() could write the file.  False after a line on
 * standard error. */
bool baseline_can_write(const struct stat_table *table, const char *path);

/*
 * Write the counts under the table's label; what the file has of other labels stays.  The file is
 * replaced as a whole or not at all, and runs that write at the same time wait for each other.
 * False after a line on standard error.
 */
bool baseline_write(const struct stat_table *table, const char *path);

#endif
