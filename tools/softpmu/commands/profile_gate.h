/* SPDX-License-Identifier: MIT */
/* profile_gate.h: compares an exact profile with that of an earlier run (profile_gate.c). */
#ifndef SOFTPMU_TOOL_PROFILE_GATE_H
#define SOFTPMU_TOOL_PROFILE_GATE_H

#include "tools/softpmu/counts/stat_table.h"
#include "tools/softpmu/profile/profile.h"

struct profile_gate {
	const char *baseline; /* the earlier profile's file; NULL: there is no gate */
	struct stat_threshold threshold;
	struct profile *before;
};

/*
 * Opens the baseline before the program runs.  `now` has the command, the model and the events of
 * the run.  Returns false after a message if the baseline cannot be used, or if `output` would
 * overwrite it.
 */
bool profile_gate_open(struct profile_gate *gate, const struct exact *now, const char *output);
void profile_gate_close(struct profile_gate *gate);

/*
 * Compares the profile with the baseline.  If a sum is beyond the threshold, it shows the functions
 * that changed.  `output` is the profile's file.  Returns the status to exit with.
 */
int profile_gate_compare(const struct profile_gate *gate, const struct exact *now,
			 const char *output, bool quiet);

#endif
