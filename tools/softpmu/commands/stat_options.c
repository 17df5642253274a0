/* SPDX-License-Identifier: MIT */
/*
 * stat_options.c: the options of `softpmu stat`, and which of them cannot be combined.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/stat_options.h"
#include "tools/softpmu/counts/baseline.h"
#include "tools/softpmu/events/events_default.h"

static void print_help(void)
{
	printf("Usage: softpmu stat [OPTIONS] [--] PROGRAM [ARGUMENTS]\n\n"
	       "Runs the program and prints how often each event occurred.\n\n"
	       "  -e, --event LIST       events: instructions, branches, Intel's names, "
	       "libpfm4's,\n"
	       "                         rUUEE, cpu/event=...,umask=.../ (see softpmu list)\n"
	       "  -d, --detailed         also L1 and last-level caches; twice: also TLBs\n"
	       "  -M, --model NAME       the processor (default: " DEFAULT_MODEL ")\n"
	       "  -M, --metrics LIST     metrics such as IPC or TopdownL1 (softpmu list metrics)\n"
	       "      --topdown          the metrics of TopdownL1\n"
	       "      --machine[=NAME]   count events of caches, TLBs, branch prediction and "
	       "clocks,\n"
	       "                         too, by a model of this machine (default: the "
	       "processor's)\n"
	       "      --machine-file FILE\n"
	       "                         the same, by a machine that FILE describes\n"
	       "      --cache LEVEL=SIZE,WAYS[,LINE]\n"
	       "                         with another cache: L1I, L1D, L2 or LLC\n"
	       "      --set KEY=VALUE    with another parameter (keys: softpmu explain machine)\n"
	       "      --static-clocks    count the clocks of instructions that hit all caches: "
	       "fast\n"
	       "      --sweep KEY=FROM..TO or KEY=VALUE,VALUE...\n"
	       "                         run the program with each value, and print a table\n"
	       "      --sample-windows[=WINDOW[,WARM[,PERIOD]]]\n"
	       "                         show the machine WARM instructions and count WINDOW more, "
	       "in\n"
	       "                         each PERIOD (default: 10K,20K,2M); needs much less time\n"
	       "  -i, --no-inherit       do not count the processes that the program starts\n"
	       "      --per-thread       print the counts of each thread\n"
	       "  -r, --repeat N         run it N times, and print mean and spread\n"
	       "      --pre COMMAND      run this before the program, each time; it is not "
	       "counted\n"
	       "      --post COMMAND     run this after it\n"
	       "  -S, --sync             write the disk's caches before the program runs\n"
	       "  -I, --interval-print MS\n"
	       "                         print the counts of each MS milliseconds\n"
	       "      --interval-count N print only N intervals (with -I)\n"
	       "  -D, --delay MS         switch the events on after MS milliseconds, or during\n"
	       "                         ranges of them (10-20,30-40); -1: only by --control\n"
	       "      --timeout MS       end the program by SIGTERM after MS milliseconds\n"
	       "      --control fd:N[,N] or fifo:FILE[,FILE]\n"
	       "                         read commands (enable, disable ...) there, and write\n"
	       "                         'ack' to the second when they are done\n"
	       "  -j, --json-output      print a JSON object on each line\n"
	       "  -x, --field-separator SEP\n"
	       "                         print fields with SEP between them\n"
	       "  -o, --output FILE      print there instead of standard error (-: there)\n"
	       "      --log-fd N         print to this file descriptor\n"
	       "      --append           add to FILE instead of replacing it\n"
	       "      --deterministic    make the counts the same each time, by fixed addresses "
	       "and\n"
	       "                         random numbers; with =time also by fixed clocks\n"
	       "      --strict           fail if a program cannot be counted (32-bit ...); "
	       "otherwise it\n"
	       "                         runs natively and is named\n"
	       "      --region FUNCTION  count each call of this function as a region, too\n"
	       "      --toggle FUNCTION  count only while this function runs\n"
	       "      --no-cache         do not use or keep translations of the program's code\n"
	       "      --baseline FILE    compare with the counts of an earlier -j\n"
	       "      --threshold [+]PERCENT\n"
	       "                         how far they may differ (default: 0); with + only "
	       "upwards\n"
	       "      --write-baseline FILE\n"
	       "                         also write the counts to FILE, for --baseline\n"
	       "      --label NAME       the benchmark's name in a baseline with several\n"
	       "  -B, --big-num, -c, --scale, --no-scale, --no-merge, --all-user\n"
	       "                         have no effect; accepted because perf has them\n"
	       "  -v, --verbose          also print what the unit and the translator did\n"
	       "  -h, --help             print this text\n\n"
	       "The exit status is the program's, 125 if it cannot be counted, or 121 if the\n"
	       "program ended with 0 and a count is beyond the threshold.\n");
}

enum {
	OPTION_APPEND = RUN_OPTIONS_END,
	OPTION_BASELINE,
	OPTION_WRITE_BASELINE,
	OPTION_THRESHOLD,
	OPTION_LABEL,
	OPTION_SWEEP,
	OPTION_SAMPLE_WINDOWS,
	OPTION_PER_THREAD,
	OPTION_METRICS,
	OPTION_TOPDOWN,
	OPTION_TIMEOUT,
	OPTION_INTERVAL_COUNT,
	OPTION_PRE,
	OPTION_POST,
	OPTION_LOG_FD,
	OPTION_IGNORED,
};

static const struct option options[] = {
	{"event", required_argument, NULL, 'e'},
	{"model", required_argument, NULL, 'M'},
	{"metrics", required_argument, NULL, OPTION_METRICS},
	{"topdown", no_argument, NULL, OPTION_TOPDOWN},
	{"detailed", no_argument, NULL, 'd'},
	{"no-inherit", no_argument, NULL, 'i'},
	{"repeat", required_argument, NULL, 'r'},
	{"pre", required_argument, NULL, OPTION_PRE},
	{"post", required_argument, NULL, OPTION_POST},
	{"sync", no_argument, NULL, 'S'},
	{"log-fd", required_argument, NULL, OPTION_LOG_FD},
	{"all-user", no_argument, NULL, OPTION_IGNORED},
	{"big-num", no_argument, NULL, OPTION_IGNORED},
	{"no-merge", no_argument, NULL, OPTION_IGNORED},
	{"no-scale", no_argument, NULL, OPTION_IGNORED},
	{"scale", no_argument, NULL, OPTION_IGNORED},
	{"delay", required_argument, NULL, 'D'},
	{"timeout", required_argument, NULL, OPTION_TIMEOUT},
	{"interval-print", required_argument, NULL, 'I'},
	{"interval-count", required_argument, NULL, OPTION_INTERVAL_COUNT},
	{"control", required_argument, NULL, RUN_OPTION_CONTROL},
	{"region", required_argument, NULL, RUN_OPTION_REGION},
	{"toggle", required_argument, NULL, RUN_OPTION_TOGGLE},
	{"json-output", no_argument, NULL, 'j'},
	{"field-separator", required_argument, NULL, 'x'},
	{"output", required_argument, NULL, 'o'},
	{"append", no_argument, NULL, OPTION_APPEND},
	{"baseline", required_argument, NULL, OPTION_BASELINE},
	{"write-baseline", required_argument, NULL, OPTION_WRITE_BASELINE},
	{"threshold", required_argument, NULL, OPTION_THRESHOLD},
	{"label", required_argument, NULL, OPTION_LABEL},
	MACHINE_OPTIONS,
	{"sweep", required_argument, NULL, OPTION_SWEEP},
	{"sample-windows", optional_argument, NULL, OPTION_SAMPLE_WINDOWS},
	{"per-thread", no_argument, NULL, OPTION_PER_THREAD},
	{"verbose", no_argument, NULL, 'v'},
	{"deterministic", optional_argument, NULL, RUN_OPTION_DETERMINISTIC},
	{"no-cache", no_argument, NULL, RUN_OPTION_NO_CACHE},
	{"strict", no_argument, NULL, RUN_OPTION_STRICT},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* --- options --------------------------------------------------------------------------- */

