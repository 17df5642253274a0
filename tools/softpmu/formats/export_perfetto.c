/* SPDX-License-Identifier: MIT */
/*
 * export_perfetto.c: a trace of Perfetto: Protocol Buffers with the samples as Perfetto's own
 * profiler of Linux writes them.
 *
 * A trace is a list of packets.  The first ones have the names of the event, the processes and the
 * threads, and what packets of samples refer to by number: functions, files, frames and call
 * chains.  Numbers begin with 1.  The numbers of a message's fields are those of
 * trace_packet.proto, interned_data.proto and profile_packet.proto.
 */
#include <stdlib.h>

#include "tools/softpmu/base/protobuf.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/formats/export.h"
#include "tools/softpmu/formats/strings.h"

enum packet_field {
	PROCESS_TREE = 2,
	TIMESTAMP = 8,
	SEQUENCE = 10,
	INTERNED_DATA = 12,
	SEQUENCE_FLAGS = 13,
	DEFAULTS = 59,
	PERF_SAMPLE = 66
};

enum sequence_flags { STATE_CLEARED = 1, NEEDS_STATE = 2 };

enum interned_field {
	FUNCTION_NAMES = 5,
	FRAMES = 6,
	CALLSTACKS = 7,
	MAPPING_PATHS = 17,
	SOURCE_PATHS = 18,
	MAPPINGS = 19
};

/* Parts are smaller messages: `part` is in `packet`, `inner` is in `part`, and so on. */
struct writing {
	const struct export_input *input;
	const struct aggregation *aggregation;
	FILE *to;
	struct protobuf trace, packet, part, inner, innermost;
	struct strings objects, sources;
	struct export_samples samples;
	uint64_t counts[256]; /* of the event, on each processor */
};

static void finish_packet(struct writing *writing, uint64_t flags)
{
	protobuf_number(&writing->packet, SEQUENCE, 1);
	protobuf_number(&writing->packet, SEQUENCE_FLAGS, flags);
	protobuf_message(&writing->trace, 1, &writing->packet);
	protobuf_write(&writing->trace, writing->to);
}

/* --- what samples refer to -------------------------------------------------------------------- */

/* Names the event that the samples are of. */
static void put_defaults(struct writing *writing)
{
	const struct aggregation_event *event =
		&writing->aggregation->events[writing->input->event];

	protobuf_number(&writing->innermost, 1,
			event->samples ? event->period / event->samples : 0);
	protobuf_text(&writing->innermost, 10, event->name);
	protobuf_message(&writing->inner, 1, &writing->innermost);
	protobuf_message(&writing->part, 12, &writing->inner);
	protobuf_message(&writing->packet, DEFAULTS, &writing->part);
	finish_packet(writing, STATE_CLEARED);
}

static void put_threads(struct writing *writing)
{
	struct export_threads threads = export_threads(writing->input);

	for (size_t i = 0; i < threads.count; i++) {
		const struct aggregation_thread *thread = &threads.list[i];

		if (thread->pid == thread->tid) {
			protobuf_number(&writing->inner, 1, thread->pid);
			protobuf_text(&writing->inner, 3, thread->comm);
			protobuf_message(&writing->part, 1, &writing->inner);
		}
		protobuf_number(&writing->inner, 1, thread->tid);
		protobuf_number(&writing->inner, 3, thread->pid);
		protobuf_text(&writing->inner, 2, thread->comm);
		protobuf_message(&writing->part, 2, &writing->inner);
	}
	protobuf_message(&writing->packet, PROCESS_TREE, &writing->part);
	finish_packet(writing, NEEDS_STATE);
	free(threads.list);
}

/* Adds a string with its number to the interned data. */
static void put_string(struct writing *writing, enum interned_field field, uint64_t number,
		       const char *text)
{
	protobuf_number(&writing->inner, 1, number);
	protobuf_text(&writing->inner, 2, text);
	protobuf_message(&writing->part, field, &writing->inner);
}

/* Adds a file without its addresses.  The mapping has the number of its path. */
static void put_mapping(struct writing *writing, uint32_t number)
{
	put_string(writing, MAPPING_PATHS, number + 1, writing->objects.list[number]);
	protobuf_number(&writing->inner, 1, number + 1);
	protobuf_number(&writing->inner, 7, number + 1);
	protobuf_message(&writing->part, MAPPINGS, &writing->inner);
}

