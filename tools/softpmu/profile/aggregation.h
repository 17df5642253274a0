/* SPDX-License-Identifier: MIT */
/*
 * aggregation.h: the samples of a profile, added up.
 *
 * Samples of one event, command and place with the same chain of calls are one entry.  How they
 * are shown is not decided here: rows.h sorts them into rows, formats/ writes them.
 */
#ifndef SOFTPMU_TOOL_AGGREGATION_H
#define SOFTPMU_TOOL_AGGREGATION_H

#include "tools/softpmu/base/numbering.h"
#include "tools/softpmu/profile/profile.h"

/* A function, or an address without a known function. */
struct aggregation_place {
	const char *object;
	struct symbol_file *file;    /* NULL: not a mapped file */
	const struct symbol *symbol; /* NULL: unknown */
	uint64_t address;	     /* in the file when the symbol is unknown, otherwise 0 */
	char level;		     /* 'k' or '.' */
};

/* A call that had not returned, or a taken branch: the numbers of two places. */
struct aggregation_edge {
	uint32_t from, to;
};

/* Equal samples. */
struct aggregation_stack {
	const char *comm;
	uint32_t place; /* of the samples */
	uint32_t call_count;
	const struct aggregation_edge *calls; /* the innermost first */
	uint64_t samples, period;
};

/* Equal branches. */
struct aggregation_branch {
	const char *comm;
	struct aggregation_edge edge;
	uint64_t count;
};

struct aggregation_event {
	const char *name;
	bool call_chains; /* its branch records are calls that had not returned */
	struct aggregation_stack *stacks;
	struct aggregation_branch *branches;
	size_t stack_count, stack_room, branch_count, branch_room;
	uint64_t samples, period;
	uint64_t edges; /* branches or calls, also those that were not asked for */
	struct numbering stack_numbers, branch_numbers;
};

struct aggregation {
	struct aggregation_place *places;
	size_t place_count, place_room;
	struct numbering place_numbers;
	struct aggregation_event *events;
	size_t event_count;
	unsigned parts;
};

/* What is added up.  Samples without AGGREGATION_CALLS have no chains. */
enum aggregation_parts {
	AGGREGATION_SAMPLES = 1,
	AGGREGATION_CALLS = 2,
	AGGREGATION_BRANCHES = 4,
};

/* Reads all samples of the profile.  The aggregation lives no longer than the profile. */
struct aggregation *aggregation_new(struct profile *profile, unsigned parts);
void aggregation_free(struct aggregation *aggregation);

#endif
