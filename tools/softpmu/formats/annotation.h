/* SPDX-License-Identifier: MIT */
/* annotation.h: the hot instructions of a profile. */
#ifndef SOFTPMU_TOOL_ANNOTATION_H
#define SOFTPMU_TOOL_ANNOTATION_H

#include "tools/softpmu/profile/profile.h"

struct annotation_options {
	const char *wanted; /* name of a function; NULL: the hottest */
	/* Of an event's count: without a name, functions with less are left out. */
	double percent_limit;
	bool intel; /* Intel's syntax, otherwise AT&T's */
};

/* Writes to standard output.  Returns the exit status. */
int annotation_write(struct profile *profile, const struct annotation_options *options);

#endif
