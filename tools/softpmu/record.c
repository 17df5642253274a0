/* SPDX-License-Identifier: MIT */
/*
 * record.c: sample events of a program into perf.data.
 *
 * The engine's driver drains PEBS records (or takes the interrupted context where an event is not
 * to be precise) and hands them over through the ring; this file gives them perf's form.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <softpmu/ds.h>

#include "commands.h"
#include "output.h"
#include "record.h"

#define DEFAULT_EVENT	  "instructions:upp"
#define WITHOUT_PEBS	  "instructions:u"
#define DEFAULT_FREQUENCY 4000

/* By perf's number; a PEBS record has no segment registers. */
static const char *const register_names[PERFDATA_REGS] = {
	"AX", "BX", "CX", "DX", "SI", "DI", "BP",  "SP",  "IP",	 "FLAGS", NULL,	 NULL,
	NULL, NULL, NULL, NULL, "R8", "R9", "R10", "R11", "R12", "R13",	  "R14", "R15",
};

/* --- options ---------------------------------------------------------------------- */

static void print_help(void)
{
	printf("Usage: softpmu record [OPTIONS] [--] PROGRAM [ARGUMENTS]\n\n"
	       "Runs the program and samples events into perf.data, for softpmu report and\n"
	       "annotate and for perf.\n\n"
	       "  -e, --event LIST    events, perf's syntax; p, pp or ppp samples with PEBS\n"
	       "                      (default: " DEFAULT_EVENT
	       ", without pp where the family cannot);\n"
	       "                      intel_bts// traces every taken branch\n"
	       "  -c, --count N       occurrences between samples (K, M, G: powers of 1000)\n"
	       "  -F, --freq N        samples a second, about (default: %d)\n"
	       "  -b, --branch-any    record the last branches before each sample\n"
	       "  -j, --branch-filter LIST\n"
	       "                      the same of those kinds: %s\n"
	       "      --call-graph lbr\n"
	       "                      record chains of callers, from the last branch records\n"
	       "  -d, --data          record data addresses\n"
	       "  -I, --intr-regs[=R] record registers, all or a list such as ax,r8 ('?' names "
	       "them)\n"
	       "  -i, --no-inherit    not the processes that the program starts\n"
	       "      --after EVENT   -c counts this event, and each time a cascade of counters\n"
	       "                      starts those of -e, of which the next is sampled (NetBurst)\n"
	       "      --deterministic the same run each time: fixed addresses and random numbers;\n"
	       "                      with =time clocks, too\n"
	       "      --strict        a program that cannot be recorded (32-bit ...) is an error;\n"
	       "                      else it runs natively and is named\n"
	       "      --no-cache      neither use nor keep translations of the program's code\n"
	       "  -o, --output FILE   instead of perf.data; an older one becomes FILE.old\n"
	       "  -M, --model NAME    the processor (default: " DEFAULT_MODEL ")\n"
	       "  -q, --quiet         say nothing but errors\n"
	       "  -v, --verbose       say what the unit and the translator did\n"
	       "  -h, --help          this text\n\n"
	       "The exit status is the program's; 125 when it cannot be recorded.\n",
	       DEFAULT_FREQUENCY, branches_names);
}

static bool parse_registers(struct record *record, const char *list)
{
	char *copy = tool_copy(list), *at = copy, *word;
	bool good = true;

	record->regs_mask = 0;
	while (good && (word = strsep(&at, ","))) {
		good = false;
		for (unsigned i = 0; i < PERFDATA_REGS; i++) {
			if (register_names[i] && !strcasecmp(register_names[i], word)) {
				record->regs_mask |= UINT64_C(1) << i;
				good = true;
			}
		}
		if (!good)
			tool_usage_error("record", "unknown register '%s'", word);
	}
	free(copy);
	return good;
}

static void all_registers(struct record *record)
{
	for (unsigned i = 0; i < PERFDATA_REGS; i++) {
		if (register_names[i])
			record->regs_mask |= UINT64_C(1) << i;
	}
}

static int list_registers(void)
{
	const char *space = "";

	for (unsigned i = 0; i < PERFDATA_REGS; i++) {
		if (register_names[i]) {
			printf("%s%s", space, register_names[i]);
			space = " ";
		}
	}
	putchar('\n');
	return 0;
}

