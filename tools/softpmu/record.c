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
#include <time.h>
#include <unistd.h>

#include <src/perfdata/perfdata.h>

#include "commands.h"
#include "run.h"

#define DEFAULT_EVENT	  "instructions:upp"
#define DEFAULT_FREQUENCY 4000
#define PROGRESS_NS	  UINT64_C(1000000000)

struct record {
	const char *model_name, *output;
	struct event_list events;
	uint64_t period, frequency; /* -c, -F; 0: not given */
	uint64_t regs_mask;
	bool addresses, quiet, verbose;

	const struct spmu_model *model;
	struct perfdata_writer *writer;
	struct mapped_file {
		char *path;
		uint8_t build_id[PERFDATA_BUILD_ID_MAX];
		uint8_t build_id_bytes;
	} * files;
	size_t file_count;
	uint64_t next_progress_ns;
	bool progress_shown;
};

/* link_sample's registers in perf's numbers. */
static const uint8_t register_numbers[18] = {
	PERFDATA_FLAGS,	 PERFDATA_IP,	  PERFDATA_AX,	   PERFDATA_BX,	    PERFDATA_CX,
	PERFDATA_DX,	 PERFDATA_SI,	  PERFDATA_DI,	   PERFDATA_BP,	    PERFDATA_SP,
	PERFDATA_R8,	 PERFDATA_R8 + 1, PERFDATA_R8 + 2, PERFDATA_R8 + 3, PERFDATA_R8 + 4,
	PERFDATA_R8 + 5, PERFDATA_R8 + 6, PERFDATA_R8 + 7,
};

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
	       "                      (default: " DEFAULT_EVENT ")\n"
	       "  -c, --count N       occurrences between samples (K, M, G: powers of 1000)\n"
	       "  -F, --freq N        samples a second, about (default: %d)\n"
	       "  -d, --data          record data addresses\n"
	       "  -I, --intr-regs[=R] record registers, all or a list such as ax,r8 ('?' names "
	       "them)\n"
	       "  -o, --output FILE   instead of perf.data; an older one becomes FILE.old\n"
	       "  -M, --model NAME    the processor (default: " DEFAULT_MODEL ")\n"
	       "  -q, --quiet         say nothing but errors\n"
	       "  -v, --verbose       say what the unit and the translator did\n"
	       "  -h, --help          this text\n\n"
	       "The exit status is the program's; 125 when it cannot be recorded.\n",
	       DEFAULT_FREQUENCY);
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

static const struct option options[] = {
	{"event", required_argument, NULL, 'e'},      {"count", required_argument, NULL, 'c'},
	{"freq", required_argument, NULL, 'F'},	      {"data", no_argument, NULL, 'd'},
	{"intr-regs", optional_argument, NULL, 'I'},  {"output", required_argument, NULL, 'o'},
	{"model", required_argument, NULL, 'M'},      {"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},	      {"help", no_argument, NULL, 'h'},
	{"call-graph", required_argument, NULL, 'g'}, {NULL, 0, NULL, 0},
};

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
	case 'M':
		record->model_name = optarg;
		return -1;
	case 'q':
		record->quiet = true;
		return -1;
	case 'v':
		record->verbose = true;
		return -1;
	case 'h':
		print_help();
		return 0;
	case 'g':
		return tool_usage_error("record", "call chains (-g) cannot be recorded");
	default:
		return tool_bad_option("record", option, argv);
	}
}

static int parse_events(struct record *record, char **lists)
{
	char *error;

	record->model = tool_model(record->model_name);
	if (!record->model)
		return EXIT_BAD_USAGE;
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
	static char default_event[] = DEFAULT_EVENT;
	char **lists = tool_alloc(((size_t)argc + 2) * sizeof(*lists)), **next = lists;
	int option, status = -1;

	opterr = 0;
	while (status < 0 &&
	       (option = getopt_long(argc, argv, "+:e:c:F:dI::o:M:qvhg", options, NULL)) != -1)
		status = take_option(record, option, argv, &next);
	if (status < 0 && record->period && record->frequency)
		status = tool_usage_error("record", "-c and -F exclude each other");
	if (status < 0 && optind >= argc)
		status = tool_usage_error("record", "no program to run");
	if (next == lists)
		*next = default_event;
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
	return (UINT64_C(1) << spmu_model_info(record->model).counter_bits) - 1;
}