/* Adds a frame, and its function's name if that is the first frame of the function. */
static void put_place(struct writing *writing, uint32_t number)
{
	const struct aggregation_place *place = &writing->aggregation->places[number];
	const char *source;
	char name[4096];
	size_t objects;
	uint32_t object;
	int line;

	objects = writing->objects.count;
	object = strings_number(&writing->objects, place->object);
	if (object == objects)
		put_mapping(writing, object);
	if (place->function == number) {
		aggregation_name(place, name, sizeof(name));
		put_string(writing, FUNCTION_NAMES, number + 1, name);
	}
	protobuf_number(&writing->inner, 1, number + 1);
	protobuf_number(&writing->inner, 2, place->function + 1);
	protobuf_number(&writing->inner, 3, object + 1);
	protobuf_number(&writing->inner, 4, place->address);
	if (export_line(place, &source, &line)) {
		protobuf_number(&writing->inner, 5, strings_number(&writing->sources, source) + 1);
		protobuf_number(&writing->inner, 6, (uint64_t)line);
	}
	protobuf_message(&writing->part, FRAMES, &writing->inner);
}

/* Adds the places of a call chain, the outermost first.  Perfetto reads no packed numbers. */
static void put_chain(struct writing *writing, uint32_t frame)
{
	const struct aggregation_frame *at = &writing->aggregation->frames[frame];

	if (at->caller != AGGREGATION_NONE)
		put_chain(writing, at->caller);
	protobuf_number(&writing->inner, 2, at->place + 1);
}

static void put_chains(struct writing *writing)
{
	bool *used = tool_alloc(writing->aggregation->frame_count * sizeof(*used) + 1);

	for (size_t i = 0; i < writing->samples.count; i++)
		used[writing->samples.list[i].frame] = true;
	for (uint32_t i = 0; i < writing->aggregation->frame_count; i++) {
		if (!used[i])
			continue;
		protobuf_number(&writing->inner, 1, i + 1);
		put_chain(writing, i);
		protobuf_message(&writing->part, CALLSTACKS, &writing->inner);
	}
	free(used);
}

static void put_interned(struct writing *writing)
{
	for (uint32_t i = 0; i < writing->aggregation->place_count; i++)
		put_place(writing, i);
	for (uint32_t i = 0; i < writing->sources.count; i++)
		put_string(writing, SOURCE_PATHS, i + 1, writing->sources.list[i]);
	put_chains(writing);
	protobuf_message(&writing->packet, INTERNED_DATA, &writing->part);
	finish_packet(writing, NEEDS_STATE);
}

/* --- samples --- */

/* The counter's value is the sum of the periods so far. */
static void put_sample(struct writing *writing, const struct export_sample *sample)
{
	uint64_t *count = &writing->counts[sample->cpu % 256];

	*count += sample->period;
	protobuf_number(&writing->part, 1, sample->cpu);
	protobuf_number(&writing->part, 2, sample->pid);
	protobuf_number(&writing->part, 3, sample->tid);
	protobuf_number(&writing->part, 4, sample->frame + 1);
	protobuf_number(&writing->part, 6, *count);
	protobuf_number(&writing->packet, TIMESTAMP, sample->time_ns);
	protobuf_message(&writing->packet, PERF_SAMPLE, &writing->part);
	finish_packet(writing, NEEDS_STATE);
}

static void write_perfetto(const struct export_input *input, FILE *to)
{
	struct writing writing = {.input = input,
				  .aggregation = input->aggregation,
				  .to = to,
				  .samples = export_samples(input)};

	put_defaults(&writing);
	put_threads(&writing);
	put_interned(&writing);
	for (size_t i = 0; i < writing.samples.count; i++)
		put_sample(&writing, &writing.samples.list[i]);
	protobuf_free(&writing.trace);
	protobuf_free(&writing.packet);
	protobuf_free(&writing.part);
	protobuf_free(&writing.inner);
	protobuf_free(&writing.innermost);
	strings_free(&writing.objects);
	strings_free(&writing.sources);
	free(writing.samples.list);
}

const struct exporter export_perfetto = {.name = "perfetto",
					 .parts = AGGREGATION_ADDRESSES,
					 .binary = true,
					 .times = true,
					 .write = write_perfetto};
