/* SPDX-License-Identifier: MIT */
/* report_branches.h: `softpmu report -b` and `-g`. */
#ifndef SOFTPMU_TOOL_REPORT_BRANCHES_H
#define SOFTPMU_TOOL_REPORT_BRANCHES_H

#include "tools/softpmu/profile.h"

struct report_branches {
	bool callers; /* of call chains; else branches */
	bool show_count;
	double percent_limit; /* lines with less are left out */
};

/* Print the branches, or the callers, that the samples hold, for each event. */
void report_branches(struct profile *profile, const struct report_branches *how);

#endif
