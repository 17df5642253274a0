/* SPDX-License-Identifier: MIT */
/*
 * export_callgrind.c: callgrind's profile format, for KCachegrind and callgrind_annotate, and
 * cachegrind's, for cg_annotate, cg_diff and cg_merge.  The latter has no calls.
 *
 * Costs are those of the samples: of lines, and of calls with what they led to.  A profile of
 * samples does not know how often a function was called.  As the number of calls the file has the
 * number of samples in them.  An exact profile has both.
 */
#include "tools/softpmu/formats/export.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

/* A cost of a function: of one of its lines, or of a call from there. */
struct cost {
	uint32_t function, callee; /* AGGREGATION_NONE: no call */
	int line;		   /* 0: unknown */
	const char *source;	   /* NULL: unknown */
	uint64_t samples;
	uint64_t period[EXACT_EVENTS_MAX]; /* of each event of the file */
};

/* A function that calls another. */
struct edge {
	uint32_t function, callee;
	size_t last_stack; /* the last that it was counted for, plus 1 */
};

struct costs {
	const struct aggregation *aggregation;
	size_t first, events; /* those of the aggregation that the file has */
	size_t event;	      /* the one that is added up, from 0 */
	struct cost *list;
	size_t count, room;
	struct numbering numbers;
	struct edge *edges;
	size_t edge_count, edge_room;
	struct numbering edge_numbers;
};

static bool same_cost(const void *costs, uint32_t number, const void *thing)
{
	const struct cost *a = (const struct cost *)costs + number, *b = thing;

	return a->function == b->function && a->callee == b->callee && a->line == b->line &&
	       a->source == b->source;
}

static void count(struct costs *costs, uint32_t place, uint32_t callee, uint64_t samples,
		  uint64_t period)
{
	const struct aggregation_place *at = &costs->aggregation->places[place];
	struct cost cost = {.function = at->function, .callee = callee};
	uint64_t hash = numbering_mix(0, (uint64_t)cost.function << 32 | callee);
	uint32_t number;

	if (!export_line(at, &cost.source, &cost.line)) {
		cost.source = NULL;
		cost.line = 0;
	}
	hash = numbering_mix(hash, (uintptr_t)cost.source + (uint64_t)cost.line);
	number = numbering_find(&costs->numbers, hash, same_cost, costs->list, &cost);
	if (number == costs->count) {
		costs->list =
			tool_room(costs->list, &costs->room, costs->count, sizeof(*costs->list));
		costs->list[costs->count++] = cost;
	}
	if (!costs->event)
		costs->list[number].samples += samples;
	costs->list[number].period[costs->event] += period;
}

static bool same_edge(const void *edges, uint32_t number, const void *thing)
{
	const struct edge *a = (const struct edge *)edges + number, *b = thing;

	return a->function == b->function && a->callee == b->callee;
}

/* Returns true if the stack has not been counted for this call.  In a recursion a function calls
 * another several times, but the cost of a sample in them is there once. */
static bool is_first(struct costs *costs, size_t stack, uint32_t function, uint32_t callee)
{
	struct edge edge = {.function = function, .callee = callee, .last_stack = stack + 1};
	uint64_t hash = numbering_mix(0, (uint64_t)function << 32 | callee);
	uint32_t number =
		numbering_find(&costs->edge_numbers, hash, same_edge, costs->edges, &edge);

	if (number == costs->edge_count) {
		costs->edges = tool_room(costs->edges, &costs->edge_room, costs->edge_count,
					 sizeof(*costs->edges));
		costs->edges[costs->edge_count++] = edge;
		return true;
	}
	if (costs->edges[number].last_stack == stack + 1)
		return false;
	costs->edges[number].last_stack = stack + 1;
	return true;
}

static void count_stack(struct costs *costs, const struct aggregation_stack *stack, size_t number)
{
	const struct aggregation *aggregation = costs->aggregation;
	const struct aggregation_frame *frame = &aggregation->frames[stack->frame];

	count(costs, frame->place, AGGREGATION_NONE, stack->samples, stack->period);
	while (frame->caller != AGGREGATION_NONE) {
		uint32_t callee = aggregation->places[frame->place].function;

		frame = &aggregation->frames[frame->caller];
		if (is_first(costs, number, aggregation->places[frame->place].function, callee))
			count(costs, frame->place, callee, stack->samples, stack->period);
	}
}

static int by_function(const void *one, const void *other)
{
	const struct cost *a = one, *b = other;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->callee != b->callee) /* lines, whose callee is AGGREGATION_NONE, first */
		return a->callee > b->callee ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* Names an object, a source and a function.  `mark` is "" or "c" for what is called. */
static void put_function(const struct aggregation_place *place, const char *mark, FILE *to)
{
	const char *source;
	char name[4096];
	int line;

	aggregation_name(place, name, sizeof(name));
	fprintf(to, "%sob=%s\n", mark, place->object);
	fprintf(to, "%s=%s\n", *mark ? "cfi" : "fl",
		export_line(place, &source, &line) ? source : "???");
	fprintf(to, "%sfn=%s\n", mark, name);
}

static void put_cost(const struct costs *costs, const struct cost *cost, const char **source,
		     FILE *to)
{
	const struct aggregation_place *callee;
	const char *ignored;
	int line = 0;

	/* Inlined code is in another source than its function. */
	if (cost->source && *source != cost->source) {
		fprintf(to, "fi=%s\n", cost->source);
		*source = cost->source;
	}
	if (cost->callee != AGGREGATION_NONE) {
		callee = &costs->aggregation->places[cost->callee];
		put_function(callee, "c", to);
		if (!export_line(callee, &ignored, &line))
			line = 0;
		fprintf(to, "calls=%" PRIu64 " %d\n", cost->samples, line);
	}
	fprintf(to, "%d", cost->line);
	for (size_t e = 0; e < costs->events; e++)
		fprintf(to, " %" PRIu64, cost->period[e]);
	putc('\n', to);
}

