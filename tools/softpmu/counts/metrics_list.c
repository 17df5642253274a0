/* SPDX-License-Identifier: MIT */
/* metrics_list.c: prints the metrics that stat knows, for list. */
#include "tools/softpmu/counts/metrics_list.h"

#include <string.h>
#include <strings.h>

static bool matches(const char *const text[4], char *const *patterns, size_t count)
{
	bool found = false;

	for (size_t i = 0; i < count && !found; i++) {
		found = !strcasecmp(patterns[i], "metrics");
		for (unsigned t = 0; t < 3 && !found; t++)
			found = !strcasecmp(text[t], patterns[i]);
	}
	return found;
}

bool metrics_list(char *const *patterns, size_t count, FILE *file)
{
	const char *text[4];
	bool some = false;

	for (size_t i = 0; metrics_describe(i, text); i++) {
		if (!matches(text, patterns, count))
			continue;
		if (!some)
			fprintf(file, "\nMetrics of stat --metrics:\n  %-30s  %-18s  %-9s  %s\n",
				"name", "Intel's name", "group", "description");
		some = true;
		fprintf(file, "  %-30s  %-18s  %-9s  %s\n", text[0], text[1], text[2], text[3]);
	}
	return some;
}
