/* SPDX-License-Identifier: MIT */
/*
 * branches.h: which branches a sample is to bring: perf's names for them, what
 * MSR_LBR_SELECT can do about it (Vol. 3B 17.7.2), and the rest, which is sorted out afterwards.
 */
#ifndef SOFTPMU_TOOL_BRANCHES_H
#define SOFTPMU_TOOL_BRANCHES_H

#include <softpmu/model.h>
#include <src/perfdata/perfdata.h>

#include "tools/softpmu/code.h"

#define BRANCHES_MAX 32 /* of a sample */

struct branches {
	uint64_t type;	 /* perf_event_attr.branch_sample_type; 0: none are asked for */
	uint64_t select; /* MSR_LBR_SELECT */
	uint32_t kinds;	 /* bit n: enum code_branch n is kept; 0: all */
};

/* Add what a list such as "any_call,u" names.  False: *error is a line to free(). */
bool branches_parse(struct branches *branches, const char *list, char **error);

/* For call chains. */
void branches_call_graph(struct branches *branches);

/* Fill in what is not said, and see what the model can do.  False: *error is a line to free(). */
bool branches_settle(struct branches *branches, const struct spmu_model *model, char **error);

/*
 * A sample's branches as they go into the file; returns how many are left.  At most
 * BRANCHES_MAX, the newest first.
 */
size_t branches_sort_out(const struct branches *branches, struct code *code,
			 const struct link_branch *from, size_t count, struct perfdata_branch *to);

/* What says all names, for --help. */
extern const char branches_names[];

#endif
