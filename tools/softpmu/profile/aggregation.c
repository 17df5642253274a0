/* SPDX-License-Identifier: MIT */
/* aggregation.c: adds up the samples of a profile by event, thread, place and chain of callers. */
#include "tools/softpmu/profile/aggregation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/symbols/demangle.h"

/* --- places and frames -------------------------------------------------------------------- */

static bool same_place(const void *places, uint32_t number, const void *thing)
{
	const struct aggregation_place *a = (const struct aggregation_place *)places + number;
	const struct aggregation_place *b = thing;

	return a->object == b->object && a->symbol == b->symbol && a->address == b->address &&
	       a->ip == b->ip && a->level == b->level;
}

/* Returns the number of the place, and adds it if it is new. */
static uint32_t number_place(struct aggregation *aggregation, const struct aggregation_place *place)
{
	uint64_t hash =
		numbering_mix(numbering_mix(0, (uintptr_t)place->object), (uintptr_t)place->symbol);
	uint32_t number;

	hash = numbering_mix(hash, place->address + place->ip);
	number = numbering_find(&aggregation->place_numbers, hash, same_place, aggregation->places,
				place);
	if (number == aggregation->place_count) {
		aggregation->places =
			tool_room(aggregation->places, &aggregation->place_room,
				  aggregation->place_count, sizeof(*aggregation->places));
		aggregation->places[aggregation->place_count++] = *place;
		aggregation->places[number].function = number;
	}
	return number;
}

static uint32_t place_number(struct aggregation *aggregation, const struct profile_place *from)
{
	struct aggregation_place place = {.object = from->object,
					  .file = from->file,
					  .symbol = from->symbol,
					  .address = from->symbol ? 0 : from->address,
					  .level = from->level};
	uint32_t function, number;

	function = number_place(aggregation, &place);
	if (!(aggregation->parts & AGGREGATION_ADDRESSES))
		return function;
	place.address = from->address;
	place.ip = from->ip;
	number = number_place(aggregation, &place);
	aggregation->places[number].function = function;
	return number;
}

static bool same_frame(const void *frames, uint32_t number, const void *thing)
{
	const struct aggregation_frame *a = (const struct aggregation_frame *)frames + number;
	const struct aggregation_frame *b = thing;

	return a->place == b->place && a->caller == b->caller;
}

static uint32_t frame_number(struct aggregation *aggregation, uint32_t caller,
			     const struct profile_place *place)
{
	struct aggregation_frame frame = {place_number(aggregation, place), caller};
	uint32_t number = numbering_find(&aggregation->frame_numbers,
					 numbering_mix(0, (uint64_t)caller << 32 | frame.place),
					 same_frame, aggregation->frames, &frame);

	if (number == aggregation->frame_count) {
		aggregation->frames =
			tool_room(aggregation->frames, &aggregation->frame_room,
				  aggregation->frame_count, sizeof(*aggregation->frames));
		aggregation->frames[aggregation->frame_count++] = frame;
	}
	return number;
}

uint32_t aggregation_frame(struct aggregation *aggregation, const struct profile_sample *sample)
{
	uint32_t frame = AGGREGATION_NONE;

	for (size_t i = sample->caller_count; i-- > 0;)
		frame = frame_number(aggregation, frame, &sample->callers[i]);
	return frame_number(aggregation, frame, &sample->at);
}

void aggregation_name(const struct aggregation_place *place, char *text, size_t bytes)
{
	if (place->symbol)
		snprintf(text, bytes, "%s", demangle_name(place->symbol->name));
	else if (place->object[0] == '/')
		snprintf(text, bytes, "%s+%#" PRIx64, profile_short(place->object), place->address);
	else
		snprintf(text, bytes, "%#" PRIx64, place->address);
}

/* --- threads ------------------------------------------------------------------------------ */

static struct aggregation_thread thread_of(const struct aggregation *aggregation,
					   const struct profile_sample *sample)
{
	struct aggregation_thread thread = {.comm = sample->comm};

	if (aggregation->parts & AGGREGATION_THREADS) {
		thread.pid = sample->pid;
		thread.tid = sample->tid;
	}
	if (aggregation->parts & AGGREGATION_CPUS)
		thread.cpu = sample->cpu;
	return thread;
}

static bool same_thread(const struct aggregation_thread *a, const struct aggregation_thread *b)
{
	return a->comm == b->comm && a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu;
}

static uint64_t hash_of_thread(const struct aggregation_thread *thread)
{
	return numbering_mix((uintptr_t)thread->comm, (uint64_t)thread->tid << 32 | thread->cpu);
}

/* --- stacks ------------------------------------------------------------------------------- */

static bool same_stack(const void *stacks, uint32_t number, const void *thing)
{
	const struct aggregation_stack *a = (const struct aggregation_stack *)stacks + number;
	const struct aggregation_stack *b = thing;

	return a->frame == b->frame && same_thread(&a->thread, &b->thread);
}

static void add_stack(struct aggregation *aggregation, struct aggregation_event *event,
		      const struct profile_sample *sample)
{
	struct aggregation_stack stack = {.thread = thread_of(aggregation, sample),
					  .frame = aggregation_frame(aggregation, sample)};
	uint32_t number;

	number = numbering_find(&event->stack_numbers,
				numbering_mix(hash_of_thread(&stack.thread), stack.frame),
				same_stack, event->stacks, &stack);
	if (number == event->stack_count) {
		event->stacks = tool_room(event->stacks, &event->stack_room, event->stack_count,
					  sizeof(*event->stacks));
		event->stacks[event->stack_count++] = stack;
	}
	event->stacks[number].samples += sample->count;
	event->stacks[number].period += sample->period;
}

