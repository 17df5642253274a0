/* SPDX-License-Identifier: MIT */
/* line_costs.c: adds up the costs of lines and of calls (line_costs.h). */
#include "tools/softpmu/formats/line_costs.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

static bool same_cost(const void *costs, uint32_t number, const void *thing)
{
	const struct line_cost *a = (const struct line_cost *)costs + number, *b = thing;

	return a->function == b->function && a->callee == b->callee && a->line == b->line &&
	       a->source == b->source;
}

static void count(struct line_costs *costs, uint32_t place, uint32_t callee, uint64_t samples,
		  uint64_t period)
{
	const struct aggregation_place *at = &costs->aggregation->places[place];
	struct line_cost cost = {.function = at->function, .callee = callee};
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
	const struct line_edge *a = (const struct line_edge *)edges + number, *b = thing;

	return a->function == b->function && a->callee == b->callee;
}

/* Returns true if the stack has not been counted for this call.  In a recursion a function calls
 * another several times, but the cost of a sample in them is there once. */
static bool is_first(struct line_costs *costs, size_t stack, uint32_t function, uint32_t callee)
{
	struct line_edge edge = {.function = function, .callee = callee, .last_stack = stack + 1};
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

static void count_stack(struct line_costs *costs, const struct aggregation_stack *stack,
			size_t number)
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
	const struct line_cost *a = one, *b = other;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->callee != b->callee) /* lines, whose callee is AGGREGATION_NONE, first */
		return a->callee > b->callee ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* A command can have several lines, but the header has one for it. */
void line_costs_put_command(const struct export_input *input, FILE *to)
{
	const char *command = profile_about(input->profile, "command line");

	for (command = command ? command : "?"; *command; command++)
		putc(*command == '\n' ? ' ' : *command, to);
}

static const struct aggregation_event *event_at(const struct line_costs *costs, size_t event)
{
	return &costs->aggregation->events[costs->first + event];
}

/* An exact profile is written with all its events. */
static struct line_costs costs_of(const struct export_input *input)
{
	bool all = input->any_event && input->aggregation->events[input->event].exact;

	return (struct line_costs){
		.aggregation = input->aggregation,
		.first = all ? 0 : input->event,
		.events = all ? input->aggregation->event_count : 1,
	};
}

static void count_event(struct line_costs *costs)
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

struct line_costs line_costs_make(const struct export_input *input)
{
	struct line_costs costs = costs_of(input);

	for (costs.event = 0; costs.event < costs.events; costs.event++)
		count_event(&costs);
	if (costs.count)
		qsort(costs.list, costs.count, sizeof(*costs.list), by_function);
	return costs;
}

void line_costs_free(struct line_costs *costs)
{
	numbering_free(&costs->numbers);
	numbering_free(&costs->edge_numbers);
	free(costs->list);
	free(costs->edges);
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

void line_costs_put_events(const struct line_costs *costs, FILE *to)
{
	fputs("events:", to);
	for (size_t e = 0; e < costs->events; e++) {
		putc(' ', to);
		put_event_name(event_at(costs, e)->name, to);
	}
}

void line_costs_put_totals(const struct line_costs *costs, const char *what, FILE *to)
{
	fputs(what, to);
	for (size_t e = 0; e < costs->events; e++)
		fprintf(to, " %" PRIu64, event_at(costs, e)->period);
	putc('\n', to);
}

void line_costs_put(const struct line_costs *costs, const struct line_cost *cost, FILE *to)
{
	fprintf(to, "%d", cost->line);
	for (size_t e = 0; e < costs->events; e++)
		fprintf(to, " %" PRIu64, cost->period[e]);
	putc('\n', to);
}
