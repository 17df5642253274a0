/* SPDX-License-Identifier: MIT */
/*
 * html_profile.c: a profile as JSON for the page.
 *
 * Lists of numbers are flat: what follows each other is said where they are written.  The page
 * reads them in model.js.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/formats/html.h"
#include "tools/softpmu/formats/html_data.h"

#define CALLS_MAX 60000
#define UNUSED	  UINT32_MAX

struct writing {
	struct html_data data;
	FILE *to;
	uint32_t *places; /* their numbers in the page, or UNUSED */
	uint32_t *frames;
	const char **objects;
	size_t object_count, object_room;
};

/* A call, or a function with what it called, of all events. */
struct call {
	uint32_t thread, from, to;
	uint64_t times, cost[EXACT_EVENTS_MAX];
	double share; /* the largest of an event */
};

struct calls {
	struct call *list;
	size_t count, room;
	struct numbering numbers;
};

/* --- an exact profile's calls --------------------------------------------------------------- */

static bool same_call(const void *calls, uint32_t number, const void *thing)
{
	const struct call *a = (const struct call *)calls + number, *b = thing;

	return a->thread == b->thread && a->from == b->from && a->to == b->to;
}

static void add_call(struct writing *writing, struct calls *calls, size_t event,
		     const struct aggregation_call *from)
{
	const struct aggregation *aggregation = writing->data.aggregation;
	struct call call = {.thread = html_data_thread(&writing->data, &from->thread),
			    .from = from->from == AGGREGATION_NONE
					    ? UNUSED
					    : aggregation->places[from->from].function,
			    .to = from->to};
	uint64_t hash = numbering_mix(call.thread, (uint64_t)call.from << 32 | call.to);
	uint32_t number = numbering_find(&calls->numbers, hash, same_call, calls->list, &call);
	double share;

	if (number == calls->count) {
		calls->list =
			tool_room(calls->list, &calls->room, calls->count, sizeof(*calls->list));
		calls->list[calls->count++] = call;
	}
	calls->list[number].cost[event] += from->cost;
	if (event == 0)
		calls->list[number].times += from->times;
	share = (double)calls->list[number].cost[event] /
		(double)(aggregation->events[event].period + 1);
	if (share > calls->list[number].share)
		calls->list[number].share = share;
}

