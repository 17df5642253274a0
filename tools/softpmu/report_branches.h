/* SPDX-License-Identifier: MIT */
/* report_branches.h: `softpmu report --branch-stack`. */
#ifndef SOFTPMU_TOOL_REPORT_BRANCHES_H
#define SOFTPMU_TOOL_REPORT_BRANCHES_H

#include "tools/softpmu/profile.h"

/* The most frequent branches, from function to function, for each event that has some. */
void report_branches(struct profile *profile, bool show_count, double percent_limit);

#endif
