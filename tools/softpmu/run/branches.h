/* SPDX-License-Identifier: MIT */
/*
 * branches.h: which branches the samples contain: perf's names for them, the part that
 * MSR_LBR_SELECT filters (Vol. 3B 17.7.2), and the part that is filtered afterwards.
 */
#ifndef SOFTPMU_TOOL_BRANCHES_H
#define SOFTPMU_TOOL_BRANCHES_H

#include <softpmu/model.h>
#include <src/perfdata/perfdata.h>

#include "tools/softpmu/symbols/code.h"

#define BRANCHES_MAX 32 /* in a sample */

struct branches {
	uint64_t type;	 /* perf_event_attr.branch_sample_type; 0: no branches */
	uint64_t select; /* MSR_LBR_SELECT */
	uint32_t kinds;	 /* bit n: enum code_branch n is kept; 0: all */
	bool clocks;	 /* they have their clocks */
};

/* Adds the filters of a list such as "any_call,u".  Returns false with a message in *error, to
 * free(). */
bool branches_parse(struct branches *branches, const char *list, char **error);

/* Chooses the branches for call chains. */
void branches_call_graph(struct branches *branches);

/* Completes the filter and checks what the model can do.  Returns false with a message in *error,
 * to free(). */
bool branches_complete(struct branches *branches, const struct spmu_model *model, char **error);

/*
 * Filters the branches of a sample, the newest first, for the file.  Returns how many are left: at
 * most BRANCHES_MAX.
 */
size_t branches_sort_out(const struct branches *branches, struct code *code,
			 const struct link_branch *from, size_t count, struct perfdata_branch *to);

/* All names, for --help. */
extern const char branches_names[];

#endif
