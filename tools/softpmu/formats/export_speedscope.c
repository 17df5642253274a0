/* SPDX-License-Identifier: MIT */
/* export_speedscope.c: JSON for speedscope: a sampled profile for each thread. */
#include <inttypes.h>
#include <stdlib.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/formats/export.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

static void put_frames(const struct aggregation *aggregation, FILE *to)
{
	for (size_t i = 0; i < aggregation->place_count; i++) {
		const char *source;
		int line;

		fputs(i ? ",\n{\"name\": " : "{\"name\": ", to);
		export_json_name(to, &aggregation->places[i]);
		if (export_line(&aggregation->places[i], &source, &line)) {
			fputs(", \"file\": ", to);
			output_json_string(to, source);
			fprintf(to, ", \"line\": %d", line);
		}
		putc('}', to);
	}
}

/* Writes the numbers of the places, the outermost first. */
static void put_chain(const struct aggregation *aggregation, uint32_t frame, FILE *to)
{
	const struct aggregation_frame *at = &aggregation->frames[frame];

	if (at->caller != AGGREGATION_NONE) {
		put_chain(aggregation, at->caller, to);
		putc(',', to);
	}
	fprintf(to, "%" PRIu32, at->place);
}

static bool is_of(const struct aggregation_stack *stack, const struct aggregation_thread *thread)
{
	return stack->thread.tid == thread->tid && stack->thread.comm == thread->comm;
}

static void put_thread(const struct export_input *input, const struct aggregation_thread *thread,
		       FILE *to)
{
	const struct aggregation_event *event = &input->aggregation->events[input->event];
	const char *between = "";
	uint64_t whole = 0;
	char name[256];

	snprintf(name, sizeof(name), "%s (%" PRIu32 "), %s", thread->comm, thread->tid,
		 event->name);
	fputs("{\"type\": \"sampled\", \"name\": ", to);
	output_json_string(to, name);
	fputs(", \"unit\": \"none\", \"startValue\": 0, \"samples\": [", to);
	for (size_t i = 0; i < event->stack_count; i++) {
		if (!is_of(&event->stacks[i], thread))
			continue;
		fprintf(to, "%s[", between);
		put_chain(input->aggregation, event->stacks[i].frame, to);
		putc(']', to);
		between = ",";
		whole += event->stacks[i].period;
	}
	fputs("], \"weights\": [", to);
	between = "";
	for (size_t i = 0; i < event->stack_count; i++) {
		if (!is_of(&event->stacks[i], thread))
			continue;
		fprintf(to, "%s%" PRIu64, between, event->stacks[i].period);
		between = ",";
	}
	fprintf(to, "], \"endValue\": %" PRIu64 "}", whole);
}

static void write_speedscope(const struct export_input *input, FILE *to)
{
	struct export_threads threads = export_threads(input);

	fputs("{\"$schema\": \"" SCHEMA "\",\n\"exporter\": \"softpmu\", \"name\": ", to);
	output_json_string(to, input->profile->path);
	fputs(",\n\"shared\": {\"frames\": [", to);
	put_frames(input->aggregation, to);
	fputs("]},\n\"profiles\": [", to);
	for (size_t i = 0; i < threads.count; i++) {
		if (i)
			fputs(",\n", to);
		put_thread(input, &threads.list[i], to);
	}
	fputs("]}\n", to);
	free(threads.list);
}

const struct exporter export_speedscope = {.name = "speedscope", .write = write_speedscope};
