/* SPDX-License-Identifier: MIT */
/* record_options.c: the command line of `softpmu record`. */
#include "tools/softpmu/commands/record_options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/events/event_resolve.h"

#define DEFAULT_EVENT	"instructions:upp"
#define STACK_LEAST	256u /* bytes of a copy of the stack */
#define COMPRESSION_MAX 22   /* zstd's highest level */
#define WITHOUT_PEBS	"instructions:u"

/* The names by perf's numbers.  A PEBS record has no segment registers. */
static const char *const register_names[PERFDATA_REGS] = {
	"AX", "BX", "CX", "DX", "SI", "DI", "BP",  "SP",  "IP",	 "FLAGS", NULL,	 NULL,
	NULL, NULL, NULL, NULL, "R8", "R9", "R10", "R11", "R12", "R13",	  "R14", "R15",
};

static void print_help(void)
{
	printf("Usage: softpmu record [OPTIONS] [--] PROGRAM [ARGUMENTS]\n\n"
	       "Runs the program and writes samples of events to perf.data, for softpmu report,\n"
	       "softpmu annotate and perf.\n\n"
	       "  -e, --event LIST    events in perf's syntax; p, pp or ppp samples with PEBS\n"
	       "                      (default: " DEFAULT_EVENT
	       ", without pp if the family cannot;\n"
	       "                      cycles:u with --static-clocks);\n"
	       "                      intel_bts// traces every taken branch\n"
	       "  -c, --count N       occurrences between samples (K, M, G: powers of 1000)\n"
	       "  -F, --freq N        about N samples in a second (default: %d)\n"
	       "      --jitter        with -c: vary the period at random, by a quarter at most;\n"
	       "                      -F does that unless --no-jitter is given\n"
	       "  -b, --branch-any    record the last branches before each sample\n"
	       "  -j, --branch-filter LIST\n"
	       "                      the same for these kinds: %s\n"
	       "  -g                  record call chains: --call-graph dwarf\n"
	       "      --call-graph MODE\n"
	       "                      record call chains: dwarf[,BYTES], by unwind tables, from at "
	       "most\n"
	       "                      so many bytes of the stack (default: %u); fp, by frame "
	       "pointers;\n"
	       "                      lbr, from the last branch records\n"
	       "  -d, --data          record data addresses\n"
	       "  -W, --weight        record the latency of loads (--machine)\n"
	       "  -I, --intr-regs[=R] record registers: all, or a list such as ax,r8 ('?' names "
	       "them)\n"
	       "      --machine[=NAME]\n"
	       "                      also sample events of caches, TLBs and branch prediction, by "
	       "a\n"
	       "                      model of this machine (default: the processor's)\n"
	       "      --machine-file FILE\n"
	       "                      the same, by a machine that FILE describes\n"
	       "      --cache LEVEL=SIZE,WAYS[,LINE]\n"
	       "                      with another cache: L1I, L1D, L2 or LLC\n"
	       "      --set KEY=VALUE with another parameter (keys: softpmu explain machine)\n"
	       "      --static-clocks also sample clocks: those of instructions that hit all "
	       "caches\n"
	       "  -i, --no-inherit    do not sample the processes that the program starts\n"
	       "  -D, --delay MS      switch the events on after MS milliseconds, or during "
	       "ranges\n"
	       "                      of them (10-20,30-40); -1: only by --control\n"
	       "      --control fd:N[,N] or fifo:FILE[,FILE]\n"
	       "                      read commands (enable, disable ...) there, and write\n"
	       "                      'ack' to the second when they are done\n"
	       "      --after EVENT   sample the events of -e after each -c occurrences of EVENT, "
	       "with a\n"
	       "                      cascade of counters (NetBurst)\n"
	       "      --deterministic make the run the same each time, by fixed addresses and "
	       "random\n"
	       "                      numbers; with =time also by fixed clocks\n"
	       "      --strict        fail if a program cannot be recorded (32-bit ...); otherwise "
	       "it\n"
	       "                      runs natively and is named\n"
	       "      --toggle FUNCTION\n"
	       "                      record only while a function of this name runs\n"
	       "      --no-cache      do not use or keep translations of the program's code\n"
	       "  -o, --output FILE   write FILE instead of perf.data; an older one becomes "
	       "FILE.old;\n"
	       "                      -: write to standard output, and the program to standard "
	       "error\n"
	       "      --switch-output[=MODE]\n"
	       "                      begin another file, and name each one by its time: at "
	       "signal\n"
	       "                      (SIGUSR2, the default), after a size (100M) or a time "
	       "(30s)\n"
	       "      --switch-max-files N\n"
	       "                      keep only the last N of them\n"
	       "  -z, --compression-level[=N]\n"
	       "                      compress the records by zstd, at level N (default: 1)\n"
	       "  -M, --model NAME    the processor (default: " DEFAULT_MODEL ")\n"
	       "  -k, --clockid mono  times are those of CLOCK_MONOTONIC, whether this is given or "
	       "not\n"
	       "  -m, --mmap-pages N, -N, --no-buildid-cache, -P, --period, -R, --raw-samples,\n"
	       "  -T, --timestamp, --all-user, --buildid-all, --sample-cpu, --tail-synthesize,\n"
	       "      --user-callchains\n"
	       "                      have no effect; accepted because perf has them\n"
	       "  -q, --quiet         print only errors\n"
	       "  -v, --verbose       also print what the unit and the translator did\n"
	       "  -h, --help          print this text\n\n"
	       "The exit status is the program's, or 125 if it cannot be recorded.\n",
	       DEFAULT_FREQUENCY, branches_names, LINK_STACK_MAX);
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
		tool_usage_error("record", "'%s' is not a %s", text, what);
		return false;
	}
	if (!*value) {
		tool_usage_error("record", "a %s of 0 takes no sample", what);
		return false;
	}
	return true;
}

