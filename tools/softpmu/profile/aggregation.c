/* SPDX-License-Identifier: MIT */
/* aggregation.c: adds up the samples of a profile by event, command, place and chain of calls. */
#include "tools/softpmu/profile/aggregation.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

static bool same_place(const void *places, uint32_t number, const void *thing)
{
	const struct aggregation_place *a = (const struct aggregation_place *)places + number;
	const struct aggregation_place *b = thing;

	return a->object == b->object && a->symbol == b->symbol && a->address == b->address &&
	       a->level == b->level;
}

static uint32_t place_number(struct aggregation *aggregation, const struct profile_place *from)
{
	struct aggregation_place place = {.object = from->object,
					  .file = from->file,
					  .symbol = from->symbol,
					  .address = from->symbol ? 0 : from->address,
					  .level = from->level};
	uint64_t hash = numbering_mix(numbering_mix(0, (uintptr_t)place.object),
				      (uintptr_t)place.symbol + place.address);
	uint32_t number = numbering_find(&aggregation->place_numbers, hash, same_place,
					 aggregation->places, &place);

	if (number < aggregation->place_count)
		return number;
	aggregation->places = tool_room(aggregation->places, &aggregation->place_room,
					aggregation->place_count, sizeof(*aggregation->places));
	aggregation->places[aggregation->place_count++] = place;
	return number;
}

/* --- stacks ------------------------------------------------------------------------------ */

static bool same_stack(const void *stacks, uint32_t number, const void *thing)
{
	const struct aggregation_stack *a = (const struct aggregation_stack *)stacks + number;
	const struct aggregation_stack *b = thing;

	return a->comm == b->comm && a->place == b->place && a->call_count == b->call_count &&
	       (!a->call_count || !memcmp(a->calls, b->calls, a->call_count * sizeof(*a->calls)));
}

static struct aggregation_edge *edges_of(struct aggregation *aggregation,
					 const struct profile_sample *sample)
{
	struct aggregation_edge *edges = tool_alloc(sample->branch_count * sizeof(*edges));

	for (size_t i = 0; i < sample->branch_count; i++) {
		edges[i].from = place_number(aggregation, &sample->branches[i].from);
		edges[i].to = place_number(aggregation, &sample->branches[i].to);
	}
	return edges;
}

static void add_stack(struct aggregation *aggregation, struct aggregation_event *event,
		      const struct profile_sample *sample)
{
	struct aggregation_edge *calls = NULL;
	struct aggregation_stack stack = {.comm = sample->comm,
					  .place = place_number(aggregation, &sample->at)};
	uint64_t hash = numbering_mix(stack.place, (uintptr_t)stack.comm);
	uint32_t number;

	if (event->call_chains && aggregation->parts & AGGREGATION_CALLS) {
		stack.calls = calls = edges_of(aggregation, sample);
		stack.call_count = (uint32_t)sample->branch_count;
	}
	for (size_t i = 0; i < stack.call_count; i++)
		hash = numbering_mix(hash, (uint64_t)calls[i].from << 32 | calls[i].to);
	number = numbering_find(&event->stack_numbers, hash, same_stack, event->stacks, &stack);
	if (number == event->stack_count) {
		event->stacks = tool_room(event->stacks, &event->stack_room, event->stack_count,
					  sizeof(*event->stacks));
		event->stacks[event->stack_count++] = stack;
	} else {
		free(calls);
	}
	event->stacks[number].samples++;
	event->stacks[number].period += sample->period;
}

/* --- branches ---------------------------------------------------------------------------- */

static bool same_branch(const void *branches, uint32_t number, const void *thing)
{
	const struct aggregation_branch *a = (const struct aggregation_branch *)branches + number;
	const struct aggregation_branch *b = thing;

	return a->comm == b->comm && a->edge.from == b->edge.from && a->edge.to == b->edge.to;
}

static void add_branch(struct aggregation *aggregation, struct aggregation_event *event,
		       const char *comm, const struct profile_branch *from)
{
	struct aggregation_branch branch = {.comm = comm,
					    .edge = {place_number(aggregation, &from->from),
						     place_number(aggregation, &from->to)}};
	uint64_t hash =
		numbering_mix((uint64_t)branch.edge.from << 32 | branch.edge.to, (uintptr_t)comm);
	uint32_t number =
		numbering_find(&event->branch_numbers, hash, same_branch, event->branches, &branch);

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

	event->samples++;
	event->period += sample->period;
	event->edges += sample->branch_count;
	if (aggregation->parts & AGGREGATION_SAMPLES)
		add_stack(aggregation, event, sample);
	if (event->call_chains || !(aggregation->parts & AGGREGATION_BRANCHES))
		return;
	for (size_t i = 0; i < sample->branch_count; i++)
		add_branch(aggregation, event, sample->comm, &sample->branches[i]);
}

struct aggregation *aggregation_new(struct profile *profile, unsigned parts)
{
	struct aggregation *aggregation = tool_alloc(sizeof(*aggregation));

	aggregation->parts = parts;
	aggregation->event_count = perfdata_event_count(profile->reader);
	aggregation->events = tool_alloc(aggregation->event_count * sizeof(*aggregation->events));
	for (size_t i = 0; i < aggregation->event_count; i++) {
		const struct perfdata_event *event = perfdata_event_at(profile->reader, i);

		aggregation->events[i].name = event->name;
		aggregation->events[i].call_chains =
			event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
	}
	if (parts & (AGGREGATION_CALLS | AGGREGATION_BRANCHES))
		profile_each_with_branches(profile, add_sample, aggregation);
	else
		profile_each(profile, add_sample, aggregation);
	return aggregation;
}

void aggregation_free(struct aggregation *aggregation)
{
	for (size_t i = 0; i < aggregation->event_count; i++) {
		struct aggregation_event *event = &aggregation->events[i];

		for (size_t j = 0; j < event->stack_count; j++)
			free((struct aggregation_edge *)event->stacks[j].calls);
		free(event->stacks);
		free(event->branches);
		numbering_free(&event->stack_numbers);
		numbering_free(&event->branch_numbers);
	}
	numbering_free(&aggregation->place_numbers);
	free(aggregation->places);
	free(aggregation->events);
	free(aggregation);
}
