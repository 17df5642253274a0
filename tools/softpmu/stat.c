/* SPDX-License-Identifier: MIT */
/*
 * stat.c: count events while a program runs.
 *
 * Output has perf stat's columns and field orders, with the fidelity of each
 * count added.  An event that nothing supplies is shown as not supported, never as 0.  user
 * and sys are the time of the program and of what observes it together.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "baseline.h"
#include "commands.h"
#include "output.h"
#include "run.h"

/* What is counted without -e, as far as the model knows the names. */
static const char *const default_events[] = {
	"instructions",
	"branches",
	"br_inst_retired.conditional",
	"br_inst_retired.near_call",
	"mem_inst_retired.all_loads",
	"mem_inst_retired.all_stores",
	"br_taken_retired",
	"retired_branch_type.conditional",
	"retired_branch_type.call",
	"memory_loads",
	"memory_stores",
	"data_read",
	"data_write",
	"cycles",
	"branch-misses",
};

struct stat_options {
	const char *model_name, *output, *separator;
	const char *baseline, *write_baseline, *threshold, *label;
	bool json, append, verbose, one_process;
	uint32_t fixed; /* --deterministic: LINK_WANT_ */
	bool cold;	/* --no-cache */
	bool strict;	/* --strict */
	uint64_t runs;
};

static void print_help(void)
{
	printf("Usage: softpmu stat [OPTIONS] [--] PROGRAM [ARGUMENTS]\n\n"
	       "Runs the program and prints how often each event occurred.\n\n"
	       "  -e, --event LIST       events: instructions, branches, Intel's names, "
	       "libpfm4's,\n"
	       "                         rUUEE, cpu/event=...,umask=.../ (see softpmu list)\n"
	       "  -M, --model NAME       the processor (default: " DEFAULT_MODEL ")\n"
	       "  -i, --no-inherit       not the processes that the program starts\n"
	       "  -r, --repeat N         run it N times: mean and spread\n"
	       "  -j, --json-output      a JSON object a line\n"
	       "  -x, --field-separator SEP\n"
	       "                         fields with SEP between them\n"
	       "  -o, --output FILE      print there instead of standard error\n"
	       "      --append           do not empty FILE first\n"
	       "      --deterministic    the same counts each time: fixed addresses and random "
	       "numbers;\n"
	       "                         with =time clocks, too\n"
	       "      --strict           a program that cannot be counted (32-bit ...) is an "
	       "error; "
	       "else it\n"
	       "                         runs natively and is named\n"
	       "      --no-cache         neither use nor keep translations of the program's code\n"
	       "      --baseline FILE    compare with the counts of an earlier -j\n"
	       "      --threshold [+]PERCENT\n"
	       "                         how far they may be apart (default: 0); with + only "
	       "upwards\n"
	       "      --write-baseline FILE\n"
	       "                         write the counts for --baseline, besides the output\n"
	       "      --label NAME       the benchmark's name in a baseline that holds several\n"
	       "  -v, --verbose          say what the unit and the translator did\n"
	       "  -h, --help             this text\n\n"
	       "The exit status is the program's; 125 when it cannot be counted; 121 when the\n"
	       "program ended with 0 and a count is beyond the threshold.\n");
}

enum {
	OPTION_APPEND = 256,
	OPTION_BASELINE,
	OPTION_WRITE_BASELINE,
	OPTION_THRESHOLD,
	OPTION_LABEL,
	OPTION_DETERMINISTIC,
	OPTION_NO_CACHE,
	OPTION_STRICT
};

