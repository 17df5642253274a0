/* SPDX-License-Identifier: MIT */
/*
 * profile.c: `softpmu profile`: the exact cost of each instruction, function and call of a run.
 *
 * The engine logs the control flow, and flow/ adds it up while the program runs.  What a model of
 * the machine counts does not follow from that, so the engine adds it up itself.  The unit counts
 * the same events, so it is known whether the profile is complete.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/softpmu/base/delayed_loading.h"
#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"
#include "tools/softpmu/commands/profile_gate.h"
#include "tools/softpmu/counts/baseline.h"
#include "tools/softpmu/events/catalog.h"
#include "tools/softpmu/events/event_names.h"
#include "tools/softpmu/exact/exact.h"
#include "tools/softpmu/flow/costs.h"
#include "tools/softpmu/flow/flow.h"
#include "tools/softpmu/flow/identify.h"
#include "tools/softpmu/run/profile_front.h"
#include "tools/softpmu/run/run.h"
#include "tools/softpmu/run/run_options.h"

#define DEFAULT_OUTPUT "profile.data"

struct request {
	struct run_options run;
	const char *output;
	char **lists; /* of events, as -e gives them */
	size_t list_count;
	bool quiet;
	const struct spmu_model *model;
	struct event_list events;
	uint64_t signals[EXACT_EVENTS_MAX];
	struct machine_options machine_options;
	struct spmu_machine machine;
	uint64_t load_threshold, frontend; /* as in struct launch_request */
	bool modelled;			   /* an event needs the machine */
	const char *threshold;		   /* as --threshold gives it */
	struct profile_gate gate;
	struct profile_front *front; /* another command for which it runs; NULL: none */
};

static void print_help(void)
{
	printf("Usage: softpmu profile [OPTIONS] [--] PROGRAM [ARGUMENTS]\n\n"
	       "Runs the program and writes what each instruction and each call cost: exact "
	       "counts, "
	       "no\nsamples.  softpmu report, annotate, diff and export read the file.\n\n"
	       "  -e, --event EVENTS   what to count (default: instructions, branches, loads, "
	       "stores)\n"
	       "  -o, --output FILE    the file (default " DEFAULT_OUTPUT ")\n"
	       "  -i, --no-inherit     do not follow processes that the program starts\n"
	       "      --deterministic[=time]  make the run the same each time, by fixed addresses "
	       "and "
	       "random\n"
	       "                       numbers\n"
	       "      --no-cache       do not use or keep translations of the program's code\n"
	       "      --strict         end the run if a program that it starts cannot be observed\n"
	       "      --toggle FUNCTION\n"
	       "                       profile only while a function of this name runs\n"
	       "      --baseline FILE  compare with the profile in FILE; show the functions that "
	       "changed\n"
	       "      --threshold [+]PERCENT\n"
	       "                       how far counts may differ (default: 0); with + only "
	       "upwards\n"
	       "      --machine[=NAME]\n"
	       "                       also profile events of caches, TLBs, branch prediction "
	       "and\n"
	       "                       clocks, by a model of this machine (default: the "
	       "processor's)\n"
	       "      --machine-file FILE\n"
	       "                       the same, by a machine that FILE describes\n"
	       "      --cache LEVEL=SIZE,WAYS[,LINE]\n"
	       "                       with another cache: L1I, L1D, L2 or LLC\n"
	       "      --set KEY=VALUE  with another parameter (keys: softpmu explain machine)\n"
	       "  -M, --model NAME     the processor (default: " DEFAULT_MODEL ")\n"
	       "  -q, --quiet          do not say what was written\n"
	       "  -v, --verbose        also print how long it took to read a branch\n"
	       "  -h, --help           print this text\n\n"
	       "The exit status is the program's, or 125 if it cannot be profiled.  With "
	       "--baseline "
	       "it is\n%d if the program ended with 0 and a count is beyond the threshold.\n",
	       EXIT_CHANGED);
}

enum { OPTION_BASELINE = RUN_OPTIONS_END, OPTION_THRESHOLD };