/* Events are one word each, of letters and digits. */
static void put_event_name(const char *name, FILE *to)
{
	/* valgrind's name, which readers of such files know. */
	if (!strcmp(name, "instructions:u"))
		name = "Ir";
	for (; *name; name++)
		putc(isalnum((unsigned char)*name) ? *name : '_', to);
}

/* A command can have several lines, but the header has one for it. */
static void put_command(const char *command, FILE *to)
{
	for (; *command; command++)
		putc(*command == '\n' ? ' ' : *command, to);
}

static const struct aggregation_event *event_at(const struct costs *costs, size_t event)
{
	return &costs->aggregation->events[costs->first + event];
}

/* An exact profile is written with all its events. */
static struct costs costs_of(const struct export_input *input)
{
	bool all = input->any_event && input->aggregation->events[input->event].exact;

	return (struct costs){
		.aggregation = input->aggregation,
		.first = all ? 0 : input->event,
		.events = all ? input->aggregation->event_count : 1,
	};
}

static void count_event(struct costs *costs)
{
	const struct aggregation_event *event = event_at(costs, costs->event);

	for (size_t i = 0; i < event->stack_count; i++)
		count_stack(costs, &event->stacks[i], i);
	for (size_t i = 0; i < event->call_count; i++) {
		const struct aggregation_call *call = &event->calls[i];

		if (call->from != AGGREGATION_NONE)
			count(costs, call->from, call->to, call->times, call->cost);
	}
}

static void put_totals(const struct costs *costs, const char *what, FILE *to)
{
	fputs(what, to);
	for (size_t e = 0; e < costs->events; e++)
		fprintf(to, " %" PRIu64, event_at(costs, e)->period);
	putc('\n', to);
}

/* Adds up all events, and sorts the costs by function. */
static struct costs make_costs(const struct export_input *input)
{
	struct costs costs = costs_of(input);

	for (costs.event = 0; costs.event < costs.events; costs.event++)
		count_event(&costs);
	if (costs.count)
		qsort(costs.list, costs.count, sizeof(*costs.list), by_function);
	return costs;
}

static void free_costs(struct costs *costs)
{
	numbering_free(&costs->numbers);
	numbering_free(&costs->edge_numbers);
	free(costs->list);
	free(costs->edges);
}

static void put_events(const struct costs *costs, FILE *to)
{
	fputs("events:", to);
	for (size_t e = 0; e < costs->events; e++) {
		putc(' ', to);
		put_event_name(event_at(costs, e)->name, to);
	}
}

static void write_callgrind(const struct export_input *input, FILE *to)
{
	struct costs costs = make_costs(input);
	const char *command = profile_about(input->profile, "command line");
	const char *source = NULL;

	fputs("# callgrind format\nversion: 1\ncreator: softpmu\ncmd: ", to);
	put_command(command ? command : "?", to);
	fputs("\npositions: line\n", to);
	put_events(&costs, to);
	put_totals(&costs, "\nsummary:", to);
	for (size_t i = 0; i < costs.count; i++) {
		const struct cost *cost = &costs.list[i];
		const struct aggregation_place *place = &input->aggregation->places[cost->function];
		int line;

		if (!i || costs.list[i - 1].function != cost->function) {
			putc('\n', to);
			put_function(place, "", to);
			if (!export_line(place, &source, &line))
				source = NULL;
		}
		put_cost(&costs, cost, &source, to);
	}
	put_totals(&costs, "\ntotals:", to);
	free_costs(&costs);
}

const struct exporter export_callgrind = {
	.name = "callgrind", .parts = AGGREGATION_ADDRESSES, .write = write_callgrind};

/* The source of a cost is a file of its own, if it is inlined from there. */
static bool begins_group(const struct cost *cost, const struct cost *before)
{
	return !before || before->function != cost->function || before->source != cost->source;
}

/* As by_function, with the lines of a source together. */
static int by_source(const void *one, const void *other)
{
	const struct cost *a = one, *b = other;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->source != b->source)
		return strcmp(a->source ? a->source : "", b->source ? b->source : "");
	return a->line < b->line ? -1 : a->line > b->line;
}

static void write_cachegrind(const struct export_input *input, FILE *to)
{
	struct costs costs = make_costs(input);
	const char *command = profile_about(input->profile, "command line");
	const struct cost *before = NULL;
	char name[4096];

	if (costs.count)
		qsort(costs.list, costs.count, sizeof(*costs.list), by_source);
	fputs("desc: Written by: softpmu\ncmd: ", to);
	put_command(command ? command : "?", to);
	putc('\n', to);
	put_events(&costs, to);
	putc('\n', to);
	for (size_t i = 0; i < costs.count; i++) {
		const struct cost *cost = &costs.list[i];

		if (cost->callee != AGGREGATION_NONE)
			continue;
		if (begins_group(cost, before)) {
			aggregation_name(&input->aggregation->places[cost->function], name,
					 sizeof(name));
			fprintf(to, "fl=%s\nfn=%s\n", cost->source ? cost->source : "???", name);
		}
		before = cost;
		fprintf(to, "%d", cost->line);
		for (size_t e = 0; e < costs.events; e++)
			fprintf(to, " %" PRIu64, cost->period[e]);
		putc('\n', to);
	}
	put_totals(&costs, "summary:", to);
	free_costs(&costs);
}

const struct exporter export_cachegrind = {
	.name = "cachegrind", .parts = AGGREGATION_ADDRESSES, .write = write_cachegrind};
