/* SPDX-License-Identifier: MIT */
/*
 * annotate.c: `softpmu annotate`: the hot instructions of a perf.data, with
 * their source lines.
 *
 * A first pass over the samples finds the functions to show, a second one counts
 * where in them the samples fell.  Each instruction shows its share of the
 * function's count (the sum of periods), as perf's "percent: local period".  A
 * sample that falls inside an instruction counts for it.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/commands.h"
#include "tools/softpmu/disasm.h"
#include "tools/softpmu/output.h"
#include "tools/softpmu/profile.h"
#include "tools/softpmu/source.h"

/* A function of which more is not disassembled; the size comes from a file. */
#define FUNCTION_MAX_BYTES  (16u << 20)
#define LONGEST_INSTRUCTION 15

/* Without a name, functions with at least this share of an event's count are shown. */
#define SHOWN_PERCENT 10.0

struct function {
	size_t event;
	struct symbol_file *file;
	const struct symbol *symbol;
	const char *object;
	uint64_t samples, period;
	bool shown;
	size_t bytes;
	uint64_t *at; /* period by byte of the function */
};

struct annotate {
	struct profile *profile;
	struct disasm *disasm;
	struct sources *sources;
	const char *wanted; /* name of a function; NULL: the hottest */
	double percent_limit;
	struct function *functions;
	size_t count, room;
	uint64_t *totals; /* period by event */
	const struct symbol_file *disassembled;
};

static void help(void)
{
	puts("Usage: softpmu annotate [OPTIONS] [FUNCTION]\n\n"
	     "Shows the hot instructions of a perf.data: the disassembly of FUNCTION, or of the\n"
	     "hottest functions, with each instruction's share of the function's count, and "
	     "source\n"
	     "lines where there is debug information.\n\n"
	     "  -i, --input FILE            the file (default perf.data)\n"
	     "  -M, --disassembler-style S  syntax: att (the default) or intel\n"
	     "      --intel                 the same as -M intel\n"
	     "      --percent-limit N       functions with at least N percent (default 10)\n"
	     "      --symfs DIRECTORY       look for files with symbols below it\n"
	     "      --stdio                 accepted: there is no other way");
}

/* The function a sample fell into; functions of a profile are few, and heat comes in runs. */
static struct function *find(struct annotate *annotate, const struct profile_sample *sample)
{
	struct function *function;
	size_t i;

	for (i = 0; i < annotate->count; i++) {
		function = &annotate->functions[i];
		if (function->symbol == sample->symbol && function->event == sample->event)
			break;
	}
	if (i == annotate->count)
		return NULL;
	if (i > 0) {
		/* Move towards the front what is looked for often. */
		struct function swap = annotate->functions[i - 1];

		annotate->functions[i - 1] = annotate->functions[i];
		annotate->functions[i] = swap;
		i--;
	}
	return &annotate->functions[i];
}

static void count_function(void *opaque, const struct profile_sample *sample)
{
	struct annotate *annotate = opaque;
	struct function *function;

	annotate->totals[sample->event] += sample->period;
	if (!sample->symbol)
		return;
	function = find(annotate, sample);
	if (!function) {
		if (annotate->count == annotate->room) {
			annotate->room = annotate->room ? 2 * annotate->room : 64;
			annotate->functions = tool_grow(
				annotate->functions, annotate->room * sizeof(*annotate->functions));
		}
		function = &annotate->functions[annotate->count++];
		*function = (struct function){.event = sample->event,
					      .file = sample->file,
					      .symbol = sample->symbol,
					      .object = sample->object};
	}
	function->samples++;
	function->period += sample->period;
}

static void count_instruction(void *opaque, const struct profile_sample *sample)
{
	struct function *function = sample->symbol ? find(opaque, sample) : NULL;
	uint64_t offset;

	if (!function || !function->shown)
		return;
	offset = sample->address - function->symbol->start;
	if (offset < function->bytes)
		function->at[offset] += sample->period;
}