static bool parse_rate(const char *what, const char *text, uint64_t *value)
{
	if (!tool_number(text, value)) {
		tool_usage_error("record", "'%s' is no %s", text, what);
		return false;
	}
	if (!*value) {
		tool_usage_error("record", "a %s of 0 takes no sample", what);
		return false;
	}
	return true;
}

enum {
	OPTION_CALL_GRAPH = 256,
	OPTION_DETERMINISTIC,
	OPTION_NO_CACHE,
	OPTION_AFTER,
	OPTION_STRICT
};

static const struct option options[] = {
	{"event", required_argument, NULL, 'e'},
	{"count", required_argument, NULL, 'c'},
	{"freq", required_argument, NULL, 'F'},
	{"data", no_argument, NULL, 'd'},
	{"intr-regs", optional_argument, NULL, 'I'},
	{"no-inherit", no_argument, NULL, 'i'},
	{"output", required_argument, NULL, 'o'},
	{"model", required_argument, NULL, 'M'},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},
	{"deterministic", optional_argument, NULL, OPTION_DETERMINISTIC},
	{"no-cache", no_argument, NULL, OPTION_NO_CACHE},
	{"strict", no_argument, NULL, OPTION_STRICT},
	{"after", required_argument, NULL, OPTION_AFTER},
	{"help", no_argument, NULL, 'h'},
	{"branch-any", no_argument, NULL, 'b'},
	{"branch-filter", required_argument, NULL, 'j'},
	{"call-graph", required_argument, NULL, OPTION_CALL_GRAPH},
	{NULL, 0, NULL, 0},
};

static int add_branches(struct record *record, const char *list)
{
	char *error;
	int status = -1;

	if (!branches_parse(&record->branches, list, &error))
		status = tool_usage_error("record", "%s", error);
	free(error);
	return status;
}

/* One option; -1 to go on, otherwise the status to end with.  Events wait for the model. */
static int take_option(struct record *record, int option, char **argv, char ***lists)
{
	switch (option) {
	case 'e':
		*(*lists)++ = optarg;
		return -1;
	case 'c':
		return parse_rate("period", optarg, &record->period) ? -1 : EXIT_BAD_USAGE;
	case 'F':
		return parse_rate("frequency", optarg, &record->frequency) ? -1 : EXIT_BAD_USAGE;
	case 'd':
		record->addresses = true;
		return -1;
	case 'I':
		if (optarg && !strcmp(optarg, "?"))
			return list_registers();
		if (!optarg)
			all_registers(record);
		return !optarg || parse_registers(record, optarg) ? -1 : EXIT_BAD_USAGE;
	case 'o':
		record->output = optarg;
		return -1;
	case 'i':
		record->one_process = true;
		return -1;
	case 'M':
		record->model_name = optarg;
		return -1;
	case 'q':
		record->quiet = true;
		return -1;
	case 'v':
		record->verbose = true;
		return -1;
	case OPTION_DETERMINISTIC:
		if (!run_fixed(optarg, &record->fixed))
			return tool_usage_error("record", "--deterministic does not fix '%s'",
						optarg);
		return -1;
	case OPTION_STRICT:
		record->strict = true;
		return -1;
	case OPTION_NO_CACHE:
		record->cold = true;
		return -1;
	case OPTION_AFTER:
		record->after_name = optarg;
		return -1;
	case 'h':
		print_help();
		return output_finish("record", 0);
	case 'b':
		return add_branches(record, "any");
	case 'j':
		return add_branches(record, optarg);
	case OPTION_CALL_GRAPH:
		if (strcmp(optarg, "lbr"))
			return tool_usage_error("record",
						"call chains come from lbr only, not '%s'", optarg);
		record->call_graph = true;
		return -1;
	case 'g':
		return tool_usage_error("record", "-g needs frame pointers; there is --call-graph "
						  "lbr");
	default:
		return tool_bad_option("record", option, argv);
	}
}

/* A Pentium's counters tell nobody of an overflow, so nothing can be sampled. */
static int find_model(struct record *record)
{
	struct spmu_model_info info;

	record->model = tool_model(record->model_name);
	if (!record->model)
		return EXIT_BAD_USAGE;
	info = spmu_model_info(record->model);
	if (info.programming == SPMU_PROGRAM_CESR)
		return tool_error("%s has no interrupt at a counter's overflow: its events can be "
				  "counted (softpmu stat) but not sampled",
				  info.name);
	return -1;
}

