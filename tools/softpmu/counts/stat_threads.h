/* SPDX-License-Identifier: MIT */
/* stat_threads.h: the counts of each thread of a run, for --per-thread. */
#ifndef SOFTPMU_TOOL_STAT_THREADS_H
#define SOFTPMU_TOOL_STAT_THREADS_H

#include "tools/softpmu/counts/stat_table.h"

/* Makes table->threads, which has no thread.  The table knows its events. */
void stat_threads_start(struct stat_table *table);
/* A launch_sink whose `opaque` is the table: gathers the counts and names of threads. */
void stat_threads_take(void *opaque, const struct link_record *record, uint64_t time_ns,
		       const void *trace);
void stat_threads_free(struct stat_table *table);

/* Calls `row` for each thread, in the order of its counts of event `index`, largest first.  The
 * table that `row` gets has the counts of that thread only, and its name. */
typedef void stat_threads_row(void *opaque, const struct stat_table *table, size_t index);
void stat_threads_each(const struct stat_table *table, size_t index, stat_threads_row *row,
		       void *opaque);

#endif
