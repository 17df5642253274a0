/* SPDX-License-Identifier: MIT */
/*
 * format.h: how `softpmu report` writes a profile: a struct of operations for each output format.
 *
 * format_write() reads the samples, makes the rows that the view wants and calls the operations,
 * which only write.  A new format is a file with a struct format and a row in the list of
 * format.c.
 */
#ifndef SOFTPMU_TOOL_FORMAT_H
#define SOFTPMU_TOOL_FORMAT_H

#include <stdio.h>

#include "tools/softpmu/profile/rows.h"

enum format_view { FORMAT_SAMPLES, FORMAT_BRANCHES };
enum format_choice { FORMAT_IF_CHAINS, FORMAT_NO, FORMAT_YES };

struct format_options {
	enum format_view view;
	struct keys keys;	     /* columns */
	enum format_choice children; /* a caller's rows also have the samples of its callees */
	enum format_choice graph;    /* show a call graph for each row */
	unsigned order;		     /* ROWS_CALLERS or ROWS_CALLEES; 0: by `children` */
	double graph_percent;	     /* leave out branches of the call graph below */
	bool show_count;	     /* samples or branches, next to the percentage */
	bool header;		     /* begin with what was recorded, where and how */
	double percent_limit;	     /* leave out rows below */
	bool relative;		     /* percentages are of what the profile's filter takes */
};

/* What operations are given. */
struct format_output {
	FILE *to;
	const struct profile *profile;
	const struct aggregation *aggregation;
	const struct format_options *options;
};

struct format {
	const char *name;
	/* Begins the output. */
	void (*begin)(const struct format_output *output);
	/* Writes an event: `shown` of the rows reach the percentage that was asked for. */
	void (*rows)(const struct format_output *output, size_t event, const struct rows *rows,
		     size_t shown);
	/* Says that no event has what the view shows. */
	void (*nothing)(const struct format_output *output);
};

/* Returns NULL if there is no format of that name. */
const struct format *format_find(const char *name);

/* Writes the samples of the profile. */
void format_write(const struct format *format, struct profile *profile,
		  const struct format_options *options, FILE *to);

#endif
