/* SPDX-License-Identifier: MIT */
/*
 * valgrind_costs.c: runs a program for softpmu-valgrind with a model of caches and branch
 * predictors, which says what each instruction and call costs.
 */
#define _GNU_SOURCE
#include "tools/softpmu/commands/valgrind.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/delayed_loading.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/flow/costs.h"
#include "tools/softpmu/flow/identify.h"
#include "tools/softpmu/run/run.h"

enum part { ALWAYS, CACHES, BRANCHES };

struct column {
	const char *name;
	enum link_cost cost;
	enum part part;
};

/* In the order of callgrind's files. */
static const struct column of_callgrind[] = {
	{"Ir", LINK_COST_IR, ALWAYS},	  {"Dr", LINK_COST_DR, CACHES},
	{"Dw", LINK_COST_DW, CACHES},	  {"I1mr", LINK_COST_I1MR, CACHES},
	{"D1mr", LINK_COST_D1MR, CACHES}, {"D1mw", LINK_COST_D1MW, CACHES},
	{"ILmr", LINK_COST_ILMR, CACHES}, {"DLmr", LINK_COST_DLMR, CACHES},
	{"DLmw", LINK_COST_DLMW, CACHES}, {"Bc", LINK_COST_BC, BRANCHES},
	{"Bcm", LINK_COST_BCM, BRANCHES}, {"Bi", LINK_COST_BI, BRANCHES},
	{"Bim", LINK_COST_BIM, BRANCHES},
};

/* In the order of cachegrind's. */
static const struct column of_cachegrind[] = {
	{"Ir", LINK_COST_IR, ALWAYS},	  {"I1mr", LINK_COST_I1MR, CACHES},
	{"ILmr", LINK_COST_ILMR, CACHES}, {"Dr", LINK_COST_DR, CACHES},
	{"D1mr", LINK_COST_D1MR, CACHES}, {"DLmr", LINK_COST_DLMR, CACHES},
	{"Dw", LINK_COST_DW, CACHES},	  {"D1mw", LINK_COST_D1MW, CACHES},
	{"DLmw", LINK_COST_DLMW, CACHES}, {"Bc", LINK_COST_BC, BRANCHES},
	{"Bcm", LINK_COST_BCM, BRANCHES}, {"Bi", LINK_COST_BI, BRANCHES},
	{"Bim", LINK_COST_BIM, BRANCHES},
};

#define COLUMNS (sizeof(of_callgrind) / sizeof(of_callgrind[0]))

_Static_assert(sizeof(of_callgrind) == sizeof(of_cachegrind) && COLUMNS <= EXACT_EVENTS_MAX,
	       "the same events in both orders");

/* Begins the profile with the events that are wanted, and says which costs they are. */
static struct exact *begin_exact(struct valgrind_costs *v, char **program, enum link_cost *which)
{
	const struct column *column = v->cachegrind ? of_cachegrind : of_callgrind;
	struct exact *exact = exact_new();

	exact->command = run_command_text(program);
	exact->model = tool_copy(DEFAULT_MODEL);
	for (size_t i = 0; i < COLUMNS; i++) {
		if ((column[i].part == CACHES && !v->caches) ||
		    (column[i].part == BRANCHES && !v->branches))
			continue;
		which[exact->event_count] = column[i].cost;
		v->name[exact->event_count] = column[i].name;
		exact->events[exact->event_count++].name = tool_copy(column[i].name);
	}
	v->events = exact->event_count;
	return exact;
}

static void launch(struct valgrind_costs *v, const struct launch_program *program,
		   const struct link_event *event, struct costs *costs,
		   struct launch_result *result)
{
	struct launch_request request = {
		.model = DEFAULT_MODEL,
		.machine = &v->machine,
		.threads = RUN_THREADS,
		.event = event,
		.events = 1,
		.want = LINK_WANT_COSTS | LINK_WANT_VALGRIND | (v->children ? 0 : LINK_WANT_ONE) |
			(v->cachegrind ? 0 : LINK_WANT_CHANGES_WRITE),
		.prepare = costs_prepare,
		.sink = costs_take,
		.opaque = costs,
		.begins_stopped = v->front.begins_stopped,
	};

	function_regions_request(&v->functions, &request);
	request.events_off = v->front.events_off;
	launch_run(program, &request, result);
	run_say_end(result);
}

/* Writes the profile, and adds its sums.  Returns false after a message. */
static bool write_exact(struct valgrind_costs *v, struct exact *exact, const char *file)
{
	for (size_t e = 0; e < exact->event_count; e++) {
		exact->events[e].counted = exact_sum(exact, e);
		v->sum[e] += exact->events[e].counted;
	}
	identify_objects(exact);
	if (exact_file_write(exact, file))
		return true;
	tool_error("cannot write %s: %s", file, strerror(errno));
	return false;
}

static void dump(void *opaque, struct exact *part, bool zero)
{
	struct valgrind_costs *v = opaque;
	char *file;

	if (zero) {
		v->zeroed += exact_sum(part, 0);
	} else {
		file = tool_print("%s.%u", v->file, ++v->dumps);
		v->failed |= !write_exact(v, part, file);
		free(file);
	}
	exact_free(part);
}

static void complete(struct valgrind_costs *v, const struct launch_result *result)
{
	v->front.pid = result->pid;
	v->front.refused = result->refused;
	v->front.sum = v->sum[0];
	v->front.done = result->end == LAUNCH_DONE;
	if (v->front.done)
		function_regions_say(&v->functions);
	if (v->front.done && v->sum[0] + v->zeroed != result->count[0])
		tool_error("the profile has %" PRIu64 " instructions, but %" PRIu64 " were counted",
			   v->sum[0] + v->zeroed, result->count[0]);
}

/* The unit counts instructions, too, so it is known whether the profile is complete. */
static int run(struct valgrind_costs *v, const struct link_event *event, char **argv)
{
	enum link_cost which[COLUMNS];
	struct exact *exact = begin_exact(v, argv, which);
	struct costs *costs = costs_new(exact, which, dump, v);
	struct launch_program program = {0};
	struct launch_result result = {0};
	int status;

	if (run_find(&program, argv, &status)) {
		delayed_loading_load_all();
		launch(v, &program, event, costs, &result);
		status = result.status;
	}
	v->threads = costs_threads(costs);
	costs_free(costs);
	if (result.end == LAUNCH_DONE && result.pid) {
		v->failed |= !write_exact(v, exact, v->file);
		complete(v, &result);
	}
	if (v->failed)
		status = EXIT_TOOL;
	free(result.message);
	program_forget(&program);
	exact_free(exact);
	return status;
}

int valgrind_costs_run(struct valgrind_costs *v, char **program)
{
	char list[] = "instructions:u";
	char *lists[] = {list, NULL};
	struct event_list events = {0};
	struct link_event event;
	int status = run_parse_events(&events, tool_model(DEFAULT_MODEL), lists);

	if (status < 0) {
		event = run_count(&events.event[0]);
		status = run(v, &event, program);
	}
	events_free(&events);
	return status;
}
