/* SPDX-License-Identifier: MIT */
/*
 * trace.c: `softpmu trace`: every taken branch of a whole run, from the branch trace store (Vol. 3B
 * 17.4.5, 17.4.9), as a tree of calls, as a summary or as a list.
 *
 * The program waits until the tool has read its branches, so none is lost.  A BTS record has no
 * time: a line shows when the buffer with the branch was handed over.
 *
 * A summary does not need the order of the branches.  So there is no trace: the engine counts most
 * branches where they are executed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/delayed_loading.h"
#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"
#include "tools/softpmu/run/run.h"
#include "tools/softpmu/run/run_options.h"
#include "tools/softpmu/symbols/demangle.h"
#include "tools/softpmu/trace/trace.h"

#define OUTPUT_BUFFER (1u << 20)

/* --- options ----------------------------------------------------------------------------- */

static void print_help(void)
{
	printf("Usage: softpmu trace [OPTIONS] [--] PROGRAM [ARGUMENTS]\n\n"
	       "Runs the program and shows all calls that it makes, from the branch trace store.\n"
	       "The program waits until its branches have been read, so nothing is lost.\n\n"
	       "  -F, --function NAME  show only calls of that function and what they call; NAME "
	       "is\n"
	       "                       a shell pattern, and the option can be repeated\n"
	       "      --depth N        show N levels of calls (default: all)\n"
	       "      --list           show each taken branch, from where to where\n"
	       "      --summary        show the number of calls and taken branches of each "
	       "function\n"
	       "      --caller         show which function called which, and how often\n"
	       "      --deterministic  make the run the same each time, by fixed addresses and "
	       "random\n"
	       "                       numbers\n"
	       "      --no-cache       do not use or keep translations of the program's code\n"
	       "      --no-demangle    show names as the compiler wrote them\n"
	       "  -o, --output FILE    print there instead of standard error\n"
	       "  -M, --model NAME     the processor (default: " DEFAULT_MODEL ")\n"
	       "  -v, --verbose        also print how long it took to read a branch\n"
	       "  -h, --help           print this text\n\n"
	       "The exit status is the program's, or 125 if it cannot be traced.\n");
}

enum {
	OPTION_DEPTH = RUN_OPTIONS_END,
	OPTION_LIST,
	OPTION_SUMMARY,
	OPTION_CALLER,
	OPTION_NO_DEMANGLE,
};