/* By event, then hottest first, then by name. */
static int hotter(const void *one, const void *other)
{
	const struct function *a = one, *b = other;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->period != b->period)
		return a->period > b->period ? -1 : 1;
	return strcmp(a->symbol->name, b->symbol->name);
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Mark the functions to show; how many they are. */
static size_t choose(struct annotate *annotate)
{
	size_t shown = 0, i;

	if (annotate->count)
		qsort(annotate->functions, annotate->count, sizeof(*annotate->functions), hotter);
	for (i = 0; i < annotate->count; i++) {
		struct function *function = &annotate->functions[i];
		bool first = i == 0 || annotate->functions[i - 1].event != function->event;

		if (annotate->wanted)
			function->shown = symbol_matches(function->symbol, annotate->wanted);
		else
			function->shown = first || share(function->period,
							 annotate->totals[function->event]) >=
							   annotate->percent_limit;
		if (!function->shown)
			continue;
		shown++;
		function->bytes = function->symbol->end - function->symbol->start;
		if (function->bytes > FUNCTION_MAX_BYTES)
			function->bytes = FUNCTION_MAX_BYTES;
		function->at = tool_alloc(function->bytes * sizeof(*function->at));
	}
	return shown;
}

static bool name_address(void *opaque, uint64_t address, char *text, size_t bytes)
{
	const struct annotate *annotate = opaque;
	const struct symbol *symbol = symbol_file_find(annotate->disassembled, address);

	if (!symbol)
		return false;
	if (symbol->start == address)
		snprintf(text, bytes, "%s", symbol->name);
	else
		snprintf(text, bytes, "%s+%#" PRIx64, symbol->name, address - symbol->start);
	return true;
}

/* Print the file and the line when they are others than before. */
static void print_source(struct annotate *annotate, const struct function *function,
			 uint64_t address, const char **last_source, int *last_line)
{
	const char *source, *text;
	int line;

	if (!symbol_file_line(function->file, address, &source, &line))
		return;
	if (source != *last_source)
		printf("         : %s\n", source);
	else if (line == *last_line)
		return;
	*last_source = source;
	*last_line = line;
	text = sources_line(annotate->sources, source, line);
	printf("         : %6d%s%s\n", line, text ? "  " : "", text ? text : "");
}

static void print_instructions(struct annotate *annotate, const struct function *function,
			       const uint8_t *code, size_t bytes)
{
	const char *last_source = NULL;
	char text[512];
	size_t offset, length, i;
	int last_line = 0;

	for (offset = 0; offset < bytes; offset += length) {
		uint64_t address = function->symbol->start + offset, period = 0;
		size_t room = bytes - offset;

		if (room > LONGEST_INSTRUCTION)
			room = LONGEST_INSTRUCTION;
		length = disasm_one(annotate->disasm, code + offset, room, address, text,
				    sizeof(text));
		for (i = 0; i < length; i++)
			period += function->at[offset + i];
		print_source(annotate, function, address, &last_source, &last_line);
		printf("%8.2f : %8" PRIx64 ":  %s\n", share(period, function->period), address,
		       text);
	}
}

static void print_function(struct annotate *annotate, const struct function *function)
{
	uint8_t *code = tool_alloc(function->bytes);
	size_t bytes =
		symbol_file_read(function->file, function->symbol->start, code, function->bytes);
	int length;

	length = printf(" Percent |  %s in %s for %s (%" PRIu64 " samples, %.2f%% of all, percent: "
			"local period)\n",
			function->symbol->name, profile_short(function->object),
			perfdata_event_at(annotate->profile->reader, function->event)->name,
			function->samples,
			share(function->period, annotate->totals[function->event]));
	while (--length > 0)
		putchar('-');
	printf("\n         : %016" PRIx64 " <%s>:\n", function->symbol->start,
	       function->symbol->name);
	if (!bytes)
		puts("         : its instructions stand in no file");
	annotate->disassembled = function->file;
	print_instructions(annotate, function, code, bytes);
	free(code);
}

