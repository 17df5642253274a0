/* SPDX-License-Identifier: MIT */
/* stat_windows.c: windows of the run that a machine's model sees: the option, and how accurate the
 * counts are. */
#include "tools/softpmu/counts/stat_windows.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

#define LEAST	 1000u
#define MOST	 1000000000u
#define NORMAL95 1.96 /* standard errors in a half of the interval */
#define WINDOWS	 10   /* with fewer, nothing is said of their spread */

static const struct stat_windows usual = {10000, 20000, 2000000};

/* Reads WINDOW[,WARM[,PERIOD]].  Returns false if the text is not that. */
static bool parse(const char *text, struct stat_windows *windows)
{
	uint32_t *number[] = {&windows->count, &windows->warm, &windows->period};
	char copy[64], *rest = copy, *field;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return false;
	for (unsigned i = 0; (field = strsep(&rest, ",")); i++) {
		uint64_t value;

		if (i == 3 || !tool_number(field, &value) || value > MOST)
			return false;
		*number[i] = (uint32_t)value;
	}
	return true;
}

int stat_windows_take(const char *text, struct stat_windows *windows)
{
	*windows = usual;
	if (text && !parse(text, windows))
		return tool_usage_error("stat",
					"--sample-windows needs WINDOW[,WARM[,PERIOD]], numbers of "
					"instructions up to 1G, not '%s'",
					text);
	if (windows->count < LEAST)
		return tool_usage_error("stat",
					"--sample-windows: a window has at least %u "
					"instructions",
					LEAST);
	if (windows->period < windows->count + windows->warm)
		return tool_usage_error("stat", "--sample-windows: a period is at least as long as "
						"the window and what warms the machine up");
	return -1;
}

void stat_windows_request(const struct stat_windows *windows, struct launch_request *request)
{
	request->window_count = windows->count;
	request->window_warm = windows->warm;
	request->window_skip = windows->period - windows->count - windows->warm;
}

double stat_windows_percent(const struct link_windows *windows, size_t index)
{
	double n = (double)windows->counted, sum = (double)windows->sum[index];
	double period = (double)windows->count + windows->warm + windows->skip;
	double rest = 1 - windows->count / period; /* what no window has seen */
	double variance;

	if (windows->counted < WINDOWS || sum == 0)
		return -1;
	variance = ((double)windows->squares[index] - sum * sum / n) / (n - 1);
	return 100 * NORMAL95 * sqrt(fmax(variance, 0) / n * rest) / (sum / n);
}