static bool instructions_precise(const struct record *record)
{
	const struct spmu_event retired = {.signals = SPMU_SIGBIT(INSTRUCTIONS),
					   .fidelity = SPMU_EXACT};

	return events_precise_twin(record->model, &retired);
}

static int parse_events(struct record *record, char **lists)
{
	char *error;

	for (; *lists; lists++) {
		if (!events_parse(&record->events, record->model, *lists, &error)) {
			tool_error("%s", error);
			free(error);
			return EXIT_BAD_USAGE;
		}
	}
	return -1;
}

static int parse_options(struct record *record, int argc, char **argv)
{
	static char default_event[] = DEFAULT_EVENT, without_pebs[] = WITHOUT_PEBS;
	char **lists = tool_alloc(((size_t)argc + 2) * sizeof(*lists)), **next = lists;
	int option, status = -1;

	opterr = 0;
	while (status < 0 &&
	       (option = getopt_long(argc, argv, "+:e:c:F:dI::io:M:qvhgbj:", options, NULL)) != -1)
		status = take_option(record, option, argv, &next);
	if (status < 0 && record->period && record->frequency)
		status = tool_usage_error("record", "-c and -F exclude each other");
	if (status < 0 && !strcmp(record->output, "-"))
		status = tool_usage_error("record", "-o needs a file: perf.data's pipe form is not "
						    "written");
	if (status < 0 && optind >= argc)
		status = tool_usage_error("record", "no program to run");
	if (status < 0)
		status = find_model(record);
	if (next == lists)
		*next = status < 0 && !instructions_precise(record) ? without_pebs : default_event;
	if (status < 0)
		status = parse_events(record, lists);
	free(lists);
	return status;
}

static int not_precise(const struct record *record, const struct event *event)
{
	const struct spmu_event *twin = events_precise_twin(record->model, event->row);

	return tool_error("event '%s' cannot be sampled precisely on %s%s%s%s", event->name,
			  spmu_model_info(record->model).name, twin ? "; " : "",
			  twin ? twin->name : "", twin ? " counts the same and can" : "");
}

/* A counter starts at the period below its overflow: the longest starts at 1. */
static uint64_t longest_period(const struct record *record)
{
	struct spmu_model_info info = spmu_model_info(record->model);

	if (info.perfmon_version)
		return (UINT64_C(1) << info.counter_bits) - 1;
	/* Overflow is told by the sign; P6's counters are written with 32 bits. */
	return UINT64_C(1) << (info.programming == SPMU_PROGRAM_PERFEVTSEL ? 31
									   : info.counter_bits - 1);
}

static int settle_branches(struct record *record)
{
	char *error;
	int status = -1;

	if (record->call_graph)
		branches_call_graph(&record->branches);
	if (!branches_settle(&record->branches, record->model, &error))
		status = tool_error("%s", error);
	free(error);
	if (record->branches.type)
		record->code = code_new();
	return status;
}

static bool stores_traces(const struct spmu_model *model)
{
	const struct spmu_ds_layout *layout = spmu_ds_layout(model, true);

	return layout && layout->bts_bytes;
}

/* Each event must be one that can be sampled; then it gets its period. */
static int check_events(struct record *record)
{
	int status;

	if (record->events.count > LINK_EVENTS_MAX)
		return tool_error("too many events: at most %d", LINK_EVENTS_MAX);
	if (record->call_graph && record->branches.type)
		return tool_usage_error("record", "--call-graph lbr and branches (-b, -j) exclude "
						  "each other");
	for (size_t i = 0; i < record->events.count; i++) {
		struct event *event = &record->events.event[i];

		if (event->trace && !event->exclude_user && event->exclude_kernel) {
			if (record->traces)
				return tool_error("there can be one branch trace only");
			if (!stores_traces(record->model))
				return tool_error("event '%s' is absent: %s has no branch trace "
						  "store",
						  event->name, spmu_model_info(record->model).name);
			record->traces = true;
			continue;
		}
		record->event_of[record->counted++] = i;
		if (event->fidelity == SPMU_ABSENT)
			return tool_error("event '%s' is absent: %s (see softpmu list)",
					  event->name, event->absent_reason);
		if (event->precise && !event->counters && event->fixed < 0)
			return not_precise(record, event);
		if (!event->period && !event->frequency) {
			event->period = record->period;
			if (!record->period)
				event->frequency =
					record->frequency ? record->frequency : DEFAULT_FREQUENCY;
		}
		if (event->period > longest_period(record))
			return tool_usage_error(
				"record", "a period of %llu does not fit a counter; at most %llu",
				(unsigned long long)event->period,
				(unsigned long long)longest_period(record));
	}
	status = record_after(record);
	return status < 0 ? settle_branches(record) : status;
}