static const struct option options[] = {
	{"event", required_argument, NULL, 'e'},
	{"output", required_argument, NULL, 'o'},
	{"no-inherit", no_argument, NULL, 'i'},
	{"model", required_argument, NULL, 'M'},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},
	{"deterministic", optional_argument, NULL, RUN_OPTION_DETERMINISTIC},
	{"no-cache", no_argument, NULL, RUN_OPTION_NO_CACHE},
	{"strict", no_argument, NULL, RUN_OPTION_STRICT},
	{"toggle", required_argument, NULL, RUN_OPTION_TOGGLE},
	{"baseline", required_argument, NULL, OPTION_BASELINE},
	{"threshold", required_argument, NULL, OPTION_THRESHOLD},
	MACHINE_OPTIONS,
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* Takes an option.  Returns -1 to go on, otherwise the status to exit with. */
static int take_option(struct request *request, int option, char **argv)
{
	switch (option) {
	case 'e':
		request->lists[request->list_count++] = optarg;
		return -1;
	case 'o':
		request->output = optarg;
		return -1;
	case 'q':
		request->quiet = true;
		return -1;
	case OPTION_BASELINE:
		request->gate.baseline = optarg;
		return -1;
	case OPTION_THRESHOLD:
		request->threshold = optarg;
		return -1;
	case 'h':
		print_help();
		return output_finish("profile", 0);
	default:
		if (machine_options_take(&request->machine_options, option, optarg))
			return -1;
		return run_options_take(&request->run, "profile", option, argv);
	}
}

static int parse_options(struct request *request, int argc, char **argv)
{
	int option, status = -1;

	opterr = 0;
	while (status < 0 &&
	       (option = getopt_long(argc, argv, "+:e:o:iM:qvh", options, NULL)) != -1)
		status = take_option(request, option, argv);
	if (status < 0 && request->threshold && !request->gate.baseline)
		status = tool_usage_error("profile", "--threshold needs --baseline");
	if (status < 0 && request->threshold &&
	    !baseline_threshold_parse(request->threshold, &request->gate.threshold))
		status = tool_usage_error("profile",
					  "--threshold needs a number of percent, not '%s'",
					  request->threshold);
	if (status < 0 && request->machine_options.static_clocks)
		status = tool_usage_error("profile", "--static-clocks is for stat and record; "
						     "--machine profiles clocks");
	if (status < 0 && optind >= argc)
		status = tool_usage_error("profile", "no program to run");
	return status;
}

/* --- events ----------------------------------------------------------------------------------- */

/* Returns the model's event that counts these signals and nothing else, or NULL. */
static const char *event_of(const struct spmu_model *model, uint64_t signals)
{
	for (size_t i = 0; i < spmu_event_count(model); i++) {
		const struct spmu_event *event = spmu_event_at(model, i);

		if (event->signals == signals && !event->tally)
			return event->name;
	}
	return NULL;
}

/* Adds the event to a list, to free(), unless it cannot be profiled. */
static char *add_default(const struct request *request, char *list, const char *name)
{
	enum spmu_fidelity least = request->machine.size ? SPMU_MODELLED : SPMU_EXACT;
	const char *reason;
	char *longer;

	if (!name || catalog_fidelity(request->model, name, &reason) < least)
		return list;
	longer = tool_print("%s%s%s:u", list, *list ? "," : "", name);
	free(list);
	return longer;
}

