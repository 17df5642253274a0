/* SPDX-License-Identifier: MIT */
/* stat_table.c: the counts of runs, their spread, and their distance from a baseline. */
#include "tools/softpmu/counts/stat_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/counts/stat_regions.h"
#include "tools/softpmu/counts/stat_threads.h"
#include "tools/softpmu/counts/stat_windows.h"

static void spread_add(struct spread *spread, double value)
{
	double delta = value - spread->mean;

	spread->count++;
	spread->mean += delta / (double)spread->count;
	spread->squares += delta * (value - spread->mean);
}

double stat_table_spread_error(const struct spread *spread)
{
	if (spread->count < 2)
		return 0;
	return sqrt(spread->squares / (double)(spread->count - 1) / (double)spread->count);
}

double stat_table_spread_percent(const struct spread *spread)
{
	return spread->mean != 0 ? 100 * stat_table_spread_error(spread) / spread->mean : 0;
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static uint64_t nanoseconds(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

/* Returns the value of one of the kernel's events. */
static uint64_t kernel_value(enum event_kernel event, const struct launch_result *result)
{
	const struct rusage *usage = &result->usage;

	switch (event) {
	case EVENT_KERNEL_TASK_CLOCK:
		return nanoseconds(usage->ru_utime) + nanoseconds(usage->ru_stime);
	case EVENT_KERNEL_FAULTS:
		return (uint64_t)(usage->ru_minflt + usage->ru_majflt);
	case EVENT_KERNEL_MINOR_FAULTS:
		return (uint64_t)usage->ru_minflt;
	case EVENT_KERNEL_MAJOR_FAULTS:
		return (uint64_t)usage->ru_majflt;
	case EVENT_KERNEL_SWITCHES:
		return (uint64_t)(usage->ru_nvcsw + usage->ru_nivcsw);
	case EVENT_KERNEL_DURATION:
		return result->elapsed_ns;
	case EVENT_KERNEL_USER:
		return nanoseconds(usage->ru_utime);
	case EVENT_KERNEL_SYSTEM:
		return nanoseconds(usage->ru_stime);
	default:
		return 0;
	}
}

/* Adds the value of one of the kernel's events. */
static void add_kernel(struct stat_count *count, enum event_kernel event,
		       const struct launch_result *result)
{
	count->within = -1;
	count->counted = event != EVENT_KERNEL_MIGRATIONS;
	count->value = kernel_value(event, result);
	spread_add(&count->values, (double)count->value);
}

void stat_table_start(struct stat_table *table)
{
	table->counts = tool_alloc(table->events.count * sizeof(*table->counts));
}

void stat_table_add(struct stat_table *table, const struct launch_result *result)
{
	size_t from = 0;

	table->runs++;
	spread_add(&table->elapsed, (double)result->elapsed_ns / 1e9);
	spread_add(&table->user, seconds(result->usage.ru_utime));
	spread_add(&table->kernel, seconds(result->usage.ru_stime));
	spread_add(&table->switches, (double)(result->usage.ru_nvcsw + result->usage.ru_nivcsw));
	spread_add(&table->faults, (double)(result->usage.ru_minflt + result->usage.ru_majflt));
	for (size_t i = 0; i < table->events.count; i++) {
		struct stat_count *count = &table->counts[i];

		if (table->events.event[i].kernel)
			add_kernel(count, table->events.event[i].kernel, result);
		if (table->events.event[i].fidelity == SPMU_ABSENT)
			continue;
		count->within = table->events.event[i].fidelity == SPMU_MODELLED
					? stat_windows_percent(&result->windows, from)
					: -1;
		count->value = result->count[from++];
		count->counted = result->end == LAUNCH_DONE;
		if (count->counted)
			spread_add(&count->values, (double)count->value);
	}
}

void stat_table_free(struct stat_table *table)
{
	events_free(&table->events);
	stat_threads_free(table);
	stat_regions_free(table);
	free(table->counts);
	free(table->command);
	free(table->baseline_version);
}

double stat_table_value(const struct stat_table *table, size_t index)
{
	return table->runs > 1 ? table->counts[index].values.mean
			       : (double)table->counts[index].value;
}

bool stat_table_is_measured(const struct stat_table *table, size_t index)
{
	enum event_kernel event = table->events.event[index].kernel;

	return event && event != EVENT_KERNEL_MIGRATIONS;
}

const char *stat_table_no_number(const struct stat_table *table, size_t index)
{
	if (table->events.event[index].fidelity == SPMU_ABSENT &&
	    !stat_table_is_measured(table, index))
		return "<not supported>";
	return table->counts[index].counted ? NULL : "<not counted>";
}

/* --- the baseline ------------------------------------------------------------------------ */

/* A change from 0 to anything else is not a number of percents. */
double stat_table_change(const struct stat_table *table, size_t index)
{
	double now = stat_table_value(table, index), before = table->counts[index].baseline;

	if (now == before)
		return 0;
	return before != 0 ? 100 * (now - before) / before : INFINITY;
}

bool stat_table_can_compare(const struct stat_table *table, size_t index)
{
	return table->baseline && table->counts[index].has_baseline &&
	       !stat_table_no_number(table, index);
}

bool stat_table_is_too_far(const struct stat_threshold *threshold, double percent)
{
	return (threshold->only_more ? percent : fabs(percent)) > threshold->percent;
}

bool stat_table_is_beyond(const struct stat_table *table, size_t index)
{
	return stat_table_is_too_far(&table->threshold, stat_table_change(table, index));
}

bool stat_table_changed(const struct stat_table *table)
{
	for (size_t i = 0; i < table->events.count; i++) {
		if (stat_table_can_compare(table, i) && stat_table_is_beyond(table, i))
			return true;
	}
	return false;
}

/* --- metrics ----------------------------------------------------------------------------- */

/* Returns the event that counts just these signals in this way, or -1. */
static int find_base(const struct stat_table *table, uint64_t signals, enum spmu_fidelity fidelity)
{
	for (size_t i = 0; i < table->events.count; i++) {
		const struct event *event = &table->events.event[i];

		if (event->row && event->row->signals == signals && event->fidelity == fidelity &&
		    !stat_table_no_number(table, i) && table->counts[i].value)
			return (int)i;
	}
	return -1;
}

/* Sets *value to a count as a multiple of another one, times `factor`.  Returns false if the other
 * one is not counted. */
static bool relative_to(const struct stat_table *table, size_t index, uint64_t signals,
			enum spmu_fidelity fidelity, double factor, double *value)
{
	int base = find_base(table, signals, fidelity);

	if (base < 0)
		return false;
	*value = factor * stat_table_value(table, index) / stat_table_value(table, (size_t)base);
	return true;
}

/* Returns whether the event was asked for by this name. */
static bool is_named(const struct event *event, const char *name)
{
	size_t length = strlen(name);

	return !strncasecmp(event->name, name, length) &&
	       (!event->name[length] || event->name[length] == ':');
}

/* Finds perf's shares of misses among accesses of caches, by perf's names. */
static bool metric_of_cache(const struct stat_table *table, size_t index, double *value,
			    const char **unit)
{
	static const struct {
		const char *misses, *all, *unit;
	} caches[] = {
		{"L1-dcache-load-misses", "L1-dcache-loads", "% of all L1-dcache accesses"},
		{"LLC-load-misses", "LLC-loads", "% of all LL-cache accesses"},
		{"dTLB-load-misses", "dTLB-loads", "% of all dTLB cache accesses"},
		{"iTLB-load-misses", "iTLB-loads", "% of all iTLB cache accesses"},
	};

	for (size_t c = 0; c < sizeof(caches) / sizeof(caches[0]); c++) {
		if (!is_named(&table->events.event[index], caches[c].misses))
			continue;
		for (size_t i = 0; i < table->events.count; i++) {
			if (!is_named(&table->events.event[i], caches[c].all) ||
			    stat_table_no_number(table, i) || !table->counts[i].value)
				continue;
			*unit = caches[c].unit;
			*value = 100 * stat_table_value(table, index) / stat_table_value(table, i);
			return true;
		}
	}
	return false;
}

static bool metric_of_modelled(const struct stat_table *table, size_t index, uint64_t signals,
			       double *value, const char **unit)
{
	if (signals == SPMU_SIGBIT(BRANCH_MISS)) {
		*unit = "% of all branches";
		return relative_to(table, index, SPMU_SIGSET_BRANCHES, SPMU_EXACT, 100, value);
	}
	if (signals == SPMU_SIGBIT(LLC_MISS)) {
		*unit = "% of all cache refs";
		return relative_to(table, index, SPMU_SIGBIT(LLC_REFERENCE), SPMU_MODELLED, 100,
				   value);
	}
	return false;
}

bool stat_table_metric(const struct stat_table *table, size_t index, double *value,
		       const char **unit)
{
	const struct event *event = &table->events.event[index];
	uint64_t signals = event->row ? event->row->signals : 0;

	if (stat_table_no_number(table, index))
		return false;
	if (event->kernel) {
		*unit = "CPUs utilized";
		*value = (table->user.mean + table->kernel.mean) / table->elapsed.mean;
		return event->kernel == EVENT_KERNEL_TASK_CLOCK && table->elapsed.mean > 0;
	}
	if (metric_of_cache(table, index, value, unit))
		return true;
	if (event->fidelity == SPMU_MODELLED)
		return metric_of_modelled(table, index, signals, value, unit);
	if (signals == SPMU_SIGBIT(INSTRUCTIONS)) {
		*unit = "insn per cycle";
		return relative_to(table, index, SPMU_SIGBIT(CYCLES), SPMU_MODELLED, 1, value);
	}
	*unit = "% of all branches";
	if (!(signals & ~SPMU_SIGSET_BRANCHES) && signals != SPMU_SIGSET_BRANCHES &&
	    relative_to(table, index, SPMU_SIGSET_BRANCHES, SPMU_EXACT, 100, value))
		return true;
	*unit = "per instruction";
	return relative_to(table, index, SPMU_SIGBIT(INSTRUCTIONS), SPMU_EXACT, 1, value);
}
