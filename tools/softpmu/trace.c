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
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/softpmu/calls.h"
#include "tools/softpmu/commands.h"
#include "tools/softpmu/edges.h"
#include "tools/softpmu/run.h"

#define OUTPUT_BUFFER (1u << 20)

/* A BTS record of 64-bit mode. */
struct bts {
	uint64_t from, to, misc;
};

enum mode { MODE_TREE, MODE_LIST, MODE_SUMMARY };

struct trace {
	enum mode mode;
	const char *model_name, *output;
	const char **wanted; /* -F: patterns of function names */
	size_t wanted_count;
	uint64_t depth;
	bool by_caller, verbose, fixed;

	FILE *to;
	struct code *code;
	struct edges edges;
	struct calls *calls;
	uint8_t *is_wanted; /* by function: 0 not known yet, 1 no, 2 yes */
	uint32_t is_wanted_room;
	struct pair { /* calls of one function by another; free: no calls */
		uint64_t calls;
		uint32_t source, target;
	} * pairs;
	size_t pair_count, pair_room;
	uint64_t branches, all_calls, start_ns, end_ns;
	uint64_t busy_ns; /* spent on records */
};

/* --- functions that were asked for -------------------------------------------------------- */

static bool matches(const struct trace *trace, const struct code_function *function)
{
	for (size_t i = 0; function->name && i < trace->wanted_count; i++) {
		if (!fnmatch(trace->wanted[i], function->name, 0))
			return true;
	}
	return !trace->wanted_count;
}

static bool is_wanted(void *opaque, uint32_t function)
{
	struct trace *trace = opaque;
	uint8_t *known;

	if (function >= trace->is_wanted_room) {
		uint32_t room = 2 * function + 256;

		trace->is_wanted = tool_grow(trace->is_wanted, room);
		memset(trace->is_wanted + trace->is_wanted_room, 0, room - trace->is_wanted_room);
		trace->is_wanted_room = room;
	}
	known = &trace->is_wanted[function];
	if (!*known)
		*known = matches(trace, code_function(trace->code, function)) ? 2 : 1;
	return *known == 2;
}

/* --- sums ------------------------------------------------------------------------------------ */

static struct pair *find_pair(struct pair *pairs, size_t room, uint32_t source, uint32_t target)
{
	uint64_t key = (uint64_t)source << 32 | target;
	size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (room - 1);

	while (pairs[i].calls && (pairs[i].source != source || pairs[i].target != target))
		i = (i + 1) & (room - 1);
	return &pairs[i];
}

static void grow_pairs(struct trace *trace)
{
	size_t room = trace->pair_room ? 2 * trace->pair_room : 1024;
	struct pair *grown = tool_alloc(room * sizeof(*grown));

	for (size_t i = 0; i < trace->pair_room; i++) {
		const struct pair *pair = &trace->pairs[i];

		if (pair->calls)
			*find_pair(grown, room, pair->source, pair->target) = *pair;
	}
	free(trace->pairs);
	trace->pairs = grown;
	trace->pair_room = room;
}

static void add_pair(struct trace *trace, const struct edge *edge)
{
	struct pair *pair;

	if (2 * trace->pair_count >= trace->pair_room)
		grow_pairs(trace);
	pair = find_pair(trace->pairs, trace->pair_room, edge->source, edge->target);
	if (!pair->calls) {
		pair->source = edge->source;
		pair->target = edge->target;
		trace->pair_count++;
	}
	pair->calls += edge->count;
}

static void fold(void *opaque, const struct edge *edge)
{
	struct trace *trace = opaque;

	code_function(trace->code, edge->source)->branches += edge->count;
	if (edge->kind != EDGE_CALL && edge->kind != EDGE_TAIL)
		return;
	code_function(trace->code, edge->target)->calls += edge->count;
	trace->all_calls += edge->count;
	if (trace->by_caller)
		add_pair(trace, edge);
}

/* --- one stretch of records: O(1) for each -----------------------------------------------------
 */

static void count_records(struct trace *trace, const struct bts *records, size_t count)
{
	for (size_t i = 0; i < count; i++)
		edges_find(&trace->edges, records[i].from, records[i].to)->count++;
}

