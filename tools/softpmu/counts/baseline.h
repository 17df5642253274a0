/* SPDX-License-Identifier: MIT */
/*
 * baseline.h: counts of an earlier run, as `stat -j` wrote them, for comparison.
 */
#ifndef SOFTPMU_TOOL_BASELINE_H
#define SOFTPMU_TOOL_BASELINE_H

#include "tools/softpmu/counts/stat_print.h"

/* Reads how far a count may be from the baseline's, in percent: "1.5" in both directions, "+1.5"
 * only upwards.  Returns false for other text. */
bool baseline_threshold_parse(const char *text, struct stat_threshold *threshold);

/* Returns whether both commands run the same program with the same arguments, if its folder does
 * not matter. */
bool baseline_is_same_command(const char *one, const char *other);

/*
 * Reads the file and gives each event of the table its earlier count.  Call it before the program
 * runs, so that an error is noticed at once. The table has its command and label. Returns false
 * after a message if the file cannot be used, or does not have the benchmark. The same if it is of
 * another model or program, or does not have exactly the counts that the table will have.
 */
bool baseline_read(struct stat_table *table, const char *path);

/* Checks before the program runs that baseline_write() can write the file.  Returns false after a
 * message. */
bool baseline_can_write(const struct stat_table *table, const char *path);

/*
 * Writes the counts under the table's label.  Lines of other labels stay.  The file is replaced as
 * a whole or not at all, and runs that write at the same time wait for each other.  Returns false
 * after a message.
 */
bool baseline_write(const struct stat_table *table, const char *path);

#endif