/* Takes the names of metrics. */
static int take_metrics(struct stat_options *stat, const char *names)
{
	char *error = NULL;
	int status;

	if (metrics_want(&stat->metrics, names, &error))
		return -1;
	status = tool_usage_error("stat", "%s", error);
	free(error);
	return status;
}

static int take_log_fd(struct stat_options *stat, const char *text)
{
	uint64_t number;

	if (!tool_number(text, &number) || number > INT32_MAX)
		return tool_usage_error("stat", "--log-fd needs a file descriptor, not '%s'", text);
	stat->output.fd = (int)number;
	return -1;
}

static int take_option(struct stat_options *stat, int option, char **argv, char ***lists)
{
	switch (option) {
	case 'd':
		stat->detailed++;
		return -1;
	case 'M':
		if (metrics_knows(optarg))
			return take_metrics(stat, optarg);
		break;
	case OPTION_METRICS:
		return take_metrics(stat, optarg);
	case OPTION_TOPDOWN:
		return take_metrics(stat, "TopdownL1");
	case 'e':
		*(*lists)++ = optarg;
		return -1;
	case 'r':
		if (tool_number(optarg, &stat->runs) && stat->runs)
			return -1;
		return tool_usage_error("stat", "-r needs a number of runs, not '%s'", optarg);
	case 'j':
		stat->output.json = true;
		return -1;
	case 'x':
		stat->output.separator = strcmp(optarg, "\\t") ? optarg : "\t";
		return -1;
	case 'o':
		/* As perf's, "-" is standard error. */
		stat->output.path = strcmp(optarg, "-") ? optarg : NULL;
		return -1;
	case OPTION_APPEND:
		stat->output.append = true;
		return -1;
	case OPTION_PRE:
		stat->pre = optarg;
		return -1;
	case OPTION_POST:
		stat->post = optarg;
		return -1;
	case 'S':
		stat->sync = true;
		return -1;
	case OPTION_LOG_FD:
		return take_log_fd(stat, optarg);
	case 'B':
	case 'c':
	case OPTION_IGNORED:
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
	case OPTION_SWEEP:
		stat->sweep_text = optarg;
		return -1;
	case OPTION_SAMPLE_WINDOWS:
		return stat_windows_take(optarg, &stat->windows);
	case OPTION_TIMEOUT:
		return control_timeout(&stat->run.control, "stat", optarg);
	case 'I':
		return control_interval(&stat->run.control, "stat", optarg);
	case OPTION_INTERVAL_COUNT:
		if (tool_number(optarg, &stat->intervals.limit) && stat->intervals.limit)
			return -1;
		return tool_usage_error("stat", "--interval-count needs a number, not '%s'",
					optarg);
	case OPTION_PER_THREAD:
		stat->per_thread = true;
		stat->run.want |= LINK_WANT_PER_THREAD;
		return -1;
	case 'h':
		print_help();
		return output_finish("stat", 0);
	default:
		break;
	}
	if (machine_options_take(&stat->machine_options, option, optarg))
		return -1;
	return run_options_take(&stat->run, "stat", option, argv);
}

