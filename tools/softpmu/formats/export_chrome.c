/* SPDX-License-Identifier: MIT */
/*
 * export_chrome.c: JSON in Chrome's trace event format, with the samples in the order of time.
 *
 * Each thread is a profile as V8's profiler writes it: call chains as a tree of nodes, and for each
 * sample a node and the microseconds since the sample before.  speedscope reads it.  The format has
 * no place for periods.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/formats/export.h"

/* Node 1 is the root.  Node N is frame N - FIRST_NODE. */
#define ROOT_NODE  1
#define FIRST_NODE 2

struct collection {
	const struct export_input *input;
	struct export_samples samples;
};

/* Marks the frames of a thread's samples and of their callers.  To free(). */
static bool *frames_of(const struct collection *collection, const struct aggregation_thread *thread)
{
	const struct aggregation *aggregation = collection->input->aggregation;
	bool *used = tool_alloc(aggregation->frame_count * sizeof(*used));

	for (size_t i = 0; i < collection->samples.count; i++) {
		uint32_t frame = collection->samples.list[i].frame;

		if (!export_is_of(&collection->samples.list[i], thread))
			continue;
		while (frame != AGGREGATION_NONE && !used[frame]) {
			used[frame] = true;
			frame = aggregation->frames[frame].caller;
		}
	}
	return used;
}

static void put_node(const struct aggregation *aggregation, size_t number, FILE *to)
{
	const struct aggregation_frame *frame = &aggregation->frames[number];
	const struct aggregation_place *place = &aggregation->places[frame->place];
	uint32_t parent =
		frame->caller == AGGREGATION_NONE ? ROOT_NODE : frame->caller + FIRST_NODE;

	fprintf(to,
		",\n{\"id\": %zu, \"parent\": %" PRIu32
		", \"callFrame\": {\"scriptId\": 0, \"url\": ",
		number + FIRST_NODE, parent);
	output_json_string(to, place->object);
	fputs(", \"functionName\": ", to);
	export_json_name(to, place);
	fputs("}}", to);
}

static void put_nodes(const struct collection *collection, const struct aggregation_thread *thread,
		      FILE *to)
{
	const struct aggregation *aggregation = collection->input->aggregation;
	bool *used = frames_of(collection, thread);

	fprintf(to, "{\"id\": %d, \"callFrame\": {\"functionName\": \"(root)\", \"scriptId\": 0}}",
		ROOT_NODE);
	for (size_t i = 0; i < aggregation->frame_count; i++) {
		if (used[i])
			put_node(aggregation, i, to);
	}
	free(used);
}

/* Begins an event of the trace. */
static void put_event(const char *name, const struct aggregation_thread *thread, size_t number,
		      uint64_t time_us, FILE *to)
{
	fprintf(to,
		",\n{\"name\": \"%s\", \"ph\": \"P\", \"cat\": "
		"\"disabled-by-default-v8.cpu_profiler\", \"id\": \"%#zx\", \"pid\": %" PRIu32
		", \"tid\": %" PRIu32 ", \"ts\": %" PRIu64 ", \"args\": {\"data\": {",
		name, number, thread->pid, thread->tid, time_us);
}

static void put_profile(const struct collection *collection,
			const struct aggregation_thread *thread, size_t number, FILE *to)
{
	const char *between = "";
	uint64_t first_us = 0, last_us;
	bool some = false;

	for (size_t i = 0; i < collection->samples.count && !some; i++) {
		some = export_is_of(&collection->samples.list[i], thread);
		first_us = collection->samples.list[i].time_ns / 1000;
	}
	put_event("Profile", thread, number, first_us, to);
	fprintf(to, "\"startTime\": %" PRIu64 "}}}", first_us);
	put_event("ProfileChunk", thread, number, first_us, to);
	fputs("\"cpuProfile\": {\"nodes\": [", to);
	put_nodes(collection, thread, to);
	fputs("], \"samples\": [", to);
	for (size_t i = 0; i < collection->samples.count; i++) {
		if (!export_is_of(&collection->samples.list[i], thread))
			continue;
		fprintf(to, "%s%" PRIu32, between, collection->samples.list[i].frame + FIRST_NODE);
		between = ",";
	}
	fputs("]}, \"timeDeltas\": [", to);
	between = "";
	last_us = first_us;
	for (size_t i = 0; i < collection->samples.count; i++) {
		uint64_t now_us = collection->samples.list[i].time_ns / 1000;

		if (!export_is_of(&collection->samples.list[i], thread))
			continue;
		fprintf(to, "%s%" PRIu64, between, now_us - last_us);
		last_us = now_us;
		between = ",";
	}
	fputs("]}}}", to);
}

static void write_chrome(const struct export_input *input, FILE *to)
{
	struct export_threads threads = export_threads(input);
	struct collection collection = {.input = input, .samples = export_samples(input)};

	fputs("{\"traceEvents\": [", to);
	for (size_t i = 0; i < threads.count; i++) {
		fprintf(to,
			"%s{\"name\": \"thread_name\", \"cat\": \"__metadata\", \"ph\": \"M\", "
			"\"ts\": 0, \"pid\": "
			"%" PRIu32 ", \"tid\": %" PRIu32 ", \"args\": {\"name\": ",
			i ? ",\n" : "", threads.list[i].pid, threads.list[i].tid);
		output_json_string(to, threads.list[i].comm);
		fputs("}}", to);
	}
	for (size_t i = 0; i < threads.count; i++)
		put_profile(&collection, &threads.list[i], i + 1, to);
	fputs("]}\n", to);
	free(collection.samples.list);
	free(threads.list);
}

const struct exporter export_chrome = {.name = "chrome", .write = write_chrome};