static int larger_call(const void *one, const void *other)
{
	const struct call *a = one, *b = other;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

static struct calls read_calls(struct writing *writing)
{
	const struct aggregation *aggregation = writing->data.aggregation;
	struct calls calls = {.list = NULL};

	for (size_t e = 0; e < aggregation->event_count; e++) {
		const struct aggregation_event *event = &aggregation->events[e];

		for (size_t i = 0; i < event->call_count; i++)
			add_call(writing, &calls, e, &event->calls[i]);
	}
	if (calls.count)
		qsort(calls.list, calls.count, sizeof(*calls.list), larger_call);
	if (calls.count > CALLS_MAX)
		calls.count = CALLS_MAX;
	numbering_free(&calls.numbers);
	return calls;
}

/* Writes thread, caller (-1: none, a function with what it called), function, times, and the cost
 * of each event. */
static void put_calls(const struct writing *writing, const struct calls *calls)
{
	fputs(",\n\"calls\": [", writing->to);
	for (size_t i = 0; i < calls->count; i++) {
		const struct call *call = &calls->list[i];

		fprintf(writing->to, "%s%" PRIu32 ",%" PRId64 ",%" PRIu32 ",%" PRIu64,
			i ? ",\n" : "", call->thread,
			call->from == UNUSED ? -1 : (int64_t)writing->places[call->from],
			writing->places[call->to], call->times);
		for (size_t e = 0; e < writing->data.aggregation->event_count; e++)
			fprintf(writing->to, ",%" PRIu64, call->cost[e]);
	}
	fputc(']', writing->to);
}

/* --- functions and call chains ---------------------------------------------------------------- */

static void mark_frame(const struct writing *writing, uint32_t frame)
{
	const struct aggregation *aggregation = writing->data.aggregation;

	while (frame != AGGREGATION_NONE && writing->frames[frame] == UNUSED) {
		writing->frames[frame] = 0;
		writing->places[aggregation->frames[frame].place] = 0;
		frame = aggregation->frames[frame].caller;
	}
}

/* Returns an array without a used element, to free(). */
static uint32_t *unused(size_t count)
{
	uint32_t *array = tool_alloc(count * sizeof(*array) + 1);

	for (size_t i = 0; i < count; i++)
		array[i] = UNUSED;
	return array;
}

static void number_used(uint32_t *array, size_t count)
{
	uint32_t next = 0;

	for (size_t i = 0; i < count; i++) {
		if (array[i] != UNUSED)
			array[i] = next++;
	}
}

/* Finds what the page needs of the aggregation, and numbers it. */
static void choose(struct writing *writing, const struct calls *calls)
{
	const struct aggregation *aggregation = writing->data.aggregation;

	writing->places = unused(aggregation->place_count);
	writing->frames = unused(aggregation->frame_count);
	for (size_t i = 0; i < writing->data.entry_count; i++) {
		if (writing->data.entries[i].frame != HTML_DATA_SMALL)
			mark_frame(writing, writing->data.entries[i].frame);
	}
	for (size_t i = 0; i < writing->data.line_count; i++)
		writing->places[writing->data.lines[i].place] = 0;
	for (size_t i = 0; i < calls->count; i++) {
		writing->places[calls->list[i].to] = 0;
		if (calls->list[i].from != UNUSED)
			writing->places[calls->list[i].from] = 0;
	}
	number_used(writing->places, aggregation->place_count);
	number_used(writing->frames, aggregation->frame_count);
}

static size_t object_number(struct writing *writing, const char *object)
{
	size_t i = 0;

	while (i < writing->object_count && strcmp(writing->objects[i], object))
		i++;
	if (i == writing->object_count) {
		writing->objects = tool_room(writing->objects, &writing->object_room,
					     writing->object_count, sizeof(*writing->objects));
		writing->objects[writing->object_count++] = object;
	}
	return i;
}

/* Writes name and number of the object of each function, and the objects. */
static void put_functions(struct writing *writing)
{
	const struct aggregation *aggregation = writing->data.aggregation;
	const char *between = "";
	char name[4096];

	fputs(",\n\"functions\": [", writing->to);
	for (size_t i = 0; i < aggregation->place_count; i++) {
		if (writing->places[i] == UNUSED)
			continue;
		aggregation_name(&aggregation->places[i], name, sizeof(name));
		fputs(between, writing->to);
		html_string(writing->to, name);
		fprintf(writing->to, ",%zu", object_number(writing, aggregation->places[i].object));
		between = ",\n";
	}
	fputs("],\n\"objects\": [", writing->to);
	for (size_t i = 0; i < writing->object_count; i++) {
		fputs(i ? "," : "", writing->to);
		html_string(writing->to, writing->objects[i]);
	}
	fputc(']', writing->to);
}

/* Writes function and caller (-1: none) of each frame.  A caller comes before those it called. */
static void put_frames(const struct writing *writing)
{
	const struct aggregation *aggregation = writing->data.aggregation;
	const char *between = "";

	fputs(",\n\"frames\": [", writing->to);
	for (size_t i = 0; i < aggregation->frame_count; i++) {
		const struct aggregation_frame *frame = &aggregation->frames[i];

		if (writing->frames[i] == UNUSED)
			continue;
		fprintf(writing->to, "%s%" PRIu32 ",%" PRId64, between,
			writing->places[frame->place],
			frame->caller == AGGREGATION_NONE
				? -1
				: (int64_t)writing->frames[frame->caller]);
		between = ",";
	}
	fputc(']', writing->to);
}

/* --- the rest --------------------------------------------------------------------------------- */

static void put_events(const struct writing *writing)
{
	const struct aggregation *aggregation = writing->data.aggregation;

	fprintf(writing->to,
		"\"exact\": %s, \"first_ns\": %" PRIu64 ", \"last_ns\": %" PRIu64
		", \"slices\": %" PRIu32 ",\n\"command\": ",
		writing->data.profile->exact ? "true" : "false", writing->data.first_ns,
		writing->data.last_ns, writing->data.slices);
	html_string(writing->to, profile_about(writing->data.profile, "command line") ?: "");
	fputs(",\n\"events\": [", writing->to);
	for (size_t i = 0; i < aggregation->event_count; i++) {
		const struct aggregation_event *event = &aggregation->events[i];

		fputs(i ? ",\n{\"name\": " : "{\"name\": ", writing->to);
		html_string(writing->to, event->name);
		fprintf(writing->to,
			", \"samples\": %" PRIu64 ", \"period\": %" PRIu64 ", \"chains\": %s}",
			event->samples, event->period,
			event->exact || event->call_chains ? "true" : "false");
	}
	fputs("]", writing->to);
}

/* Writes name, process and thread. */
static void put_threads(const struct writing *writing)
{
	fputs(",\n\"threads\": [", writing->to);
	for (size_t i = 0; i < writing->data.thread_count; i++) {
		const struct aggregation_thread *thread = &writing->data.threads[i];

		fputs(i ? "," : "", writing->to);
		html_string(writing->to, thread->comm);
		fprintf(writing->to, ",%" PRIu32 ",%" PRIu32, thread->pid, thread->tid);
	}
	fputc(']', writing->to);
}

/* Writes event, slice, thread, frame (-1: a sum too small for its chain), samples and period. */
static void put_entries(const struct writing *writing)
{
	fputs(",\n\"entries\": [", writing->to);
	for (size_t i = 0; i < writing->data.entry_count; i++) {
		const struct html_data_entry *entry = &writing->data.entries[i];

		fprintf(writing->to,
			"%s%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRId64 ",%" PRIu64 ",%" PRIu64,
			i ? ",\n" : "", entry->event, entry->slice, entry->thread,
			entry->frame == HTML_DATA_SMALL ? -1
							: (int64_t)writing->frames[entry->frame],
			entry->samples, entry->period);
	}
	fputc(']', writing->to);
}

/* Writes event, function, path, line, samples and period. */
static void put_lines(const struct writing *writing)
{
	fputs(",\n\"lines\": [", writing->to);
	for (size_t i = 0; i < writing->data.line_count; i++) {
		const struct html_data_line *line = &writing->data.lines[i];

		fprintf(writing->to, "%s%" PRIu32 ",%" PRIu32 ",", i ? ",\n" : "", line->event,
			writing->places[line->place]);
		html_string(writing->to, line->source);
		fprintf(writing->to, ",%d,%" PRIu64 ",%" PRIu64, line->line, line->samples,
			line->period);
	}
	fputc(']', writing->to);
}

void html_profile(struct profile *profile, FILE *to)
{
	struct writing writing = {.to = to};
	struct calls calls;

	html_data_read(&writing.data, profile);
	calls = read_calls(&writing);
	choose(&writing, &calls);
	put_events(&writing);
	put_threads(&writing);
	put_functions(&writing);
	put_frames(&writing);
	put_entries(&writing);
	put_calls(&writing, &calls);
	put_lines(&writing);
	html_data_free(&writing.data);
	free(calls.list);
	free(writing.places);
	free(writing.frames);
	free(writing.objects);
}
