/* SPDX-License-Identifier: MIT */
/*
 * export_folded.c: a line for each call chain: "command;main;function COUNT", as flamegraph.pl and
 * many other programs read it.
 */
#include "tools/softpmu/formats/export.h"

#include <inttypes.h>

/* A semicolon ends a name. */
static void put_name(const char *name, FILE *to)
{
	for (; *name; name++)
		putc(*name == ';' || *name == '\n' ? ':' : *name, to);
}

static void put_frame(const struct aggregation *aggregation, uint32_t frame, FILE *to)
{
	const struct aggregation_frame *at = &aggregation->frames[frame];
	char name[4096];

	if (at->caller != AGGREGATION_NONE)
		put_frame(aggregation, at->caller, to);
	aggregation_name(&aggregation->places[at->place], name, sizeof(name));
	putc(';', to);
	put_name(name, to);
}

static void write_folded(const struct export_input *input, FILE *to)
{
	const struct aggregation_event *event = &input->aggregation->events[input->event];

	for (size_t i = 0; i < event->stack_count; i++) {
		const struct aggregation_stack *stack = &event->stacks[i];

		put_name(stack->thread.comm, to);
		put_frame(input->aggregation, stack->frame, to);
		fprintf(to, " %" PRIu64 "\n", stack->period);
	}
}

const struct exporter export_folded = {.name = "folded", .write = write_folded};
