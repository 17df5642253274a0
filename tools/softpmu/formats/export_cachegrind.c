/* SPDX-License-Identifier: MIT */
/* export_cachegrind.c: the profile format of cachegrind, for cg_annotate.  It has no calls. */
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/formats/line_costs.h"

/* The source of a cost is a file of its own, if it is inlined from there. */
static bool begins_group(const struct line_cost *cost, const struct line_cost *before)
{
	return !before || before->function != cost->function || before->source != cost->source;
}

/* Sorts the lines of a function by their sources. */
static int by_source(const void *one, const void *other)
{
	const struct line_cost *a = one, *b = other;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->source != b->source)
		return strcmp(a->source ? a->source : "", b->source ? b->source : "");
	return a->line < b->line ? -1 : a->line > b->line;
}

static void write_cachegrind(const struct export_input *input, FILE *to)
{
	struct line_costs costs = line_costs_make(input);
	const struct line_cost *before = NULL;
	char name[4096];

	if (costs.count)
		qsort(costs.list, costs.count, sizeof(*costs.list), by_source);
	fputs("desc: Written by: softpmu\ncmd: ", to);
	line_costs_put_command(input, to);
	putc('\n', to);
	line_costs_put_events(&costs, to);
	putc('\n', to);
	for (size_t i = 0; i < costs.count; i++) {
		const struct line_cost *cost = &costs.list[i];

		if (cost->callee != AGGREGATION_NONE)
			continue;
		if (begins_group(cost, before)) {
			aggregation_name(&input->aggregation->places[cost->function], name,
					 sizeof(name));
			fprintf(to, "fl=%s\nfn=%s\n", cost->source ? cost->source : "???", name);
		}
		before = cost;
		line_costs_put(&costs, cost, to);
	}
	line_costs_put_totals(&costs, "summary:", to);
	line_costs_free(&costs);
}

const struct exporter export_cachegrind = {
	.name = "cachegrind", .parts = AGGREGATION_ADDRESSES, .write = write_cachegrind};