/* --- all together ------------------------------------------------------------------------ */

static void run(struct record *record, const struct launch_program *program,
		struct launch_result *result)
{
	struct link_event events[LINK_EVENTS_MAX];
	struct launch_request request = {
		.model = spmu_model_info(record->model).name,
		.threads = RUN_THREADS,
		.event = events,
		.events = record->counted,
		.want = (record->branches.type ? LINK_WANT_LBR : 0) |
			(record->traces ? LINK_WANT_BTS : 0) |
			(record->regs_mask ? LINK_WANT_REGS : 0) |
			(record->one_process ? LINK_WANT_ONE : 0) | record->fixed |
			(record->cold ? LINK_WANT_COLD : 0) |
			(record->strict ? LINK_WANT_STRICT : 0),
		.lbr_select = record->branches.select,
		.sink = record_take,
		.opaque = record,
	};

	for (size_t i = 0; i < record->counted; i++) {
		events[i] = run_sample(&record->events.event[record->event_of[i]]);
		record_start_after(record, &events[i]);
	}
	launch_run(program, &request, result);
	if (record->progress_shown)
		fputs("\r\033[K", stderr);
}

static void say_summary(const struct record *record, const struct launch_result *result,
			uint64_t samples, uint64_t traced, uint64_t bytes)
{
	if (record->verbose)
		fprintf(stderr,
			"[ softpmu record: %llu units, %llu interrupts, %llu records, buffer full "
			"%llu "
			"times; %llu blocks, %.3f MB of code ]\n",
			(unsigned long long)result->units, (unsigned long long)result->interrupts,
			(unsigned long long)result->records,
			(unsigned long long)result->buffer_full, (unsigned long long)result->blocks,
			(double)result->cache_bytes / 1e6);
	if (record->quiet)
		return;
	fprintf(stderr, "[ softpmu record: Captured and wrote %.3f MB %s (%llu samples",
		(double)bytes / 1e6, record->output, (unsigned long long)samples);
	if (record->traces)
		fprintf(stderr, ", %llu branches", (unsigned long long)traced);
	fputs(") ]\n", stderr);
}

/* Keep what there is; the status to end with. */
static int finish(struct record *record, struct launch_result *result)
{
	struct perfdata_task task = {
		.pid = (uint32_t)result->pid,
		.tid = (uint32_t)result->pid,
		.ppid = (uint32_t)getpid(),
		.ptid = (uint32_t)getpid(),
		.time_ns = result->end_ns,
	};
	uint64_t samples, traced, bytes;
	char *error;

	run_say_end(result);
	if (result->end != LAUNCH_DONE && result->end != LAUNCH_LOST) {
		perfdata_abandon(record->writer);
		return result->status;
	}
	perfdata_add_exit(record->writer, &task);
	samples = perfdata_samples(record->writer);
	traced = perfdata_traced(record->writer);
	if (!perfdata_finish(record->writer, &bytes, &error)) {
		tool_error("%s", error ? error : "out of memory");
		free(error);
		return result->status ? result->status : EXIT_TOOL;
	}
	say_summary(record, result, samples, traced, bytes);
	return result->status;
}

int cmd_record(int argc, char **argv)
{
	struct record record = {.output = "perf.data"};
	struct launch_program program = {0};
	struct launch_result result = {0};
	int status = parse_options(&record, argc, argv);

	if (status < 0)
		status = check_events(&record);
	if (status >= 0)
		goto out;
	if (!run_find(&program, argv + optind, &status))
		goto out;
	tool_load_libraries();
	for (size_t i = 0; i < record.events.count; i++)
		record.addresses |= record.events.event[i].data_address;
	if (!record_create(&record, argc, argv)) {
		status = EXIT_TOOL;
		goto out;
	}
	run(&record, &program, &result);
	status = finish(&record, &result);
out:
	free(result.message);
	launch_forget(&program);
	for (size_t i = 0; i < record.file_count; i++)
		free(record.files[i].path);
	free(record.files);
	code_free(record.code);
	events_free(&record.after);
	events_free(&record.events);
	return status;
}