static const struct option options[] = {
	{"event", required_argument, NULL, 'e'},
	{"model", required_argument, NULL, 'M'},
	{"no-inherit", no_argument, NULL, 'i'},
	{"repeat", required_argument, NULL, 'r'},
	{"json-output", no_argument, NULL, 'j'},
	{"field-separator", required_argument, NULL, 'x'},
	{"output", required_argument, NULL, 'o'},
	{"append", no_argument, NULL, OPTION_APPEND},
	{"baseline", required_argument, NULL, OPTION_BASELINE},
	{"write-baseline", required_argument, NULL, OPTION_WRITE_BASELINE},
	{"threshold", required_argument, NULL, OPTION_THRESHOLD},
	{"label", required_argument, NULL, OPTION_LABEL},
	{"verbose", no_argument, NULL, 'v'},
	{"deterministic", optional_argument, NULL, OPTION_DETERMINISTIC},
	{"no-cache", no_argument, NULL, OPTION_NO_CACHE},
	{"strict", no_argument, NULL, OPTION_STRICT},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* --- options --------------------------------------------------------------------------- */

static int take_option(struct stat_options *stat, int option, char **argv, char ***lists)
{
	switch (option) {
	case 'e':
		*(*lists)++ = optarg;
		return -1;
	case 'M':
		stat->model_name = optarg;
		return -1;
	case 'i':
		stat->one_process = true;
		return -1;
	case 'r':
		if (tool_number(optarg, &stat->runs) && stat->runs)
			return -1;
		return tool_usage_error("stat", "'%s' is no number of runs", optarg);
	case 'j':
		stat->json = true;
		return -1;
	case 'x':
		stat->separator = strcmp(optarg, "\\t") ? optarg : "\t";
		return -1;
	case 'o':
		stat->output = optarg;
		return -1;
	case OPTION_APPEND:
		stat->append = true;
		return -1;
	case OPTION_BASELINE:
		stat->baseline = optarg;
		return -1;
	case OPTION_WRITE_BASELINE:
		stat->write_baseline = optarg;
		return -1;
	case OPTION_THRESHOLD:
		stat->threshold = optarg;
		return -1;
	case OPTION_LABEL:
		stat->label = optarg;
		return -1;
	case 'v':
		stat->verbose = true;
		return -1;
	case OPTION_DETERMINISTIC:
		if (!run_fixed(optarg, &stat->fixed))
			return tool_usage_error("stat", "--deterministic does not fix '%s'",
						optarg);
		return -1;
	case OPTION_STRICT:
		stat->strict = true;
		return -1;
	case OPTION_NO_CACHE:
		stat->cold = true;
		return -1;
	case 'h':
		print_help();
		return output_finish("stat", 0);
	default:
		return tool_bad_option("stat", option, argv);
	}
}

static int parse_events(const struct spmu_model *model, char **lists, struct event_list *events)
{
	char *error;

	for (char **list = lists; *list; list++) {
		if (!events_parse(events, model, *list, &error)) {
			tool_error("%s", error);
			free(error);
			return EXIT_BAD_USAGE;
		}
	}
	if (*lists)
		return -1;
	for (size_t i = 0; i < sizeof(default_events) / sizeof(default_events[0]); i++) {
		if (!events_parse(events, model, default_events[i], &error))
			free(error);
	}
	return -1;
}

/* Options that make no sense together, or alone. */
static int check_options(const struct stat_options *stat, struct stat_table *table)
{
	if (stat->json && stat->separator)
		return tool_usage_error("stat", "-j and -x exclude each other");
	if (stat->append && !stat->output)
		return tool_usage_error("stat", "--append needs -o");
	if (stat->threshold && !stat->baseline)
		return tool_usage_error("stat", "--threshold needs --baseline");
	if (stat->label && !stat->baseline && !stat->write_baseline && !stat->json)
		return tool_usage_error("stat", "--label needs --baseline, --write-baseline or -j");
	if (stat->threshold && !threshold_parse(stat->threshold, &table->threshold))
		return tool_usage_error("stat", "'%s' is no threshold in percent", stat->threshold);
	return -1;
}

static int parse_options(struct stat_options *stat, struct stat_table *table, int argc, char **argv)
{
	char **lists = tool_alloc(((size_t)argc + 1) * sizeof(*lists)), **next = lists;
	int option, status = -1;

	opterr = 0;
	while (status < 0 &&
	       (option = getopt_long(argc, argv, "+:e:M:ir:jx:o:vh", options, NULL)) != -1)
		status = take_option(stat, option, argv, &next);
	if (status < 0)
		status = check_options(stat, table);
	if (status < 0 && optind >= argc)
		status = tool_usage_error("stat", "no program to run");
	if (status < 0) {
		table->model = tool_model(stat->model_name);
		status = table->model ? parse_events(table->model, lists, &table->events)
				      : EXIT_BAD_USAGE;
	}
	if (status < 0 && table->events.count > LINK_EVENTS_MAX)
		status = tool_error("too many events: at most %d", LINK_EVENTS_MAX);
	free(lists);
	return status;
}

/* --- the output file --------------------------------------------------------------------- */

/* Open it before the program runs, so that a mistake costs no run; it is emptied when there is
 * something to print. */
static FILE *open_output(const struct stat_options *stat, bool *created)
{
	FILE *file;

	*created = false;
	if (!stat->output)
		return stderr;
	*created = access(stat->output, F_OK) != 0;
	file = fopen(stat->output, "ae");
	if (!file)
		tool_error("cannot write %s: %s", stat->output, strerror(errno));
	return file;
}

static bool close_output(const struct stat_options *stat, FILE *file)
{
	bool bad;

	bad = fflush(file) || ferror(file);
	/* Where a message could go the counts could not. */
	if (file == stderr)
		return !bad;
	if (fclose(file) || bad) {
		tool_error("writing %s: %s", stat->output, strerror(errno));
		return false;
	}
	return true;
}

static int print(const struct stat_options *stat, const struct stat_table *table, FILE *file)
{
	struct stat status;

	if (file != stderr && !stat->append && !fstat(fileno(file), &status) &&
	    S_ISREG(status.st_mode) && ftruncate(fileno(file), 0))
		tool_error("cannot empty %s: %s", stat->output, strerror(errno));
	if (stat->json)
		stat_print_json(table, file);
	else if (stat->separator)
		stat_print_fields(table, stat->separator, file);
	else
		stat_print_text(table, stat->output, file);
	return 0;
}

/* --- counting ------------------------------------------------------------------------------ */

/* Run once and add its counts to the table; false when there are none to print. */
static bool run_once(const struct stat_options *stat, struct stat_table *table,
		     const struct launch_program *program, struct launch_result *result)
{
	struct link_event events[LINK_EVENTS_MAX];
	struct launch_request request = {
		.model = spmu_model_info(table->model).name,
		.threads = RUN_THREADS,
		.event = events,
		.want = (stat->one_process ? LINK_WANT_ONE : 0) | stat->fixed |
			(stat->cold ? LINK_WANT_COLD : 0) | (stat->strict ? LINK_WANT_STRICT : 0),
	};

	for (size_t i = 0; i < table->events.count; i++) {
		if (table->events.event[i].fidelity != SPMU_ABSENT)
			events[request.events++] = run_count(&table->events.event[i]);
	}
	launch_run(program, &request, result);
	run_say_end(result);
	if (result->end != LAUNCH_DONE && result->end != LAUNCH_LOST)
		return false;
	stat_table_add(table, result);
	return true;
}

static void say_details(const struct launch_result *result, FILE *file)
{
	fprintf(file,
		"units: %llu, interrupts: %llu, blocks: %llu, bytes of code: %llu, kept blocks: "
		"%llu\n",
		(unsigned long long)result->units, (unsigned long long)result->interrupts,
		(unsigned long long)result->blocks, (unsigned long long)result->cache_bytes,
		(unsigned long long)result->kept_blocks);
}

static int run_all(const struct stat_options *stat, struct stat_table *table,
		   const struct launch_program *program, FILE *file)
{
	int status = 0;
	bool good = true;

	for (uint64_t run = 0; run < stat->runs && good; run++) {
		struct launch_result result;

		good = run_once(stat, table, program, &result);
		/* A run that failed is not hidden by the next. */
		if (!good || !status)
			status = result.status;
		/* Asked to end, or without counts: more runs would not help. */
		if (good && (result.end == LAUNCH_LOST || result.asked))
			run = stat->runs - 1;
		if (good && stat->verbose)
			say_details(&result, file);
		free(result.message);
	}
	if (good)
		print(stat, table, file);
	if (good && !status && stat_table_changed(table))
		status = EXIT_CHANGED;
	return status;
}

int cmd_stat(int argc, char **argv)
{
	struct stat_options stat = {.runs = 1};
	struct stat_table table = {0};
	struct launch_program program = {0};
	FILE *file = NULL;
	bool created = false;
	int status = parse_options(&stat, &table, argc, argv);

	if (status >= 0)
		goto out;
	stat_table_start(&table);
	table.command = run_command_text(argv + optind);
	table.label = stat.label;
	if ((stat.baseline && !baseline_read(&table, stat.baseline)) ||
	    (stat.write_baseline && !baseline_can_write(&table, stat.write_baseline))) {
		status = EXIT_TOOL;
		goto out;
	}
	if (!run_find(&program, argv + optind, &status))
		goto out;
	file = open_output(&stat, &created);
	if (!file) {
		status = EXIT_TOOL;
		goto out;
	}
	status = run_all(&stat, &table, &program, file);
	if (!close_output(&stat, file) && !status)
		status = EXIT_TOOL;
	if (stat.write_baseline && table.runs && (!status || status == EXIT_CHANGED) &&
	    !baseline_write(&table, stat.write_baseline))
		status = EXIT_TOOL;
	/* Nothing was counted: nothing is left behind. */
	if (created && !table.runs)
		unlink(stat.output);
out:
	stat_table_free(&table);
	launch_forget(&program);
	return status;
}
