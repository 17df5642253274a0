/* SPDX-License-Identifier: MIT */
/*
 * export_callgrind.c: callgrind's profile format, for KCachegrind and callgrind_annotate.
 *
 * Costs are those of the samples: of lines, and of calls with what they led to.  A profile of
 * samples does not know how often a function was called.  As the number of calls the file has the
 * number of samples in them.  An exact profile has both.
 */
#include <inttypes.h>

#include "tools/softpmu/formats/line_costs.h"

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

static void put_cost(const struct line_costs *costs, const struct line_cost *cost,
		     const char **source, FILE *to)
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
	line_costs_put(costs, cost, to);
}

static void write_callgrind(const struct export_input *input, FILE *to)
{
	struct line_costs costs = line_costs_make(input);
	const char *source = NULL;

	fputs("# callgrind format\nversion: 1\ncreator: softpmu\ncmd: ", to);
	line_costs_put_command(input, to);
	fputs("\npositions: line\n", to);
	line_costs_put_events(&costs, to);
	line_costs_put_totals(&costs, "\nsummary:", to);
	for (size_t i = 0; i < costs.count; i++) {
		const struct line_cost *cost = &costs.list[i];
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
	line_costs_put_totals(&costs, "\ntotals:", to);
	line_costs_free(&costs);
}

const struct exporter export_callgrind = {
	.name = "callgrind", .parts = AGGREGATION_ADDRESSES, .write = write_callgrind};