/* --- branches ---------------------------------------------------------------------------- */

static bool same_branch(const void *branches, uint32_t number, const void *thing)
{
	const struct aggregation_branch *a = (const struct aggregation_branch *)branches + number;
	const struct aggregation_branch *b = thing;

	return a->from == b->from && a->to == b->to && a->flags == b->flags &&
	       same_thread(&a->thread, &b->thread);
}

static void add_branch(struct aggregation *aggregation, struct aggregation_event *event,
		       const struct profile_sample *sample, const struct profile_branch *from)
{
	struct aggregation_branch branch = {.thread = thread_of(aggregation, sample),
					    .from = place_number(aggregation, &from->from),
					    .to = place_number(aggregation, &from->to)};
	uint64_t hash = hash_of_thread(&branch.thread);
	uint32_t number;

	if (aggregation->parts & AGGREGATION_FLAGS)
		branch.flags = from->flags;
	hash = numbering_mix(hash, (uint64_t)branch.from << 32 | branch.to);
	number = numbering_find(&event->branch_numbers, numbering_mix(hash, branch.flags),
				same_branch, event->branches, &branch);
	if (number == event->branch_count) {
		event->branches = tool_room(event->branches, &event->branch_room,
					    event->branch_count, sizeof(*event->branches));
		event->branches[event->branch_count++] = branch;
	}
	event->branches[number].count++;
}

static void add_sample(void *opaque, const struct profile_sample *sample)
{
	struct aggregation *aggregation = opaque;
	struct aggregation_event *event = &aggregation->events[sample->event];

	event->samples += sample->count;
	event->period += sample->period;
	if (aggregation->parts & AGGREGATION_ABSOLUTE &&
	    !filter_takes(&aggregation->profile->filter, sample->comm, sample->pid, sample->tid,
			  &sample->at))
		return;
	if (aggregation->parts & AGGREGATION_SAMPLES)
		add_stack(aggregation, event, sample);
	if (event->call_stack)
		return;
	event->branch_total += sample->branch_count;
	if (!(aggregation->parts & AGGREGATION_BRANCHES))
		return;
	for (size_t i = 0; i < sample->branch_count; i++)
		add_branch(aggregation, event, sample, &sample->branches[i]);
}

static void add_call(void *opaque, const struct profile_call *from)
{
	struct aggregation *aggregation = opaque;
	struct aggregation_event *event = &aggregation->events[from->event];
	struct profile_sample sample = {.comm = from->comm, .pid = from->pid, .tid = from->tid};

	if (!filter_takes(&aggregation->profile->filter, from->comm, from->pid, from->tid,
			  &from->to))
		return;
	event->calls = tool_room(event->calls, &event->call_room, event->call_count,
				 sizeof(*event->calls));
	event->calls[event->call_count++] = (struct aggregation_call){
		.thread = thread_of(aggregation, &sample),
		.from = from->is_call ? place_number(aggregation, &from->from) : AGGREGATION_NONE,
		.to = aggregation->places[place_number(aggregation, &from->to)].function,
		.times = from->times,
		.cost = from->cost,
	};
}

struct aggregation *aggregation_new(struct profile *profile, unsigned parts)
{
	struct aggregation *aggregation = tool_alloc(sizeof(*aggregation));
	unsigned wanted = 0;

	aggregation->profile = profile;
	aggregation->parts = parts;
	aggregation->event_count = profile_event_count(profile);
	aggregation->events = tool_alloc(aggregation->event_count * sizeof(*aggregation->events));
	for (size_t i = 0; i < aggregation->event_count; i++) {
		const struct perfdata_event *event;

		aggregation->events[i].name = profile_event_name(profile, i);
		aggregation->events[i].exact = profile->exact != NULL;
		if (profile->exact)
			continue;
		event = perfdata_event_at(profile->reader, i);
		aggregation->events[i].call_chains = profile_has_callers(event);
		aggregation->events[i].call_stack = profile_has_call_stack(event);
	}
	if (parts & AGGREGATION_CALLERS)
		wanted |= PROFILE_CALLERS;
	if (parts & AGGREGATION_BRANCHES)
		wanted |= PROFILE_BRANCHES;
	if (parts & AGGREGATION_ABSOLUTE)
		wanted |= PROFILE_ALL;
	profile_each(profile, wanted, add_sample, aggregation);
	if (parts & AGGREGATION_CALLERS)
		profile_exact_calls(profile, add_call, aggregation);
	return aggregation;
}

void aggregation_free(struct aggregation *aggregation)
{
	for (size_t i = 0; i < aggregation->event_count; i++) {
		struct aggregation_event *event = &aggregation->events[i];

		free(event->stacks);
		free(event->branches);
		free(event->calls);
		numbering_free(&event->stack_numbers);
		numbering_free(&event->branch_numbers);
	}
	numbering_free(&aggregation->place_numbers);
	numbering_free(&aggregation->frame_numbers);
	free(aggregation->places);
	free(aggregation->frames);
	free(aggregation->events);
	free(aggregation);
}