enum {
	OPTION_CALL_GRAPH = RUN_OPTIONS_END,
	OPTION_AFTER,
	OPTION_JITTER,
	OPTION_NO_JITTER,
	OPTION_SWITCH,
	OPTION_SWITCH_MAX,
	OPTION_IGNORED,
};

static const struct option options[] = {
	{"event", required_argument, NULL, 'e'},
	{"count", required_argument, NULL, 'c'},
	{"freq", required_argument, NULL, 'F'},
	{"jitter", no_argument, NULL, OPTION_JITTER},
	{"no-jitter", no_argument, NULL, OPTION_NO_JITTER},
	{"data", no_argument, NULL, 'd'},
	{"weight", no_argument, NULL, 'W'},
	{"intr-regs", optional_argument, NULL, 'I'},
	{"no-inherit", no_argument, NULL, 'i'},
	{"delay", required_argument, NULL, 'D'},
	{"control", required_argument, NULL, RUN_OPTION_CONTROL},
	{"output", required_argument, NULL, 'o'},
	{"compression-level", optional_argument, NULL, 'z'},
	{"switch-output", optional_argument, NULL, OPTION_SWITCH},
	{"switch-max-files", required_argument, NULL, OPTION_SWITCH_MAX},
	{"model", required_argument, NULL, 'M'},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},
	{"deterministic", optional_argument, NULL, RUN_OPTION_DETERMINISTIC},
	{"no-cache", no_argument, NULL, RUN_OPTION_NO_CACHE},
	{"strict", no_argument, NULL, RUN_OPTION_STRICT},
	{"toggle", required_argument, NULL, RUN_OPTION_TOGGLE},
	{"after", required_argument, NULL, OPTION_AFTER},
	MACHINE_OPTIONS,
	{"help", no_argument, NULL, 'h'},
	{"branch-any", no_argument, NULL, 'b'},
	{"branch-filter", required_argument, NULL, 'j'},
	{"call-graph", required_argument, NULL, OPTION_CALL_GRAPH},
	{"clockid", required_argument, NULL, 'k'},
	{"all-user", no_argument, NULL, OPTION_IGNORED},
	{"buildid-all", no_argument, NULL, OPTION_IGNORED},
	{"mmap-pages", required_argument, NULL, OPTION_IGNORED},
	{"no-buildid-cache", no_argument, NULL, OPTION_IGNORED},
	{"period", no_argument, NULL, OPTION_IGNORED},
	{"raw-samples", no_argument, NULL, OPTION_IGNORED},
	{"sample-cpu", no_argument, NULL, OPTION_IGNORED},
	{"tail-synthesize", no_argument, NULL, OPTION_IGNORED},
	{"timestamp", no_argument, NULL, OPTION_IGNORED},
	{"user-callchains", no_argument, NULL, OPTION_IGNORED},
	{NULL, 0, NULL, 0},
};

/* As with perf, levels that zstd does not have become the nearest one. */
static int parse_level(struct record *record, const char *text)
{
	uint64_t level = 1;

	if (text && !tool_number(text, &level))
		return tool_usage_error("record", "-z takes a level, not '%s'", text);
	record->compression = level > COMPRESSION_MAX ? COMPRESSION_MAX : (int)level;
	return -1;
}

static int add_branches(struct record *record, const char *list)
{
	char *error;
	int status = -1;

	if (!branches_parse(&record->branches, list, &error))
		status = tool_usage_error("record", "%s", error);
	free(error);
	return status;
}

