/* SPDX-License-Identifier: MIT */
/*
 * rows.h: the rows that a format shows of an event: samples or branches by sort keys, those with
 * the most first.
 */
#ifndef SOFTPMU_TOOL_ROWS_H
#define SOFTPMU_TOOL_ROWS_H

#include "tools/softpmu/profile/call_graph.h"
#include "tools/softpmu/profile/keys.h"

struct row {
	struct row_key key;
	struct symbol_file *file; /* of the samples, or NULL */
	uint64_t samples;	  /* in the row itself */
	uint64_t self;	   /* period of the samples in the row itself, or number of branches */
	uint64_t total;	   /* the same; with ROWS_CHILDREN also of the samples that it called */
	size_t depth;	   /* of its longest call chain */
	size_t last_stack; /* the last that it was counted for, plus 1 */
	uint32_t root;	   /* of its tree in the call graph */
};

struct rows {
	struct row *rows;
	size_t count, room;
	uint64_t whole; /* the weight that is 100 % */
	const struct keys *keys;
	unsigned how; /* enum rows_how */
	struct numbering numbers;
	struct call_graph graph;
};

enum rows_how {
	ROWS_CHILDREN = 1, /* a sample also counts for its callers, once for each row */
	ROWS_CALLERS = 2,  /* the call graph has the callers of a row */
	ROWS_CALLEES = 4,  /* the call graph has what a row called, and what called a sample */
};

/* The keys live longer than the rows. */
struct rows rows_of_samples(const struct aggregation *aggregation, size_t event,
			    const struct keys *keys, unsigned how);
struct rows rows_of_branches(const struct aggregation *aggregation, size_t event,
			     const struct keys *keys);
void rows_free(struct rows *rows);

double rows_percent(const struct rows *rows, uint64_t weight);

#endif
