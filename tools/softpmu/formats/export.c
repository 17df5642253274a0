/* SPDX-License-Identifier: MIT */
/* export.c: the list of exporters, and what they share. */
#include "tools/softpmu/formats/export.h"

#include <string.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"

static const struct exporter *const exporters[] = {
	&export_folded, &export_speedscope, &export_pprof, &export_callgrind, &export_chrome};

#define COUNT (sizeof(exporters) / sizeof(exporters[0]))

const struct exporter *export_find(const char *name)
{
	for (size_t i = 0; i < COUNT; i++) {
		if (!strcmp(exporters[i]->name, name))
			return exporters[i];
	}
	return NULL;
}

const char *export_names(void)
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

void export_json_name(FILE *to, const struct aggregation_place *place)
{
	char name[4096];

	aggregation_name(place, name, sizeof(name));
	output_json_string(to, name);
}

bool export_line(const struct aggregation_place *place, const char **source, int *line)
{
	uint64_t address = place->address;

	if (!address && place->symbol)
		address = place->symbol->start;
	return place->file && symbol_file_line(place->file, address, source, line);
}

struct export_threads export_threads(const struct export_input *input)
{
	const struct aggregation_event *event = &input->aggregation->events[input->event];
	struct export_threads threads = {NULL, 0};
	size_t room = 0;

	for (size_t i = 0; i < event->stack_count; i++) {
		const struct aggregation_thread *thread = &event->stacks[i].thread;
		size_t j = 0;

		while (j < threads.count &&
		       (threads.list[j].tid != thread->tid || threads.list[j].comm != thread->comm))
			j++;
		if (j < threads.count)
			continue;
		threads.list = tool_room(threads.list, &room, threads.count, sizeof(*threads.list));
		threads.list[threads.count++] = *thread;
	}
	return threads;
}