/* Takes MODE of --call-graph.  As with perf, the size of the copies is a multiple of 8. */
static int parse_chains(struct record *record, const char *mode)
{
	static const char *const modes[] = {
		[CHAINS_LBR] = "lbr", [CHAINS_FP] = "fp", [CHAINS_DWARF] = "dwarf"};
	size_t length = strcspn(mode, ",");
	uint64_t bytes = LINK_STACK_MAX;
	unsigned chains = CHAINS_DWARF;

	while (chains && (strlen(modes[chains]) != length || memcmp(modes[chains], mode, length)))
		chains--;
	if (!chains || (mode[length] && chains != CHAINS_DWARF))
		return tool_usage_error(
			"record", "--call-graph takes dwarf, dwarf,BYTES, fp or lbr, not '%s'",
			mode);
	if (mode[length] && (!tool_number(mode + length + 1, &bytes) || bytes < STACK_LEAST ||
			     bytes > LINK_STACK_MAX))
		return tool_usage_error("record",
					"--call-graph dwarf,BYTES takes %u to %u bytes, not '%s'",
					STACK_LEAST, LINK_STACK_MAX, mode + length + 1);
	record->chains = chains;
	record->stack_bytes = (uint32_t)bytes & ~7u;
	return -1;
}

static int check_clock(const char *name)
{
	if (!strcmp(name, "mono") || !strcmp(name, "monotonic") ||
	    !strcmp(name, "CLOCK_MONOTONIC") || !strcmp(name, "1"))
		return -1;
	return tool_usage_error("record",
				"times are those of CLOCK_MONOTONIC: -k takes mono, not "
				"'%s'",
				name);
}

/* Takes an option.  Returns -1 to go on, otherwise the status to exit with.  Event lists are kept
 * until the model is known. */
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
	case 'W':
		record->weights = true;
		return -1;
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
	case 'z':
		return parse_level(record, optarg);
	case 'q':
		record->quiet = true;
		return -1;
	case OPTION_JITTER:
	case OPTION_NO_JITTER:
		record->jitter = option == OPTION_JITTER ? JITTER_ON : JITTER_OFF;
		return -1;
	case OPTION_AFTER:
		record->after_name = optarg;
		return -1;
	case OPTION_SWITCH:
		if (record_switch_parse(&record->switching, optarg))
			return -1;
		return tool_usage_error("record",
					"--switch-output takes signal, a size (100M) or a time "
					"(30s), not '%s'",
					optarg);
	case OPTION_SWITCH_MAX:
		if (tool_number(optarg, &record->switching.most))
			return -1;
		return tool_usage_error(
			"record", "--switch-max-files takes a number of files, not '%s'", optarg);
	case 'h':
		print_help();
		return output_finish("record", 0);
	case 'b':
		return add_branches(record, "any");
	case 'j':
		return add_branches(record, optarg);
	case OPTION_CALL_GRAPH:
		return parse_chains(record, optarg);
	case 'g': /* as with perf, another mode stays */
		return record->chains ? -1 : parse_chains(record, "dwarf");
	case 'k':
		return check_clock(optarg);
	case 'm':
	case 'N':
	case 'P':
	case 'R':
	case 'T':
	case OPTION_IGNORED:
		return -1;
	default:
		if (machine_options_take(&record->machine_options, option, optarg))
			return -1;
		return run_options_take(&record->run, "record", option, argv);
	}
}

/* Finds the model.  Refuses a Pentium: its counters do not interrupt at an overflow. */
static int find_model(struct record *record)
{
	struct spmu_model_info info;

	record->model = tool_model(record->run.model_name);
	if (!record->model)
		return EXIT_BAD_USAGE;
	info = spmu_model_describe(record->model);
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

	return event_resolve_precise_twin(record->model, &retired);
}

int record_options_parse(struct record *record, int argc, char **argv)
{
	static char default_event[] = DEFAULT_EVENT, without_pebs[] = WITHOUT_PEBS,
		    clocks[] = "cycles:u";
	char **lists = tool_alloc(((size_t)argc + 2) * sizeof(*lists)), **next = lists;
	int option, status = -1;

	opterr = 0;
	while (status < 0 &&
	       (option = getopt_long(argc, argv, "+:e:c:F:dWI::iD:o:z::M:qvhgbj:k:m:NPRT", options,
				     NULL)) != -1)
		status = take_option(record, option, argv, &next);
	if (status < 0 && record->period && record->frequency)
		status = tool_usage_error("record", "-c and -F cannot be combined");
	if (status < 0 && record->switching.on && !strcmp(record->output, "-"))
		status =
			tool_usage_error("record", "--switch-output needs files, and -o - is none");
	if (status < 0 && optind >= argc)
		status = tool_usage_error("record", "no program to run");
	if (status < 0)
		status = find_model(record);
	if (status < 0)
		status = run_use_machine(&record->machine_options, "record", record->model,
					 LAUNCH_CLOCKS_NONE, &record->machine);
	if (next == lists && record->machine_options.static_clocks)
		*next = clocks;
	else if (next == lists)
		*next = status < 0 && !instructions_precise(record) ? without_pebs : default_event;
	if (status < 0)
		status = run_parse_events(&record->events, record->model, lists);
	free(lists);
	return status;
}