/* Makes the machines that are asked for.  Returns -1, or the status to exit with. */
static int make_machines(struct stat_options *stat, const struct spmu_model *model)
{
	char *message = NULL;
	int status;

	/* What -d and metrics need is counted by a machine. */
	if ((stat->detailed || stat->metrics.wanted) &&
	    !machine_options_given(&stat->machine_options))
		(void)machine_options_take(&stat->machine_options, MACHINE_OPTION_NAME, NULL);
	if (!stat->sweep_text && !machine_options_given(&stat->machine_options))
		return -1;
	status = machine_options_make(&stat->machine_options, "stat",
				      spmu_model_describe(model).name, &stat->machine);
	if (status < 0 && stat->sweep_text)
		message = sweep_make(&stat->sweep, &stat->machine, stat->sweep_text);
	if (message) {
		status = tool_usage_error("stat", "--sweep: %s", message);
		free(message);
	}
	if (status < 0)
		launch_use_machine(&stat->machine,
				   run_clocks(&stat->machine_options, LAUNCH_CLOCKS_TIMELINE));
	return status;
}

static bool shows_intervals(const struct stat_options *stat)
{
	return stat->run.control.launch.interval_ms;
}

static int parse_events(struct stat_options *stat, struct stat_table *table, char **lists)
{
	struct event_list *events = &table->events;
	int status = -1;

	if (*lists) {
		events->kernel = true;
		status = run_parse_events(events, table->model, lists);
	} else if (stat->metrics.wanted) {
		table->system = false;
	} else if (stat->machine.size && !stat->per_thread && !stat->sweep_text) {
		table->system = !shows_intervals(stat);
		events_default_perfs(events, table->model,
				     machine_options_model(&stat->machine_options));
	} else {
		events_default_exact(events, table->model);
	}
	if (stat->detailed)
		events_default_detailed(events, table->model, stat->detailed);
	metrics_add_events(&stat->metrics, table->model, events);
	table->metrics = &stat->metrics;
	return status;
}

/* Refuses what needs the counts of whole runs, with -I. */
static int check_intervals(const struct stat_options *stat)
{
	if (stat->intervals.limit && !shows_intervals(stat))
		return tool_usage_error("stat", "--interval-count needs -I");
	if (!shows_intervals(stat))
		return -1;
	if (stat->runs > 1 || stat->per_thread || stat->sweep_text || stat->windows.count)
		return tool_usage_error("stat", "-I cannot be combined with -r, --per-thread, "
						"--sweep or --sample-windows");
	if (stat->baseline || stat->write_baseline)
		return tool_usage_error("stat", "-I and a baseline cannot be combined");
	return -1;
}

