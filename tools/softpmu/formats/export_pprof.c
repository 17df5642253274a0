/* SPDX-License-Identifier: MIT */
/*
 * export_pprof.c: pprof's profile.proto, without compression.
 *
 * A sample has two values: the number of samples and their periods.  The numbers of a message's
 * fields are those of profile.proto.
 */
#include <stdlib.h>

#include "tools/softpmu/base/protobuf.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/formats/export.h"
#include "tools/softpmu/formats/strings.h"

/* Fields of the outermost message. */
enum profile_field {
	SAMPLE_TYPE = 1,
	SAMPLE = 2,
	MAPPING = 3,
	LOCATION = 4,
	FUNCTION = 5,
	STRING = 6,
	PERIOD_TYPE = 11,
	PERIOD = 12,
	DEFAULT_SAMPLE_TYPE = 14
};

struct writing {
	const struct export_input *input;
	FILE *to;
	struct protobuf whole, part, inner; /* the last two are parts of the one before */
	struct strings strings;
	const char **objects; /* mapping N is object N - 1 */
	size_t object_count, object_room;
};

/* --- tables ------------------------------------------------------------------------------- */

/* Returns the text's number in the table of strings, in which 0 is the empty one. */
static uint64_t string(struct writing *writing, const char *text)
{
	return strings_number(&writing->strings, text);
}

static uint64_t mapping(struct writing *writing, const char *object)
{
	size_t i = 0;

	while (i < writing->object_count && writing->objects[i] != object)
		i++;
	if (i == writing->object_count) {
		writing->objects = tool_room(writing->objects, &writing->object_room,
					     writing->object_count, sizeof(*writing->objects));
		writing->objects[writing->object_count++] = object;
	}
	return i + 1;
}

static void finish_part(struct writing *writing, enum profile_field field)
{
	protobuf_message(&writing->whole, field, &writing->part);
	protobuf_write(&writing->whole, writing->to);
}

/* --- parts -------------------------------------------------------------------------------- */

static void put_type(struct writing *writing, enum profile_field field, const char *type)
{
	protobuf_number(&writing->part, 1, string(writing, type));
	protobuf_number(&writing->part, 2, string(writing, "count"));
	finish_part(writing, field);
}

/* A location is a place, and its function has the number of the place without an address. */
static void put_location(struct writing *writing, uint32_t number)
{
	const struct aggregation_place *place = &writing->input->aggregation->places[number];
	const char *source;
	int line;

	protobuf_number(&writing->part, 1, number + 1);
	protobuf_number(&writing->part, 2, mapping(writing, place->object));
	protobuf_number(&writing->part, 3, place->address);
	protobuf_number(&writing->inner, 1, place->function + 1);
	if (export_line(place, &source, &line))
		protobuf_number(&writing->inner, 2, (uint64_t)line);
	protobuf_message(&writing->part, 4, &writing->inner);
	finish_part(writing, LOCATION);
}

static void put_function(struct writing *writing, uint32_t number)
{
	const struct aggregation_place *place = &writing->input->aggregation->places[number];
	const char *source;
	char name[4096];
	int line;

	aggregation_name(place, name, sizeof(name));
	protobuf_number(&writing->part, 1, number + 1);
	protobuf_number(&writing->part, 2, string(writing, name));
	protobuf_number(&writing->part, 3,
			string(writing, place->symbol ? place->symbol->name : name));
	if (export_line(place, &source, &line)) {
		protobuf_number(&writing->part, 4, string(writing, source));
		protobuf_number(&writing->part, 5, (uint64_t)line);
	}
	finish_part(writing, FUNCTION);
}

static void put_label(struct writing *writing, const char *key, const char *text, uint64_t value)
{
	protobuf_number(&writing->inner, 1, string(writing, key));
	protobuf_number(&writing->inner, 2, string(writing, text));
	protobuf_number(&writing->inner, 3, value);
	protobuf_message(&writing->part, 3, &writing->inner);
}

static void put_stack(struct writing *writing, const struct aggregation_stack *stack)
{
	const struct aggregation *aggregation = writing->input->aggregation;
	const uint64_t values[] = {stack->samples, stack->period};
	uint64_t *chain = NULL;
	size_t count = 0, room = 0;

	for (uint32_t frame = stack->frame; frame != AGGREGATION_NONE;
	     frame = aggregation->frames[frame].caller) {
		chain = tool_room(chain, &room, count, sizeof(*chain));
		chain[count++] = aggregation->frames[frame].place + 1;
	}
	protobuf_numbers(&writing->part, 1, chain, count);
	protobuf_numbers(&writing->part, 2, values, 2);
	put_label(writing, "thread", stack->thread.comm, 0);
	put_label(writing, "pid", "", stack->thread.pid);
	put_label(writing, "tid", "", stack->thread.tid);
	finish_part(writing, SAMPLE);
	free(chain);
}

static void put_mapping(struct writing *writing, size_t number)
{
	protobuf_number(&writing->part, 1, number + 1);
	protobuf_number(&writing->part, 5, string(writing, writing->objects[number]));
	protobuf_number(&writing->part, 7, 1); /* has functions: no program needs to find them */
	finish_part(writing, MAPPING);
}

static void write_pprof(const struct export_input *input, FILE *to)
{
	const struct aggregation *aggregation = input->aggregation;
	const struct aggregation_event *event = &aggregation->events[input->event];
	struct writing writing = {.input = input, .to = to};

	string(&writing, "");
	put_type(&writing, SAMPLE_TYPE, "samples");
	put_type(&writing, SAMPLE_TYPE, event->name);
	put_type(&writing, PERIOD_TYPE, event->name);
	for (size_t i = 0; i < event->stack_count; i++)
		put_stack(&writing, &event->stacks[i]);
	for (uint32_t i = 0; i < aggregation->place_count; i++) {
		put_location(&writing, i);
		if (aggregation->places[i].function == i)
			put_function(&writing, i);
	}
	for (size_t i = 0; i < writing.object_count; i++)
		put_mapping(&writing, i);
	protobuf_number(&writing.whole, PERIOD,
			event->samples ? event->period / event->samples : 0);
	protobuf_number(&writing.whole, DEFAULT_SAMPLE_TYPE, string(&writing, event->name));
	for (size_t i = 0; i < writing.strings.count; i++)
		protobuf_text(&writing.whole, STRING, writing.strings.list[i]);
	protobuf_write(&writing.whole, to);

	strings_free(&writing.strings);
	free(writing.objects);
	protobuf_free(&writing.whole);
	protobuf_free(&writing.part);
	protobuf_free(&writing.inner);
}

const struct exporter export_pprof = {
	.name = "pprof", .parts = AGGREGATION_ADDRESSES, .binary = true, .write = write_pprof};