static const struct option options[] = {
	{"function", required_argument, NULL, 'F'},
	{"depth", required_argument, NULL, OPTION_DEPTH},
	{"list", no_argument, NULL, OPTION_LIST},
	{"summary", no_argument, NULL, OPTION_SUMMARY},
	{"caller", no_argument, NULL, OPTION_CALLER},
	{"no-demangle", no_argument, NULL, OPTION_NO_DEMANGLE},
	{"output", required_argument, NULL, 'o'},
	{"model", required_argument, NULL, 'M'},
	{"verbose", no_argument, NULL, 'v'},
	{"deterministic", no_argument, NULL, RUN_OPTION_DETERMINISTIC},
	{"no-cache", no_argument, NULL, RUN_OPTION_NO_CACHE},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int choose_mode(struct trace *trace, enum trace_mode mode)
{
	if (trace->mode != TRACE_TREE && trace->mode != mode)
		return tool_usage_error("trace",
					"--list cannot be combined with --summary or --caller");
	trace->mode = mode;
	return -1;
}

/* Takes an option.  Returns -1 to go on, otherwise the status to exit with. */
static int take_option(struct trace *trace, struct run_options *how, int option, char **argv)
{
	switch (option) {
	case 'F':
		trace->wanted[trace->wanted_count++] = optarg;
		return -1;
	case OPTION_DEPTH:
		if (!tool_number(optarg, &trace->depth) || !trace->depth ||
		    trace->depth > UINT32_MAX)
			return tool_usage_error(
				"trace", "--depth needs a number of levels, not '%s'", optarg);
		return -1;
	case OPTION_LIST:
		return choose_mode(trace, TRACE_LIST);
	case OPTION_CALLER:
		trace->by_caller = true;
		return choose_mode(trace, TRACE_SUMMARY);
	case OPTION_SUMMARY:
		return choose_mode(trace, TRACE_SUMMARY);
	case OPTION_NO_DEMANGLE:
		demangle_switch_off();
		return -1;
	case 'o':
		trace->output = optarg;
		return -1;
	case 'h':
		print_help();
		return output_finish("trace", 0);
	default:
		return run_options_take(how, "trace", option, argv);
	}
}

static int parse_options(struct trace *trace, struct run_options *how, int argc, char **argv)
{
	int option, status = -1;

	opterr = 0;
	while (status < 0 && (option = getopt_long(argc, argv, "+:F:o:M:vh", options, NULL)) != -1)
		status = take_option(trace, how, option, argv);
	if (status < 0 && optind >= argc)
		status = tool_usage_error("trace", "no program to run");
	if (status < 0 && trace->depth && trace->mode != TRACE_TREE)
		status = tool_usage_error("trace", "--depth applies to the tree of calls only");
	return status;
}

/* --- the run ----------------------------------------------------------------------------- */

static bool open_output(struct trace *trace)
{
	trace->to = trace->output ? fopen(trace->output, "we") : stderr;
	if (!trace->to) {
		tool_error("cannot write %s: %s", trace->output, strerror(errno));
		return false;
	}
	setvbuf(trace->to, NULL, _IOFBF, OUTPUT_BUFFER);
	return true;
}

/* Returns the program's status, or EXIT_TOOL after a message if output is missing. */
static int close_output(struct trace *trace, int status)
{
	bool bad;

	errno = 0;
	bad = fflush(trace->to) || ferror(trace->to);
	if (trace->output)
		bad |= fclose(trace->to) != 0;
	if (!bad)
		return status;
	tool_error("cannot write %s: %s", trace->output ? trace->output : "standard error",
		   strerror(errno ? errno : EIO));
	return EXIT_TOOL;
}

/* Returns whether the order of the branches does not matter. */
static bool needs_counts(const struct trace *trace)
{
	return trace->mode == TRACE_SUMMARY && !trace->by_caller;
}

/* Returns -1 if the model can trace what is wanted, otherwise the status to exit with. */
static int check_model(const struct trace *trace, const struct spmu_model *model)
{
	if (!model)
		return EXIT_BAD_USAGE;
	if (needs_counts(trace) || run_stores_traces(model))
		return -1;
	tool_error("%s has no branch trace store; --summary does without it",
		   spmu_model_describe(model).name);
	return EXIT_TOOL;
}

/* Asks for counts instead of a trace.  An event is counted too, because code that charges nothing
 * never returns to the engine.  Whenever it does, the engine can tell what it has counted, so not
 * all is lost if the program is killed. */
static void ask_for_counts(const struct spmu_model *model, struct launch_request *request,
			   struct link_event *event)
{
	struct event_list events = {0};
	char *error = NULL;

	if (events_parse(&events, model, "instructions:u", &error)) {
		*event = run_count(&events.event[0]);
		request->event = event;
		request->events = 1;
	}
	events_free(&events);
	free(error);
	request->want |= LINK_WANT_FLOW | LINK_WANT_SUMS;
	request->prepare = trace_records_prepare;
}

static void run(struct trace *trace, const struct spmu_model *model, uint32_t want,
		const struct launch_program *program, struct launch_result *result)
{
	struct link_event event;
	struct launch_request request = {
		.model = spmu_model_describe(model).name,
		.threads = RUN_THREADS,
		.want = want,
		.sink = trace_records_take,
		.opaque = trace,
	};

	if (needs_counts(trace))
		ask_for_counts(model, &request, &event);
	else
		request.want |= LINK_WANT_BTS;
	trace->code = code_new();
	if (trace->mode == TRACE_TREE)
		fputs("#    time/ms  calls; the time is when the buffer with the call was full\n",
		      trace->to);
	launch_run(program, &request, result);
	trace_records_end(trace);
	if (trace->mode == TRACE_SUMMARY && trace->branches)
		trace_sums_print(trace);
}

static void say_speed(const struct trace *trace)
{
	fprintf(stderr,
		"[ softpmu trace: %" PRIu64 " branches, %zu different at the end, %.2f ns each ]\n",
		trace->branches, trace->different,
		(double)trace->busy_ns / (double)trace->branches);
}

int cmd_trace(int argc, char **argv)
{
	struct trace trace = {.wanted = tool_alloc((size_t)argc * sizeof(char *)),
			      .found = tool_alloc((size_t)argc * sizeof(bool))};
	struct run_options how = {0};
	struct launch_program program = {0};
	struct launch_result result = {0};
	const struct spmu_model *model = NULL;
	int status = parse_options(&trace, &how, argc, argv);

	if (status < 0) {
		model = tool_model(how.model_name);
		status = check_model(&trace, model);
	}
	if (status >= 0 || !run_find(&program, argv + optind, &status))
		goto out;
	delayed_loading_load_all();
	if (!open_output(&trace)) {
		status = EXIT_TOOL;
		goto out;
	}
	run(&trace, model, how.want, &program, &result);
	status = close_output(&trace, result.status);
	if (trace.branches)
		trace_sums_say_not_found(&trace);
	if (how.verbose && trace.branches)
		say_speed(&trace);
	run_say_end(&result);
out:
	code_free(trace.code);
	free(result.message);
	program_forget(&program);
	free(trace.pairs);
	numbering_free(&trace.pair_numbers);
	free(trace.is_wanted);
	free(trace.wanted);
	free(trace.found);
	return status;
}