static void list_records(struct trace *trace, const struct bts *records, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct edge *edge = edges_find(&trace->edges, records[i].from, records[i].to);

		edge->count++;
		if (!trace->wanted_count || is_wanted(trace, edge->source) ||
		    is_wanted(trace, edge->target))
			fputs_unlocked(edges_text(&trace->edges, edge), trace->to);
	}
}

static void follow_records(struct trace *trace, const struct bts *records, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct edge *edge = edges_find(&trace->edges, records[i].from, records[i].to);

		edge->count++;
		if (edge->kind != EDGE_INSIDE)
			calls_take(trace->calls, edge);
	}
}

/* Our own processor time: what else runs on the machine does not matter. */
static uint64_t busy_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void take_trace(struct trace *trace, const struct link_trace *link, uint64_t time_ns,
		       const struct bts *records)
{
	uint64_t begin = busy_now_ns();

	trace->branches += link->count;
	trace->end_ns = time_ns;
	switch (trace->mode) {
	case MODE_TREE:
		calls_time(trace->calls, time_ns - trace->start_ns);
		follow_records(trace, records, link->count);
		break;
	case MODE_LIST:
		list_records(trace, records, link->count);
		break;
	case MODE_SUMMARY:
		count_records(trace, records, link->count);
		break;
	}
	trace->busy_ns += busy_now_ns() - begin;
}

static void take_record(void *opaque, const struct link_record *link, uint64_t time_ns,
			const void *records)
{
	struct trace *trace = opaque;

	if (!link)
		return;
	if (!trace->start_ns)
		trace->start_ns = time_ns;
	if (link->type == LINK_REC_TRACE)
		take_trace(trace, (const struct link_trace *)link, time_ns, records);
	/* What was found out of code that is gone must not be said of what is there now. */
	if (link->type == LINK_REC_MMAP && code_map(trace->code, (const struct link_mmap *)link))
		edges_fold(&trace->edges);
}

/* --- the summary ---------------------------------------------------------------------------------
 */

static const char *short_object(const char *object)
{
	const char *slash = strrchr(object, '/');

	return slash && slash[1] ? slash + 1 : object;
}

static const char *name_of(const struct code_function *function)
{
	return function->name ? function->name : "[unknown]";
}

static struct code *sorted_code; /* for qsort(): there is one at a time */

static int by_calls(const void *one, const void *other)
{
	const struct code_function *a = code_function(sorted_code, *(const uint32_t *)one);
	const struct code_function *b = code_function(sorted_code, *(const uint32_t *)other);
	int order;

	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	if (a->branches != b->branches)
		return a->branches > b->branches ? -1 : 1;
	order = strcmp(name_of(a), name_of(b));
	return order ? order : strcmp(a->object, b->object);
}

static int by_pair_calls(const void *one, const void *other)
{
	const struct pair *a = one, *b = other;
	int order;

	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	order = strcmp(name_of(code_function(sorted_code, a->target)),
		       name_of(code_function(sorted_code, b->target)));
	return order ? order
		     : strcmp(name_of(code_function(sorted_code, a->source)),
			      name_of(code_function(sorted_code, b->source)));
}

static void print_pairs(struct trace *trace)
{
	size_t kept = 0;

	for (size_t i = 0; i < trace->pair_room; i++) {
		if (trace->pairs[i].calls && is_wanted(trace, trace->pairs[i].target))
			trace->pairs[kept++] = trace->pairs[i];
	}
	if (kept)
		qsort(trace->pairs, kept, sizeof(*trace->pairs), by_pair_calls);
	fprintf(trace->to, "#%15s  %s\n", "Calls", "Caller -> Function");
	for (size_t i = 0; i < kept; i++) {
		const struct pair *pair = &trace->pairs[i];

		fprintf(trace->to, "%16" PRIu64 "  %s -> %s\n", pair->calls,
			name_of(code_function(trace->code, pair->source)),
			name_of(code_function(trace->code, pair->target)));
	}
}

