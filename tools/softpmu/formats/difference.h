/* SPDX-License-Identifier: MIT */
/*
 * difference.h: what changed from one profile to another.
 *
 * Rows of the two are the same if the texts of their sort keys are: the files of the two runs may
 * have other paths, build-ids and addresses.
 */
#ifndef SOFTPMU_TOOL_DIFFERENCE_H
#define SOFTPMU_TOOL_DIFFERENCE_H

#include <stdio.h>

#include "tools/softpmu/profile/rows.h"

struct difference_options {
	struct keys keys;
	bool children;	      /* also count the samples in what a function called */
	double percent_limit; /* of an event's earlier count: leave out smaller changes */
	size_t most;	      /* lines of an event; 0: all */
};

/* Writes the changes of each event that both profiles have.  Returns false, and writes nothing, if
 * there is no such event. */
bool difference_write(struct profile *before, struct profile *after,
		      const struct difference_options *options, FILE *to);

#endif
