/* SPDX-License-Identifier: MIT */
/*
 * stat_print.h: counts of one or more runs, and the forms in which stat shows them.
 */
#ifndef SOFTPMU_STAT_PRINT_H
#define SOFTPMU_STAT_PRINT_H

#include <stdio.h>

#include <hosts/user/launch.h>

#include "events.h"

/* Mean and spread as numbers come in (Welford's method). */
struct spread {
	uint64_t count;
	double mean, squares;
};

struct stat_count {
	bool counted;	/* the last run gave a number */
	uint64_t value; /* of the last run, exact */
	struct spread values;
	bool has_baseline;
	double baseline; /* the count that it is compared with */
};

/* How far a count may be from the baseline's. */
struct stat_threshold {
	double percent;
	bool only_more; /* a smaller count is no matter */
};

struct stat_table {
	const struct spmu_model *model;
	struct event_list events;
	struct stat_count *counts; /* one an event */
	char *command;
	const char *label; /* which benchmark of a baseline it is; NULL: without a label */
	uint64_t runs;
	struct spread elapsed, user, system; /* seconds */
	const char *baseline;		     /* the file that it is compared with, NULL: none */
	char *baseline_version;		     /* of the softpmu that wrote it; NULL: not known */
	struct stat_threshold threshold;
};

void stat_table_start(struct stat_table *table);
/* The result's counts are those of the events that are not absent, in order. */
void stat_table_add(struct stat_table *table, const struct launch_result *result);
void stat_table_free(struct stat_table *table);
/* Is a count further from its baseline than the threshold allows? */
bool stat_table_changed(const struct stat_table *table);

/* `output` is the file's name for the heading of a file, NULL for standard error. */
void stat_print_text(const struct stat_table *table, const char *output, FILE *file);
void stat_print_json(const struct stat_table *table, FILE *file);
void stat_print_fields(const struct stat_table *table, const char *separator, FILE *file);

#endif
