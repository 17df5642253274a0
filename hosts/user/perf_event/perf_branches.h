/* SPDX-License-Identifier: MIT */
/* perf_branches.h: last branch records of an event that samples them (perf_branches.c). */
#ifndef SOFTPMU_PERF_BRANCHES_H
#define SOFTPMU_PERF_BRANCHES_H

#include <linux/perf_event.h>
#include <softpmu/lbr.h>

/*
 * Sets *select to the value of MSR_LBR_SELECT by which the unit records what
 * attr->branch_sample_type asks for.  -EOPNOTSUPP: the model has no last branch records, or cannot
 * select in this way.  -EINVAL: what is asked for has no meaning.
 */
long perf_branches_select(const struct spmu_model *model, const struct perf_event_attr *attr,
			  uint64_t *select);

/* Returns whether the kind of each branch must be known, for perf_branches_take(). */
bool perf_branches_need_kind(const struct spmu_model *model, const struct perf_event_attr *attr);

/*
 * Makes an entry of what a record says.  `flags` are as in struct perf_branch_entry.  `kind` is the
 * signal of the branch; 0: it is not known.  Returns false if the event does not want the branch.
 */
bool perf_branches_take(const struct perf_event_attr *attr, uint64_t from, uint64_t to,
			uint64_t flags, uint64_t kind, struct perf_branch_entry *entry);

#endif