/* Nothing to show: say why. */
static int nothing(const struct annotate *annotate)
{
	const char *path = annotate->profile->path, *nearest = NULL;
	unsigned best = annotate->wanted ? (unsigned)strlen(annotate->wanted) / 3 + 1 : 0;
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < perfdata_event_count(annotate->profile->reader); i++)
		total += annotate->totals[i];
	if (total == 0) {
		tool_error("%s has no samples", path);
		return 1;
	}
	if (!annotate->wanted) {
		tool_error("%s has no sample in a function of a known name (see softpmu report)",
			   path);
		return 1;
	}
	for (i = 0; i < annotate->count; i++) {
		const char *name = annotate->functions[i].symbol->name;
		unsigned distance = tool_distance(name, annotate->wanted);

		if (distance < best) {
			best = distance;
			nearest = name;
		}
	}
	if (nearest)
		tool_error("%s has no samples in '%s'; did you mean '%s'?", path, annotate->wanted,
			   nearest);
	else
		tool_error("%s has no samples in '%s' (see softpmu report)", path,
			   annotate->wanted);
	return 1;
}

static int run(struct annotate *annotate)
{
	size_t events = perfdata_event_count(annotate->profile->reader), i;
	int status = annotate->profile->incomplete ? 1 : 0;
	bool first = true;

	annotate->totals = tool_alloc(events * sizeof(*annotate->totals));
	profile_each(annotate->profile, count_function, annotate);
	if (choose(annotate) == 0) {
		status = nothing(annotate);
	} else {
		profile_each(annotate->profile, count_instruction, annotate);
		qsort(annotate->functions, annotate->count, sizeof(*annotate->functions), hotter);
	}
	for (i = 0; i < annotate->count; i++) {
		if (!annotate->functions[i].shown)
			continue;
		if (!first)
			putchar('\n');
		first = false;
		print_function(annotate, &annotate->functions[i]);
		free(annotate->functions[i].at);
	}
	free(annotate->functions);
	free(annotate->totals);
	return status;
}

static int annotate_file(struct annotate *annotate, const char *input, const char *root, bool intel)
{
	int status;

	annotate->profile = profile_open(input, root);
	if (!annotate->profile)
		return 1;
	annotate->sources = sources_new();
	annotate->disasm = disasm_new(intel, name_address, annotate);
	if (annotate->disasm)
		status = run(annotate);
	else
		status = tool_error("the disassembler cannot be used");
	disasm_free(annotate->disasm);
	sources_free(annotate->sources);
	profile_close(annotate->profile);
	return status;
}

int cmd_annotate(int argc, char **argv)
{
	enum { OPTION_INTEL = 256, OPTION_LIMIT, OPTION_STDIO, OPTION_SYMFS };
	static const struct option options[] = {
		{"input", required_argument, NULL, 'i'},
		{"disassembler-style", required_argument, NULL, 'M'},
		{"intel", no_argument, NULL, OPTION_INTEL},
		{"percent-limit", required_argument, NULL, OPTION_LIMIT},
		{"stdio", no_argument, NULL, OPTION_STDIO},
		{"symfs", required_argument, NULL, OPTION_SYMFS},
		{"help", no_argument, NULL, 'h'},
		{0}};
	struct annotate annotate = {.percent_limit = SHOWN_PERCENT};
	const char *input = "perf.data", *root = NULL;
	bool intel = false;
	char *end;
	int option;

	while ((option = getopt_long(argc, argv, ":i:M:h", options, NULL)) != -1) {
		switch (option) {
		case 'i':
			input = optarg;
			break;
		case 'M':
			intel = !strcmp(optarg, "intel");
			if (!intel && strcmp(optarg, "att"))
				return tool_usage_error("annotate", "-M is att or intel, not '%s'",
							optarg);
			break;
		case OPTION_INTEL:
			intel = true;
			break;
		case OPTION_LIMIT:
			annotate.percent_limit = strtod(optarg, &end);
			if (end == optarg || *end || !(annotate.percent_limit >= 0) ||
			    annotate.percent_limit > 100)
				return tool_usage_error("annotate",
							"--percent-limit is 0 to 100, not '%s'",
							optarg);
			break;
		case OPTION_SYMFS:
			root = optarg;
			break;
		case OPTION_STDIO:
			break;
		case 'h':
			help();
			return output_finish("annotate", 0);
		default:
			return tool_bad_option("annotate", option, argv);
		}
	}
	if (optind + 1 < argc)
		return tool_usage_error("annotate", "unexpected argument '%s'", argv[optind + 1]);
	annotate.wanted = optind < argc ? argv[optind] : NULL;
	return output_finish("annotate", annotate_file(&annotate, input, root, intel));
}
