/* SPDX-License-Identifier: MIT */
/* exporters.c: the list of exporters. */
#include <string.h>

#include "tools/softpmu/formats/export.h"

static const struct exporter *const exporters[] = {
	&export_folded,	    &export_speedscope, &export_pprof,	 &export_callgrind,
	&export_cachegrind, &export_chrome,	&export_firefox, &export_perfetto};

#define COUNT (sizeof(exporters) / sizeof(exporters[0]))

const struct exporter *exporters_find(const char *name)
{
	for (size_t i = 0; i < COUNT; i++) {
		if (!strcmp(exporters[i]->name, name))
			return exporters[i];
	}
	return NULL;
}

const char *exporters_names(void)
{
	static char text[128];

	text[0] = '\0';
	for (size_t i = 0; i < COUNT; i++) {
		size_t length = strlen(text);

		snprintf(text + length, sizeof(text) - length, "%s%s", i ? ", " : "",
			 exporters[i]->name);
	}
	return text;
}