/* Refuses options that cannot be combined, and options that need another one. */
static int check_options(const struct stat_options *stat, struct stat_table *table)
{
	if (stat->output.json && stat->output.separator)
		return tool_usage_error("stat", "-j and -x cannot be combined");
	if (stat->per_thread && stat->runs > 1)
		return tool_usage_error("stat", "--per-thread and -r cannot be combined");
	if (stat->per_thread && (stat->baseline || stat->write_baseline))
		return tool_usage_error("stat", "--per-thread and a baseline cannot be combined");
	if (stat->sweep_text && (stat->output.json || stat->per_thread || stat->runs > 1))
		return tool_usage_error("stat", "--sweep cannot be combined with -j, -r or "
						"--per-thread");
	if (stat->sweep_text && (stat->baseline || stat->write_baseline))
		return tool_usage_error("stat", "--sweep and a baseline cannot be combined");
	if (stat->metrics.wanted && (stat->sweep_text || stat->per_thread))
		return tool_usage_error("stat", "metrics cannot be combined with --sweep or "
						"--per-thread");
	if (stat->windows.count && (stat->sweep_text || stat->per_thread || stat->runs > 1))
		return tool_usage_error("stat", "--sample-windows cannot be combined with --sweep, "
						"-r or --per-thread");
	if (stat->windows.count && !machine_options_given(&stat->machine_options))
		return tool_usage_error("stat", "--sample-windows needs --machine");
	if (stat->output.fd >= 0 && stat->output.path)
		return tool_usage_error("stat", "-o and --log-fd cannot be combined");
	if (stat->output.append && !stat->output.path)
		return tool_usage_error("stat", "--append needs -o");
	if (stat->threshold && !stat->baseline)
		return tool_usage_error("stat", "--threshold needs --baseline");
	if (stat->label && !stat->baseline && !stat->write_baseline && !stat->output.json)
		return tool_usage_error("stat", "--label needs --baseline, --write-baseline or -j");
	if (stat->threshold && !baseline_threshold_parse(stat->threshold, &table->threshold))
		return tool_usage_error("stat", "--threshold needs a number of percent, not '%s'",
					stat->threshold);
	return -1;
}

/* Refuses the kernel's events where only the unit's counts make sense. */
static int check_kernel(const struct stat_options *stat, const struct event_list *events)
{
	size_t i = 0;

	while (i < events->count && !events->event[i].kernel)
		i++;
	if (i == events->count)
		return -1;
	if (stat->baseline || stat->write_baseline)
		return tool_usage_error("stat",
					"%s differs from run to run; a baseline needs the "
					"processor's events",
					events->event[i].name);
	if (stat->sweep_text || stat->per_thread || shows_intervals(stat))
		return tool_usage_error("stat",
					"%s cannot be combined with --sweep, --per-thread or -I",
					events->event[i].name);
	return -1;
}

int stat_options_parse(struct stat_options *stat, struct stat_table *table, int argc, char **argv)
{
	char **lists = tool_alloc(((size_t)argc + 1) * sizeof(*lists)), **next = lists;
	int option, status = -1;

	opterr = 0;
	while (status < 0 &&
	       (option = getopt_long(argc, argv, "+:e:dM:ir:D:I:jx:o:BcSvh", options, NULL)) != -1)
		status = take_option(stat, option, argv, &next);
	if (status < 0)
		status = check_options(stat, table);
	if (status < 0)
		status = check_intervals(stat);
	if (status < 0)
		status = run_options_check(&stat->run, "stat");
	if (status < 0 && optind >= argc)
		status = tool_usage_error("stat", "no program to run");
	if (status < 0) {
		table->model = tool_model(stat->run.model_name);
		status = table->model ? make_machines(stat, table->model) : EXIT_BAD_USAGE;
	}
	if (status < 0)
		status = parse_events(stat, table, lists);
	if (status < 0)
		status = check_kernel(stat, &table->events);
	if (status < 0)
		status = run_load_threshold(&table->events, &stat->load_threshold);
	if (status < 0)
		status = run_frontend(&table->events, &stat->frontend);
	if (status < 0 && table->events.count > LINK_EVENTS_MAX)
		status = tool_error("too many events: at most %d", LINK_EVENTS_MAX);
	free(lists);
	return status;
}