static void print_functions(struct trace *trace)
{
	uint32_t count = code_functions(trace->code), kept = 0;
	uint32_t *order = tool_alloc(count * sizeof(*order));

	for (uint32_t i = 0; i < count; i++) {
		const struct code_function *function = code_function(trace->code, i);

		if ((function->calls || function->branches) && is_wanted(trace, i))
			order[kept++] = i;
	}
	if (kept)
		qsort(order, kept, sizeof(*order), by_calls);
	fprintf(trace->to, "#%15s %16s  %s\n", "Calls", "Branches", "Function");
	for (uint32_t i = 0; i < kept; i++) {
		const struct code_function *function = code_function(trace->code, order[i]);

		fprintf(trace->to, "%16" PRIu64 " %16" PRIu64 "  %s (%s)\n", function->calls,
			function->branches, name_of(function), short_object(function->object));
	}
	free(order);
}

static void print_summary(struct trace *trace)
{
	edges_fold(&trace->edges);
	sorted_code = trace->code;
	fprintf(trace->to,
		"# %" PRIu64 " taken branches, %" PRIu64 " calls, %.3f ms\n#\n"
		"# Calls: of the function, jumps to its beginning from others included.\n"
		"# Branches: taken in the function.\n#\n",
		trace->branches, trace->all_calls, (double)(trace->end_ns - trace->start_ns) / 1e6);
	if (trace->by_caller)
		print_pairs(trace);
	else
		print_functions(trace);
}

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
	       "  -o, --output FILE    instead of standard error\n"
	       "  -M, --model NAME     the processor (default: " DEFAULT_MODEL ")\n"
	       "  -v, --verbose        say what the reader did\n"
	       "  -h, --help           this text\n\n"
	       "The exit status is the program's; 125 when it cannot be traced.\n");
}

enum { OPTION_DEPTH = 256, OPTION_LIST, OPTION_SUMMARY, OPTION_CALLER, OPTION_DETERMINISTIC };

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
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int choose_mode(struct trace *trace, enum mode mode)
{
	if (trace->mode != MODE_TREE && trace->mode != mode)
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
		return choose_mode(trace, MODE_LIST);
	case OPTION_CALLER:
		trace->by_caller = true;
		return choose_mode(trace, MODE_SUMMARY);
	case OPTION_SUMMARY:
		return choose_mode(trace, MODE_SUMMARY);
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
	case 'h':
		print_help();
		return 0;
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
	if (status < 0 && trace->depth && trace->mode != MODE_TREE)
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
		.want = LINK_WANT_BTS | (trace->fixed ? LINK_WANT_FIXED : 0),
		.sink = take_record,
		.opaque = trace,
	};

	trace->code = code_new();
	trace->edges = (struct edges){.code = trace->code,
				      .with_texts = trace->mode == MODE_LIST,
				      .fold = fold,
				      .opaque = trace};
	edges_begin(&trace->edges);
	if (trace->mode == MODE_TREE) {
		fputs("#    time/ms  calls; the time is when the buffer with the call was full\n",
		      trace->to);
		trace->calls = calls_new(trace->to, trace->code, (unsigned)trace->depth,
					 trace->wanted_count ? is_wanted : NULL, trace);
	}
	launch_run(program, &request, result);
	calls_free(trace->calls);
	if (trace->mode == MODE_SUMMARY && trace->branches)
		print_summary(trace);
}

static void say_speed(const struct trace *trace)
{
	if (trace->verbose && trace->branches)
		fprintf(stderr,
			"[ softpmu trace: %" PRIu64
			" branches, %zu different now, %.2f ns each ]\n",
			trace->branches, trace->edges.used,
			(double)trace->busy_ns / (double)trace->branches);
}

int cmd_trace(int argc, char **argv)
{
	struct trace trace = {.wanted = tool_alloc((size_t)argc * sizeof(char *))};
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
	if (!open_output(&trace)) {
		status = EXIT_TOOL;
		goto out;
	}
	run(&trace, model, &program, &result);
	status = close_output(&trace, result.status);
	say_speed(&trace);
	run_say_end(&result);
	edges_end(&trace.edges);
out:
	code_free(trace.code);
	free(result.message);
	launch_forget(&program);
	free(trace.pairs);
	free(trace.is_wanted);
	free(trace.wanted);
	return status;
}
