/* SPDX-License-Identifier: MIT */
/*
 * bench.c: `softpmu bench`: runs a harness of benchmarks with clocks that count instructions, or
 * the static clocks of a machine's core.
 *
 * A harness measures how much time passes while its benchmark runs.  Here a nanosecond passes with
 * each occurrence of an event, so what the harness prints as nanoseconds are occurrences.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"
#include "tools/softpmu/machine/machine_options.h"
#include "tools/softpmu/run/run.h"
#include "tools/softpmu/run/run_options.h"

struct bench {
	struct run_options run;
	struct machine_options machine_options;
	struct spmu_machine machine;
	char *event; /* NULL: the default */
	bool quiet;
};

static void print_help(void)
{
	printf("Usage: softpmu bench [OPTIONS] [--] HARNESS [ARGUMENTS]\n\n"
	       "Runs a harness of benchmarks (Google Benchmark, Catch2, pytest-benchmark, Go's "
	       "testing ...)\n"
	       "unchanged, with clocks in which a nanosecond passes with each instruction.  So it "
	       "prints\n"
	       "instructions for each iteration in place of nanoseconds.\n\n"
	       "  -e, --event EVENT    an exact event in place of instructions (default: "
	       "instructions:u)\n"
	       "  -i, --no-inherit     do not follow processes that the harness starts\n"
	       "  -M, --model NAME     the processor (default: " DEFAULT_MODEL ")\n"
	       "      --static-clocks  count clocks of a core that hits all caches and predicts "
	       "all\n"
	       "                       branches, in place of instructions\n"
	       "      --machine=NAME   the core of this machine (default: the processor's)\n"
	       "      --no-cache       do not use or keep translations of the program's code\n"
	       "      --strict         fail if a program cannot be counted\n"
	       "  -q, --quiet          do not say what a nanosecond is\n"
	       "  -h, --help           print this text\n\n"
	       "The exit status is the harness's, or 125 if it cannot be run.\n");
}

static const struct option options[] = {
	{"event", required_argument, NULL, 'e'},
	{"no-inherit", no_argument, NULL, 'i'},
	{"model", required_argument, NULL, 'M'},
	{"static-clocks", no_argument, NULL, MACHINE_OPTION_STATIC_CLOCKS},
	{"machine", required_argument, NULL, MACHINE_OPTION_NAME},
	{"no-cache", no_argument, NULL, RUN_OPTION_NO_CACHE},
	{"strict", no_argument, NULL, RUN_OPTION_STRICT},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* Takes an option.  Returns -1 to go on, otherwise the status to exit with. */
static int take_option(struct bench *bench, int option, char **argv)
{
	switch (option) {
	case 'e':
		bench->event = optarg;
		return -1;
	case 'q':
		bench->quiet = true;
		return -1;
	case 'h':
		print_help();
		return output_finish("bench", 0);
	case MACHINE_OPTION_STATIC_CLOCKS:
	case MACHINE_OPTION_NAME:
		(void)machine_options_take(&bench->machine_options, option, optarg);
		return -1;
	default:
		return run_options_take(&bench->run, "bench", option, argv);
	}
}

static int parse_options(struct bench *bench, int argc, char **argv)
{
	int option, status = -1;

	opterr = 0;
	while (status < 0 && (option = getopt_long(argc, argv, "+:e:iM:qh", options, NULL)) != -1)
		status = take_option(bench, option, argv);
	if (status < 0 && optind >= argc)
		status = tool_usage_error("bench", "no harness to run");
	if (status < 0 && bench->machine_options.name && !bench->machine_options.static_clocks)
		status = tool_usage_error("bench", "--machine needs --static-clocks");
	return status;
}

/* Returns whether the engine knows at each instruction how often the event has occurred. */
static bool is_countable(const struct event *event)
{
	if (!event->row || event->trace)
		return false;
	return event->fidelity == SPMU_EXACT ||
	       (event->fidelity == SPMU_MODELLED && !(event->row->signals & ~SPMU_SIGSET_CLOCKS) &&
		event->row->signals);
}

/* Finds the event.  Returns -1 to go on, otherwise the status to exit with after a message. */
static int find_event(const struct bench *bench, const struct spmu_model *model,
		      struct event_list *events)
{
	static char instructions[] = "instructions:u", cycles[] = "cycles:u";
	char *lists[] = {bench->event, NULL};
	const struct event *event;
	int status;

	if (!bench->event)
		lists[0] = bench->machine_options.static_clocks ? cycles : instructions;
	status = run_parse_events(events, model, lists);
	if (status >= 0)
		return status;
	event = &events->event[0];
	if (events->count != 1)
		return tool_usage_error("bench", "a clock counts one event, not %zu",
					events->count);
	if (!is_countable(event))
		return tool_error("event '%s' is not exact here, so clocks cannot count it (see "
				  "softpmu list)",
				  event->name);
	return -1;
}

static int launch(const struct bench *bench, const struct spmu_model *model,
		  const struct event *event, const struct launch_program *program)
{
	struct link_event counted = run_count(event);
	struct launch_request request = {
		.model = spmu_model_describe(model).name,
		.machine = bench->machine.size ? &bench->machine : NULL,
		.clocks = run_clocks(&bench->machine_options, LAUNCH_CLOCKS_NONE),
		.threads = RUN_THREADS,
		.event = &counted,
		.events = 1,
		.want = bench->run.want | LINK_WANT_DETERMINISTIC | LINK_WANT_TIME,
	};
	struct launch_result result;

	launch_run(program, &request, &result);
	run_say_end(&result);
	free(result.message);
	if (!bench->quiet && result.end == LAUNCH_DONE)
		fprintf(stderr, "[ softpmu bench: a nanosecond is one of %s ]\n", event->name);
	return result.status;
}

int cmd_bench(int argc, char **argv)
{
	struct bench bench = {0};
	struct launch_program program = {0};
	struct event_list events = {0};
	const struct spmu_model *model = NULL;
	int status = parse_options(&bench, argc, argv);

	if (status < 0) {
		model = tool_model(bench.run.model_name);
		status = model ? run_use_machine(&bench.machine_options, "bench", model,
						 LAUNCH_CLOCKS_NONE, &bench.machine)
			       : EXIT_BAD_USAGE;
	}
	if (status < 0)
		status = find_event(&bench, model, &events);
	if (status < 0 && run_find(&program, argv + optind, &status))
		status = launch(&bench, model, &events.event[0], &program);
	events_free(&events);
	machine_options_free(&bench.machine_options);
	program_forget(&program);
	return status;
}
