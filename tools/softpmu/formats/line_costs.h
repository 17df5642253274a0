/* SPDX-License-Identifier: MIT */
/* line_costs.h: costs of lines and of calls, for the formats of callgrind and cachegrind. */
#ifndef SOFTPMU_TOOL_LINE_COSTS_H
#define SOFTPMU_TOOL_LINE_COSTS_H

#include "tools/softpmu/formats/export.h"

/* A cost of a function: of one of its lines, or of a call from there. */
struct line_cost {
	uint32_t function, callee; /* AGGREGATION_NONE: no call */
	int line;		   /* 0: unknown */
	const char *source;	   /* NULL: unknown */
	uint64_t samples;
	uint64_t period[EXACT_EVENTS_MAX]; /* of each event of the file */
};

/* A function that calls another. */
struct line_edge {
	uint32_t function, callee;
	size_t last_stack; /* the last that it was counted for, plus 1 */
};

struct line_costs {
	const struct aggregation *aggregation;
	size_t first, events; /* those of the aggregation that the file has */
	size_t event;	      /* the one that is added up, from 0 */
	struct line_cost *list;
	size_t count, room;
	struct numbering numbers;
	struct line_edge *edges;
	size_t edge_count, edge_room;
	struct numbering edge_numbers;
};

/* Adds up all events, and sorts the costs by function. */
struct line_costs line_costs_make(const struct export_input *input);
void line_costs_free(struct line_costs *costs);

/* Write parts of a file: the command, the names of the events, and their sums. */
void line_costs_put_command(const struct export_input *input, FILE *to);
void line_costs_put_events(const struct line_costs *costs, FILE *to);
void line_costs_put_totals(const struct line_costs *costs, const char *what, FILE *to);
/* Writes a line of the source, and its costs. */
void line_costs_put(const struct line_costs *costs, const struct line_cost *cost, FILE *to);

#endif
