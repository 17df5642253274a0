/* SPDX-License-Identifier: MIT */
/* identify.h: what a profile says of the files with the code that ran. */
#ifndef SOFTPMU_TOOL_IDENTIFY_H
#define SOFTPMU_TOOL_IDENTIFY_H

#include "tools/softpmu/exact/exact.h"

/* Sets the build-ids of the files, and the names of the functions that ran, while the files are
 * those of the run.  Sorts the entries of each thread. */
void identify_objects(struct exact *exact);

#endif
