/* SPDX-License-Identifier: MIT */
/* metrics_list.h: the metrics that stat knows, for list. */
#ifndef SOFTPMU_TOOL_METRICS_LIST_H
#define SOFTPMU_TOOL_METRICS_LIST_H

#include <stdio.h>

#include "tools/softpmu/counts/metrics.h"

/* Prints the metrics whose name or group is one of the patterns.  The pattern "metrics" matches
 * all. Returns whether there are some. */
bool metrics_list(char *const *patterns, size_t count, FILE *file);

#endif