/* Each event must be one that can be sampled; then it gets its period. */
static int check_events(struct record *record)
{
	if (record->events.count > LINK_EVENTS_MAX)
		return tool_error("too many events: at most %d", LINK_EVENTS_MAX);
	for (size_t i = 0; i < record->events.count; i++) {
		struct event *event = &record->events.event[i];

		if (event->fidelity == SPMU_ABSENT)
			return tool_error("event '%s' is absent: %s (see softpmu list)",
					  event->name, event->absent_reason);
		if (event->precise && !event->counters)
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
	return -1;
}

/* --- the file ------------------------------------------------------------------------ */

static struct perf_event_attr make_attr(const struct record *record, const struct event *event,
					bool first)
{
	struct perf_event_attr attr = {
		.type = event->perf_type,
		.config = event->perf_config,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
		.disabled = 1,
		.enable_on_exec = 1,
		.exclude_user = event->exclude_user,
		.exclude_kernel = event->exclude_kernel,
		.exclude_hv = 1,
		.exclude_guest = 1,
		.precise_ip = event->precise & 3,
		.sample_id_all = 1,
		.mmap = first,
		.mmap2 = first,
		.comm = first,
		.comm_exec = first,
		.task = first,
		.build_id = first,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.freq = event->frequency != 0,
	};

	if (event->frequency)
		attr.sample_freq = event->frequency;
	else
		attr.sample_period = event->period;
	if (record->addresses)
		attr.sample_type |= PERF_SAMPLE_ADDR;
	if (record->regs_mask) {
		attr.sample_type |= PERF_SAMPLE_REGS_INTR;
		attr.sample_regs_intr = record->regs_mask;
	}
	return attr;
}

/* "GenuineIntel,6,94,3" from CPUID.01H:EAX (Vol. 2A, CPUID, figure 3-6). */
static char *cpu_id(uint32_t signature)
{
	unsigned family = signature >> 8 & 0xf, model = signature >> 4 & 0xf;

	if (family == 6 || family == 15)
		model |= (signature >> 16 & 0xf) << 4;
	if (family == 15)
		family += signature >> 20 & 0xff;
	return tool_print("GenuineIntel,%u,%u,%u", family, model, signature & 0xf);
}

static bool create_file(struct record *record, int argc, char **argv)
{
	struct spmu_model_info info = spmu_model_info(record->model);
	size_t count = record->events.count;
	struct perfdata_event *events = tool_alloc(count * sizeof(*events));
	char **command = tool_alloc(((size_t)argc + 2) * sizeof(*command));
	char *id = cpu_id(info.signature);
	char *version = tool_print("softpmu %s", SPMU_VERSION_STRING);
	char *cpu_name = tool_print("%s, softpmu's %s", info.title, info.name);
	struct perfdata_about about = {
		.version = version, .cpu_name = cpu_name, .cpu_id = id, .command = command};
	static char tool[] = "softpmu";
	char *error = NULL;

	command[0] = tool;
	memcpy(command + 1, argv, (size_t)argc * sizeof(*argv));
	for (size_t i = 0; i < count; i++) {
		events[i].name = record->events.event[i].name;
		events[i].attr = make_attr(record, &record->events.event[i], i == 0);
	}
	record->writer = perfdata_create(record->output, events, count, &about, &error);
	if (!record->writer)
		tool_error("%s", error ? error : "out of memory");
	free(error);
	free(cpu_name);
	free(version);
	free(id);
	free(command);
	free(events);
	return record->writer;
}

/* --- records --------------------------------------------------------------------------- */

static const struct mapped_file *find_file(struct record *record, const char *path)
{
	struct mapped_file *file;

	for (size_t i = 0; i < record->file_count; i++) {
		if (!strcmp(record->files[i].path, path))
			return &record->files[i];
	}
	record->files = tool_grow(record->files, (record->file_count + 1) * sizeof(*record->files));
	file = &record->files[record->file_count++];
	file->path = tool_copy(path);
	file->build_id_bytes = (uint8_t)perfdata_read_build_id(path, file->build_id);
	return file;
}

static void add_mmap(struct record *record, const struct link_mmap *link, uint64_t time_ns)
{
	const struct mapped_file *file = find_file(record, link->path);
	struct perfdata_mmap map = {
		.pid = link->pid,
		.tid = link->tid,
		.time_ns = time_ns,
		.start = link->start,
		.length = link->length,
		.page_offset = link->page_offset,
		.major = link->device_major,
		.minor = link->device_minor,
		.inode = link->inode,
		.protection = link->protection,
		.flags = link->flags,
		.path = link->path,
		.build_id_bytes = file->build_id_bytes,
	};

	memcpy(map.build_id, file->build_id, sizeof(map.build_id));
	perfdata_add_mmap(record->writer, &map);
}

static void add_comm(struct record *record, const struct link_comm *link, uint64_t time_ns)
{
	struct perfdata_comm comm = {
		.pid = link->pid,
		.tid = link->tid,
		.time_ns = time_ns,
		.comm = link->comm,
		.exec = link->exec,
	};

	perfdata_add_comm(record->writer, &comm);
}

static void add_sample(struct record *record, const struct link_sample *link, uint64_t time_ns)
{
	struct perfdata_sample sample = {
		.event = link->event,
		.misc = PERF_RECORD_MISC_USER,
		.pid = link->pid,
		.tid = link->tid,
		.cpu = link->cpu,
		.time_ns = time_ns,
		.ip = link->ip,
		.address = link->data_address,
		.period = link->period,
	};

	if (link->precise)
		sample.misc |= PERF_RECORD_MISC_EXACT_IP;
	for (size_t i = 0; i < sizeof(register_numbers); i++)
		sample.regs[register_numbers[i]] = link->regs[i];
	perfdata_add_sample(record->writer, &sample);
}

/* On a terminal, once a second; from the first second on, so that short runs stay quiet. */
static void show_progress(struct record *record, uint64_t now_ns)
{
	if (record->next_progress_ns && now_ns < record->next_progress_ns)
		return;
	if (record->next_progress_ns && !record->quiet && isatty(STDERR_FILENO)) {
		fprintf(stderr, "\r[ softpmu record: %llu samples, %.3f MB ]\033[K",
			(unsigned long long)perfdata_samples(record->writer),
			(double)perfdata_bytes(record->writer) / 1e6);
		fflush(stderr);
		record->progress_shown = true;
	}
	if (record->next_progress_ns)
		perfdata_sync(record->writer);
	record->next_progress_ns = now_ns + PROGRESS_NS;
}

static void take_record(void *opaque, const struct link_record *link, uint64_t time_ns,
			const void *trace)
{
	struct record *record = opaque;

	(void)trace;
	if (!link) {
		show_progress(record, time_ns);
		return;
	}
	switch (link->type) {
	case LINK_REC_MMAP:
		add_mmap(record, (const struct link_mmap *)link, time_ns);
		break;
	case LINK_REC_COMM:
		add_comm(record, (const struct link_comm *)link, time_ns);
		break;
	case LINK_REC_SAMPLE:
		add_sample(record, (const struct link_sample *)link, time_ns);
		break;
	default:
		break;
	}
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
		.events = record->events.count,
		.sink = take_record,
		.opaque = record,
	};

	for (size_t i = 0; i < record->events.count; i++)
		events[i] = run_sample(&record->events.event[i]);
	launch_run(program, &request, result);
	if (record->progress_shown)
		fputs("\r\033[K", stderr);
}

static void say_summary(const struct record *record, const struct launch_result *result,
			uint64_t samples, uint64_t bytes)
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
	if (!record->quiet)
		fprintf(stderr,
			"[ softpmu record: Captured and wrote %.3f MB %s (%llu samples) ]\n",
			(double)bytes / 1e6, record->output, (unsigned long long)samples);
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
	uint64_t samples, bytes;
	char *error;

	run_say_end(result);
	if (result->end != LAUNCH_DONE && result->end != LAUNCH_LOST) {
		perfdata_abandon(record->writer);
		return result->status;
	}
	perfdata_add_exit(record->writer, &task);
	samples = perfdata_samples(record->writer);
	bytes = perfdata_bytes(record->writer);
	if (!perfdata_finish(record->writer, &error)) {
		tool_error("%s", error ? error : "out of memory");
		free(error);
		return result->status ? result->status : EXIT_TOOL;
	}
	say_summary(record, result, samples, bytes);
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
	for (size_t i = 0; i < record.events.count; i++)
		record.addresses |= record.events.event[i].data_address;
	if (!create_file(&record, argc, argv)) {
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
	events_free(&record.events);
	return status;
}
