/* SPDX-License-Identifier: MIT */
/*
 * trace.c: `softpmu trace`: every taken branch of a whole run, from the branch trace store (Vol. 3B
 * 17.4.5, 17.4.9), as a tree of calls, as sums or as a plain list.
 *
 * The program waits when the tool is behind, so no branch is lost.  A BTS record has no time;
 * what lines carry is when the buffer that holds the branch was handed over.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/commands.h"
#include "tools/softpmu/output.h"
#include "tools/softpmu/run.h"
#include "tools/softpmu/trace.h"

#define OUTPUT_BUFFER (1u << 20)

/* --- options
 * ----------------------------------------------------------------------------------------- */

static void print_help(void)
{
	printf("Usage: softpmu trace [OPTIONS] [--] PROGRAM [ARGUMENTS]\n\n"
	       "Runs the program and shows all calls that it made, from the branch trace store.\n"
	       "Nothing is lost: the program waits for its reader.\n\n"
	       "  -F, --function NAME  only calls of that function and what they call; the name\n"
	       "                       is a shell pattern, the option can be repeated\n"
	       "      --depth N        levels of calls that are shown (default: all)\n"
	       "      --list           every taken branch, from where to where\n"
	       "      --summary        calls and taken branches of each function\n"
	       "      --caller         who called each function, and how often\n"
	       "      --deterministic  the same run each time: fixed addresses and random numbers\n"
	       "      --no-cache       neither use nor keep translations of the program's code\n"
	       "  -o, --output FILE    instead of standard error\n"
	       "  -M, --model NAME     the processor (default: " DEFAULT_MODEL ")\n"
	       "  -v, --verbose        say what the reader did\n"
	       "  -h, --help           this text\n\n"
	       "The exit status is the program's; 125 when it cannot be traced.\n");
}

enum {
	OPTION_DEPTH = 256,
	OPTION_LIST,
	OPTION_SUMMARY,
	OPTION_CALLER,
	OPTION_DETERMINISTIC,
	OPTION_NO_CACHE
};

static const struct option options[] = {
	{"function", required_argument, NULL, 'F'},
	{"depth", required_argument, NULL, OPTION_DEPTH},
	{"list", no_argument, NULL, OPTION_LIST},
	{"summary", no_argument, NULL, OPTION_SUMMARY},
	{"caller", no_argument, NULL, OPTION_CALLER},
	{"output", required_argument, NULL, 'o'},
	{"model", required_argument, NULL, 'M'},
	{"verbose", no_argument, NULL, 'v'},
	{"deterministic", no_argument, NULL, OPTION_DETERMINISTIC},
	{"no-cache", no_argument, NULL, OPTION_NO_CACHE},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int choose_mode(struct trace *trace, enum trace_mode mode)
{
	if (trace->mode != TRACE_TREE && trace->mode != mode)
		return tool_usage_error("trace", "--list and a summary exclude each other");
	trace->mode = mode;
	return -1;
}

/* One option; -1 to go on, otherwise the status to end with. */
static int take_option(struct trace *trace, int option, char **argv)
{
	switch (option) {
	case 'F':
		trace->wanted[trace->wanted_count++] = optarg;
		return -1;
	case OPTION_DEPTH:
		if (!tool_number(optarg, &trace->depth) || !trace->depth ||
		    trace->depth > UINT32_MAX)
			return tool_usage_error("trace", "'%s' is no depth", optarg);
		return -1;
	case OPTION_LIST:
		return choose_mode(trace, TRACE_LIST);
	case OPTION_CALLER:
		trace->by_caller = true;
		return choose_mode(trace, TRACE_SUMMARY);
	case OPTION_SUMMARY:
		return choose_mode(trace, TRACE_SUMMARY);
	case 'o':
		trace->output = optarg;
		return -1;
	case 'M':
		trace->model_name = optarg;
		return -1;
	case 'v':
		trace->verbose = true;
		return -1;
	case OPTION_DETERMINISTIC:
		trace->fixed = true;
		return -1;
	case OPTION_NO_CACHE:
		trace->cold = true;
		return -1;
	case 'h':
		print_help();
		return output_finish("trace", 0);
	default:
		return tool_bad_option("trace", option, argv);
	}
}

static int parse_options(struct trace *trace, int argc, char **argv)
{
	int option, status = -1;

	opterr = 0;
	while (status < 0 && (option = getopt_long(argc, argv, "+:F:o:M:vh", options, NULL)) != -1)
		status = take_option(trace, option, argv);
	if (status < 0 && optind >= argc)
		status = tool_usage_error("trace", "no program to run");
	if (status < 0 && trace->depth && trace->mode != TRACE_TREE)
		status = tool_usage_error("trace", "--depth is for the tree of calls");
	return status;
}

/* --- all together
 * -------------------------------------------------------------------------------------- */

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

/* What was written must be there; the program's status otherwise. */
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

static void run(struct trace *trace, const struct spmu_model *model,
		const struct launch_program *program, struct launch_result *result)
{
	struct launch_request request = {
		.model = spmu_model_info(model).name,
		.threads = RUN_THREADS,
		.want = LINK_WANT_BTS | (trace->fixed ? LINK_WANT_FIXED : 0) |
			(trace->cold ? LINK_WANT_COLD : 0),
		.sink = trace_take,
		.opaque = trace,
	};

	trace->code = code_new();
	if (trace->mode == TRACE_TREE)
		fputs("#    time/ms  calls; the time is when the buffer with the call was full\n",
		      trace->to);
	launch_run(program, &request, result);
	trace_end(trace);
	if (trace->mode == TRACE_SUMMARY && trace->branches)
		trace_print_sums(trace);
}

static void say_speed(const struct trace *trace)
{
	if (trace->verbose && trace->branches)
		fprintf(stderr,
			"[ softpmu trace: %" PRIu64
			" branches, %zu different at the end, %.2f ns each ]\n",
			trace->branches, trace->different,
			(double)trace->busy_ns / (double)trace->branches);
}

int cmd_trace(int argc, char **argv)
{
	struct trace trace = {.wanted = tool_alloc((size_t)argc * sizeof(char *)),
			      .found = tool_alloc((size_t)argc * sizeof(bool))};
	struct launch_program program = {0};
	struct launch_result result = {0};
	const struct spmu_model *model = NULL;
	int status = parse_options(&trace, argc, argv);

	if (status < 0) {
		model = tool_model(trace.model_name);
		status = model ? -1 : EXIT_BAD_USAGE;
	}
	if (status >= 0 || !run_find(&program, argv + optind, &status))
		goto out;
	tool_load_libraries();
	if (!open_output(&trace)) {
		status = EXIT_TOOL;
		goto out;
	}
	run(&trace, model, &program, &result);
	status = close_output(&trace, result.status);
	if (trace.branches)
		trace_say_not_found(&trace);
	say_speed(&trace);
	run_say_end(&result);
out:
	code_free(trace.code);
	free(result.message);
	launch_forget(&program);
	free(trace.pairs);
	free(trace.is_wanted);
	free(trace.wanted);
	free(trace.found);
	return status;
}