static int add_defaults(struct request *request)
{
	static const char *const of_machine[] = {"cycles", "branch-misses", "L1-dcache-load-misses",
						 "cache-misses"};
	char *list = tool_copy(""), *lists[] = {NULL, NULL};
	int status;

	list = add_default(request, list, "instructions");
	list = add_default(request, list, "branches");
	list = add_default(request, list, event_of(request->model, SPMU_SIGBIT(LOADS)));
	list = add_default(request, list, event_of(request->model, SPMU_SIGBIT(STORES)));
	for (char *at = list; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	for (size_t i = 0; i < sizeof(of_machine) / sizeof(of_machine[0]); i++)
		list = add_default(request, list, of_machine[i]);
	lists[0] = list;
	status = run_parse_events(&request->events, request->model, lists);
	free(list);
	return status;
}

/* Returns whether a row counts mispredicted branches that the unit picks out one by one. */
static bool is_judged(const struct request *request, const struct spmu_event *row)
{
	return row->signals & SPMU_SIGBIT(BRANCH_MISS) && row->signals & SPMU_SIGSET_BRANCHES &&
	       spmu_model_describe(request->model).programming == SPMU_PROGRAM_ESCR;
}

/* Returns whether it is known what instructions cost of an event.  A threshold is a question for
 * each clock. */
static bool can_profile(const struct request *request, const struct event *event)
{
	const struct spmu_event *row = event->row;

	if (event->trace || !row)
		return false;
	if (row->tally)
		return request->machine.size;
	return !(event->select & SELECT_CONDITION) && !is_judged(request, row) &&
	       (event->fidelity == SPMU_EXACT || request->machine.size);
}

static int check_event(struct request *request, size_t e)
{
	const struct event *event = &request->events.event[e];

	if (event->fidelity == SPMU_ABSENT)
		return tool_error("event '%s' is absent: %s (see softpmu list)", event->name,
				  event->absent_reason);
	if (!can_profile(request, event))
		return tool_error("event '%s' does not follow from the instructions that ran; "
				  "softpmu stat counts it and softpmu record samples it",
				  event->name);
	request->modelled |= event->row->tally || event->fidelity != SPMU_EXACT;
	request->signals[e] = event->row->signals;
	return -1;
}

static int find_events(struct request *request)
{
	int status = run_use_machine(&request->machine_options, "profile", request->model,
				     LAUNCH_CLOCKS_TIMELINE, &request->machine);

	if (status < 0)
		status = request->list_count ? run_parse_events(&request->events, request->model,
								request->lists)
					     : add_defaults(request);
	if (status < 0 && request->events.count > EXACT_EVENTS_MAX)
		status = tool_error("too many events: at most %d", EXACT_EVENTS_MAX);
	for (size_t e = 0; status < 0 && e < request->events.count; e++)
		status = check_event(request, e);
	if (status < 0)
		status = run_load_threshold(&request->events, &request->load_threshold);
	if (status < 0)
		status = run_frontend(&request->events, &request->frontend);
	return status;
}

/* --- the run ---------------------------------------------------------------------------------- */

/* What takes the records of the engine: one of them. */
struct sink {
	struct flow *flow;
	struct costs *costs; /* if an event needs the machine */
};

static void run(struct request *request, const struct sink *sink,
		const struct launch_program *program, struct launch_result *result)
{
	struct link_event events[EXACT_EVENTS_MAX];
	struct launch_request launch = {
		.model = spmu_model_describe(request->model).name,
		.threads = RUN_THREADS,
		.event = events,
		.events = request->events.count,
		.want = LINK_WANT_FLOW | request->run.want,
		.prepare = flow_prepare,
		.sink = flow_take,
		.opaque = sink->flow,
	};

	if (request->modelled) {
		launch.want = LINK_WANT_COSTS | LINK_WANT_EVENT_COSTS | request->run.want;
		launch.machine = &request->machine;
		launch.clocks = LAUNCH_CLOCKS_TIMELINE;
		launch.load_threshold = request->load_threshold;
		launch.frontend = request->frontend;
		launch.prepare = costs_prepare;
		launch.sink = costs_take;
		launch.opaque = sink->costs;
	}
	for (size_t e = 0; e < request->events.count; e++)
		events[e] = run_count(&request->events.event[e]);
	function_regions_request(&request->run.functions, &launch);
	if (request->front) {
		launch.want |= LINK_WANT_VALGRIND;
		launch.begins_stopped = request->front->begins_stopped;
		launch.events_off |= request->front->events_off;
	}
	launch_run(program, &launch, result);
	if (sink->flow)
		flow_end(sink->flow);
}

static struct exact *begin_exact(const struct request *request, char **argv)
{
	struct exact *exact = exact_new();

	exact->command = run_command_text(argv);
	exact->model = tool_copy(spmu_model_describe(request->model).name);
	exact->event_count = request->events.count;
	for (size_t e = 0; e < exact->event_count; e++)
		exact->events[e].name = tool_copy(request->events.event[e].name);
	return exact;
}

static void complete_exact(struct exact *exact, const struct launch_result *result)
{
	for (size_t e = 0; e < exact->event_count; e++)
		exact->events[e].counted = result->count[e];
	identify_objects(exact);
}

/* Says whether the profile has less, or more, than the unit counted. */
static void compare(const struct exact *exact, const struct flow *flow)
{
	bool lost = flow && flow_sums(flow).lost;

	for (size_t e = 0; e < exact->event_count; e++) {
		uint64_t sum = exact_sum(exact, e), counted = exact->events[e].counted;

		if (sum == counted)
			continue;
		tool_error("the profile has %" PRIu64 " %s, but %" PRIu64 " were counted%s", sum,
			   exact->events[e].name, counted,
			   lost ? "; some code could not be read" : "");
		return;
	}
}

static void say_written(const struct request *request, const struct exact *exact)
{
	struct stat file;

	if (request->quiet)
		return;
	fprintf(stderr, "[ softpmu profile: wrote %.3f MB %s (",
		stat(request->output, &file) ? 0.0 : (double)file.st_size / 1e6, request->output);
	for (size_t e = 0; e < exact->event_count; e++)
		fprintf(stderr, "%s%" PRIu64 " %s", e ? ", " : "", exact_sum(exact, e),
			exact->events[e].name);
	fputs(") ]\n", stderr);
}

static void say_speed(const struct flow *flow)
{
	struct flow_sums sums = flow_sums(flow);

	if (sums.branches)
		fprintf(stderr, "[ softpmu profile: %" PRIu64 " branches, %.2f ns each ]\n",
			sums.branches, (double)sums.busy_ns / (double)sums.branches);
}

/* Writes the file.  Returns the status to exit with. */
static int write_profile(const struct request *request, struct exact *exact,
			 const struct launch_result *result)
{
	if (!exact_file_write(exact, request->output))
		return tool_error("cannot write %s: %s", request->output, strerror(errno));
	say_written(request, exact);
	if (result->status || result->end != LAUNCH_DONE || !request->gate.baseline)
		return result->status;
	return profile_gate_compare(&request->gate, exact, request->output, request->quiet);
}

/* Runs the program and writes the file.  Returns the status to exit with. */
static int profile(struct request *request, const struct launch_program *program,
		   struct exact *exact)
{
	struct sink sink = {.flow = request->modelled ? NULL : flow_new(exact, request->signals),
			    .costs = request->modelled ? costs_new(exact, NULL, NULL, NULL) : NULL};
	struct launch_result result = {0};
	int status;

	run(request, &sink, program, &result);
	status = result.status;
	run_say_end(&result);
	if (result.end == LAUNCH_DONE)
		function_regions_say(&request->run.functions);
	if (result.end == LAUNCH_DONE || result.end == LAUNCH_LOST) {
		complete_exact(exact, &result);
		if (result.end == LAUNCH_DONE)
			compare(exact, sink.flow);
		status = write_profile(request, exact, &result);
		if (request->run.verbose && sink.flow)
			say_speed(sink.flow);
	}
	if (request->front) {
		request->front->pid = result.pid;
		request->front->refused = result.refused;
		request->front->sum = exact_sum(exact, 0);
		request->front->done = result.end == LAUNCH_DONE;
	}
	free(result.message);
	if (sink.flow)
		flow_free(sink.flow);
	else
		costs_free(sink.costs);
	return status;
}

int cmd_profile(int argc, char **argv)
{
	struct request request = {.output = DEFAULT_OUTPUT,
				  .front = profile_front_of_run(),
				  .lists = tool_alloc((size_t)(argc + 1) * sizeof(char *))};
	struct launch_program program = {0};
	struct exact *exact = NULL;
	int status = parse_options(&request, argc, argv);

	if (status < 0) {
		request.model = tool_model(request.run.model_name);
		status = request.model ? find_events(&request) : EXIT_BAD_USAGE;
	}
	if (status >= 0 || !run_find(&program, argv + optind, &status))
		goto out;
	delayed_loading_load_all();
	exact = begin_exact(&request, argv + optind);
	status = profile_gate_open(&request.gate, exact, request.output)
			 ? profile(&request, &program, exact)
			 : EXIT_TOOL;
out:
	profile_gate_close(&request.gate);
	exact_free(exact);
	function_regions_free(&request.run.functions);
	machine_options_free(&request.machine_options);
	events_free(&request.events);
	program_forget(&program);
	free(request.lists);
	return status;
}
