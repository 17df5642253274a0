/* SPDX-License-Identifier: MIT */
/* stat_windows.h: windows of the run that a machine's model sees (stat --sample-windows). */
#ifndef SOFTPMU_TOOL_STAT_WINDOWS_H
#define SOFTPMU_TOOL_STAT_WINDOWS_H

#include <hosts/user/launch.h>

/* Instructions of each window, those before it that warm the model up, and from window to
 * window. */
struct stat_windows {
	uint32_t count, warm, period;
};

/* Takes the option's WINDOW[,WARM[,PERIOD]]; NULL: the usual windows.  Returns -1, or the status to
 * exit with. */
int stat_windows_take(const char *text, struct stat_windows *windows);

/* Tells the run of the windows, if there are some. */
void stat_windows_request(const struct stat_windows *windows, struct launch_request *request);

/* Returns half the width of the 95 % confidence interval of event number `index` of the run, in
 * percent of its count.  Negative: it is not known. */
double stat_windows_percent(const struct link_windows *windows, size_t index);

#endif
