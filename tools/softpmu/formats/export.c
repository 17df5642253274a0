/* SPDX-License-Identifier: MIT */
/* export.c: what exporters share. */
#include "tools/softpmu/formats/export.h"

#include <string.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"

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

struct collection {
	const struct export_input *input;
	struct export_samples samples;
	size_t room;
};

static void collect(void *opaque, const struct profile_sample *sample)
{
	struct collection *collection = opaque;
	struct export_samples *samples = &collection->samples;

	if (sample->event != collection->input->event)
		return;
	samples->list =
		tool_room(samples->list, &collection->room, samples->count, sizeof(*samples->list));
	samples->list[samples->count++] = (struct export_sample){
		.time_ns = sample->time_ns,
		.period = sample->period,
		.tid = sample->tid,
		.pid = sample->pid,
		.cpu = sample->cpu,
		.frame = aggregation_frame(collection->input->aggregation, sample),
		.comm = sample->comm,
	};
}

struct export_samples export_samples(const struct export_input *input)
{
	struct collection collection = {.input = input};

	profile_each(input->profile, PROFILE_CALLERS, collect, &collection);
	return collection.samples;
}

bool export_is_of(const struct export_sample *sample, const struct aggregation_thread *thread)
{
	return sample->tid == thread->tid && sample->comm == thread->comm;
}
