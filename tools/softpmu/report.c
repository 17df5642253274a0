/* SPDX-License-Identifier: MIT */
/*
 * report.c: `softpmu report`: the hot functions of a perf.data, in the form of
 * `perf report --stdio`.
 *
 * Overhead is a share of the event's count (the sum of the samples' periods), not of
 * the number of samples.  C++ names are shown as the compiler wrote them.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/commands.h"
#include "tools/softpmu/output.h"
#include "tools/softpmu/profile.h"
#include "tools/softpmu/report_branches.h"

enum key { KEY_COMM, KEY_DSO, KEY_SYM, KEYS };

static const struct {
	const char *name, *other, *title;
} keys[KEYS] = {
	{"comm", "comm", "Command"}, {"dso", "dso", "Shared Object"}, {"sym", "symbol", "Symbol"}};

/* What falls into one line.  What is not sorted by is NULL or 0. */
struct line {
	const char *comm, *object;
	struct symbol_file *file;
	const struct symbol *symbol;
	uint64_t address; /* when the symbol is unknown */
	char level;
	uint64_t samples, period;
};

/* The lines of one event; open addressing, a free line has no samples. */
struct table {
	struct line *lines;
	size_t count, room;
	uint64_t samples, period;
};

struct report {
	enum key sort[KEYS];
	size_t sort_count;
	bool by[KEYS];
	bool show_samples, header, branches, callers;
	double percent_limit;
	struct profile *profile;
	struct table *tables; /* by event */
};

static void help(void)
{
	puts("Usage: softpmu report [OPTIONS]\n\n"
	     "Shows the hot functions of a perf.data.\n\n"
	     "  -i, --input FILE            the file (default perf.data)\n"
	     "  -s, --sort KEY[,KEY...]     what a line stands for: comm, dso, sym\n"
	     "                              (default comm,dso,sym)\n"
	     "  -b, --branch-stack          branches, from function to function, that samples or\n"
	     "                              traces hold, instead of samples\n"
	     "  -g, --call-graph            who called what, of samples with call chains\n"
	     "  -n, --show-nr-samples       also the number of samples\n"
	     "      --percent-limit N       leave out lines below N percent\n"
	     "      --header                begin with what was recorded, where and how\n"
	     "      --symfs DIRECTORY       look for files with symbols below it\n"
	     "      --stdio                 accepted: there is no other way");
}

static size_t hash(const struct line *line)
{
	uint64_t mix = (uintptr_t)line->comm;

	mix = mix * UINT64_C(0x9e3779b97f4a7c15) + (uintptr_t)line->object;
	mix = mix * UINT64_C(0x9e3779b97f4a7c15) + (uintptr_t)line->symbol;
	mix = mix * UINT64_C(0x9e3779b97f4a7c15) + line->address;
	return (size_t)(mix ^ mix >> 29);
}

static bool same(const struct line *a, const struct line *b)
{
	return a->comm == b->comm && a->object == b->object && a->symbol == b->symbol &&
	       a->address == b->address && a->level == b->level;
}

static struct line *find_line(struct line *lines, size_t room, const struct line *like)
{
	size_t i = hash(like) & (room - 1);

	while (lines[i].samples && !same(&lines[i], like))
		i = (i + 1) & (room - 1);
	return &lines[i];
}

static void grow(struct table *table)
{
	size_t room = table->room ? 2 * table->room : 1024, i;
	struct line *lines = tool_alloc(room * sizeof(*lines));

	for (i = 0; i < table->room; i++) {
		if (table->lines[i].samples)
			*find_line(lines, room, &table->lines[i]) = table->lines[i];
	}
	free(table->lines);
	table->lines = lines;
	table->room = room;
}

static void take(void *opaque, const struct profile_sample *sample)
{
	struct report *report = opaque;
	struct table *table = &report->tables[sample->event];
	struct line like = {0}, *line;

	if (report->by[KEY_COMM])
		like.comm = sample->comm;
	if (report->by[KEY_DSO])
		like.object = sample->object;
	if (report->by[KEY_SYM]) {
		like.symbol = sample->symbol;
		like.level = sample->level;
		if (!sample->symbol)
			like.address = sample->address;
	}
	if (2 * table->count >= table->room)
		grow(table);
	line = find_line(table->lines, table->room, &like);
	if (!line->samples) {
		*line = like;
		line->file = sample->file;
		table->count++;
	}
	line->samples++;
	line->period += sample->period;
	table->samples++;
	table->period += sample->period;
}

static void key_text(const struct line *line, enum key key, char *text, size_t bytes)
{
	switch (key) {
	case KEY_COMM:
		snprintf(text, bytes, "%s", line->comm);
		break;
	case KEY_DSO:
		snprintf(text, bytes, "%s", profile_short(line->object));
		break;
	case KEY_SYM:
		if (line->symbol)
			snprintf(text, bytes, "[%c] %s", line->level, line->symbol->name);
		else
			snprintf(text, bytes, "[%c] 0x%016" PRIx64, line->level, line->address);
		break;
	case KEYS:
		break;
	}
}

static int hotter(const void *one, const void *other)
{
	const struct line *a = one, *b = other;
	char a_text[256], b_text[256];
	int key, order;

	if (a->period != b->period)
		return a->period > b->period ? -1 : 1;
	/* Equal lines stand in the order of their text, so that a report is the same each time. */
	for (key = KEYS - 1; key >= 0; key--) {
		if ((key == KEY_COMM && !a->comm) || (key == KEY_DSO && !a->object) ||
		    (key == KEY_SYM && !a->level))
			continue;
		key_text(a, (enum key)key, a_text, sizeof(a_text));
		key_text(b, (enum key)key, b_text, sizeof(b_text));
		order = strcmp(a_text, b_text);
		if (order)
			return order;
	}
	return 0;
}

/* "32K" as perf shortens a number of samples. */
static void short_number(uint64_t number, char text[32])
{
	static const char units[] = "\0KMGT";
	size_t unit = 0;

	while (number >= 1000 && unit + 2 < sizeof(units)) {
		number /= 1000;
		unit++;
	}
	snprintf(text, 32, "%" PRIu64 "%.1s", number, &units[unit]);
}

static double percent(const struct table *table, const struct line *line)
{
	return table->period ? 100.0 * (double)line->period / (double)table->period : 0;
}

static void print_titles(const struct report *report, const int width[KEYS])
{
	size_t i;
	int dots;

	fputs("# Overhead", stdout);
	if (report->show_samples)
		fputs("       Samples", stdout);
	for (i = 0; i < report->sort_count; i++) {
		bool last = i + 1 == report->sort_count;

		printf("  %-*s", last ? 0 : width[report->sort[i]], keys[report->sort[i]].title);
	}
	fputs("\n# ........", stdout);
	if (report->show_samples)
		fputs("  ............", stdout);
	for (i = 0; i < report->sort_count; i++) {
		fputs("  ", stdout);
		for (dots = 0; dots < width[report->sort[i]]; dots++)
			putchar('.');
	}
	puts("\n#");
}

static void print_line(const struct report *report, const struct table *table,
		       const struct line *line, const int width[KEYS])
{
	char text[4096];
	size_t i;

	printf("%9.2f%%", percent(table, line));
	if (report->show_samples)
		printf("  %12" PRIu64, line->samples);
	for (i = 0; i < report->sort_count; i++) {
		bool last = i + 1 == report->sort_count;

		key_text(line, report->sort[i], text, sizeof(text));
		printf("  %-*s", last ? 0 : width[report->sort[i]], text);
	}
	putchar('\n');
}

/* Close the gaps of the hash table and put the hottest first. */
static void sort_table(struct table *table)
{
	size_t kept = 0, i;

	for (i = 0; i < table->room; i++) {
		if (table->lines[i].samples)
			table->lines[kept++] = table->lines[i];
	}
	if (kept)
		qsort(table->lines, kept, sizeof(*table->lines), hotter);
}

static void print_event(const struct report *report, size_t event, struct table *table)
{
	char number[32], text[4096];
	int width[KEYS];
	size_t shown = 0, i, k;

	short_number(table->samples, number);
	printf("# Samples: %s of event '%s'\n# Event count (approx.): %" PRIu64 "\n#\n", number,
	       perfdata_event_at(report->profile->reader, event)->name, table->period);
	sort_table(table);
	while (shown < table->count &&
	       percent(table, &table->lines[shown]) >= report->percent_limit)
		shown++;
	for (k = 0; k < report->sort_count; k++) {
		enum key key = report->sort[k];

		width[key] = (int)strlen(keys[key].title);
		for (i = 0; i < shown; i++) {
			key_text(&table->lines[i], key, text, sizeof(text));
			if ((int)strlen(text) > width[key])
				width[key] = (int)strlen(text);
		}
	}
	print_titles(report, width);
	for (i = 0; i < shown; i++)
		print_line(report, table, &table->lines[i], width);
	puts("\n");
}

/* Files that would have given names to at least one sample in a hundred. */
static void complain(const struct report *report, const struct table *table)
{
	size_t i, j;

	for (i = 0; i < table->count; i++) {
		const struct line *line = &table->lines[i];

		if (!line->file || line->symbol || !report->by[KEY_SYM] || percent(table, line) < 1)
			continue;
		for (j = 0; j < i && table->lines[j].file != line->file; j++)
			;
		if (j == i)
			profile_complain(line->file);
	}
}

static void print_report(struct report *report)
{
	size_t events = perfdata_event_count(report->profile->reader), i;
	uint64_t samples = 0;

	if (report->branches || report->callers) {
		struct report_branches how = {.callers = report->callers,
					      .show_count = report->show_samples,
					      .percent_limit = report->percent_limit};

		if (report->header)
			profile_print_about(report->profile);
		report_branches(report->profile, &how);
		return;
	}
	report->tables = tool_alloc(events * sizeof(*report->tables));
	profile_each(report->profile, take, report);
	if (report->header)
		profile_print_about(report->profile);
	for (i = 0; i < events; i++)
		samples += report->tables[i].samples;
	if (samples == 0)
		puts("# The file has no samples.");
	for (i = 0; i < events; i++) {
		if (report->tables[i].samples)
			print_event(report, i, &report->tables[i]);
	}
	fflush(stdout);
	for (i = 0; i < events; i++) {
		complain(report, &report->tables[i]);
		free(report->tables[i].lines);
	}
	free(report->tables);
}

/* Take "comm,dso,sym"; NULL, or the word that is wrong, to free(). */
static char *parse_sort(struct report *report, const char *text)
{
	char *copy = tool_copy(text), *word, *rest = copy, *wrong = NULL;

	report->sort_count = 0;
	memset(report->by, 0, sizeof(report->by));
	while (!wrong && (word = strsep(&rest, ",")) != NULL) {
		int key = 0;

		while (key < KEYS && strcmp(word, keys[key].name) && strcmp(word, keys[key].other))
			key++;
		if (key == KEYS || report->by[key]) {
			wrong = tool_copy(word);
		} else {
			report->sort[report->sort_count++] = (enum key)key;
			report->by[key] = true;
		}
	}
	free(copy);
	return wrong;
}

int cmd_report(int argc, char **argv)
{
	enum { OPTION_LIMIT = 256, OPTION_HEADER, OPTION_STDIO, OPTION_SYMFS };
	static const struct option options[] = {
		{"input", required_argument, NULL, 'i'},
		{"sort", required_argument, NULL, 's'},
		{"branch-stack", no_argument, NULL, 'b'},
		{"call-graph", no_argument, NULL, 'g'},
		{"show-nr-samples", no_argument, NULL, 'n'},
		{"percent-limit", required_argument, NULL, OPTION_LIMIT},
		{"header", no_argument, NULL, OPTION_HEADER},
		{"stdio", no_argument, NULL, OPTION_STDIO},
		{"symfs", required_argument, NULL, OPTION_SYMFS},
		{"help", no_argument, NULL, 'h'},
		{0}};
	const char *input = "perf.data", *root = NULL;
	struct report report = {
		.sort = {KEY_COMM, KEY_DSO, KEY_SYM}, .sort_count = KEYS, .by = {true, true, true}};
	char *end, *wrong;
	int option, status;

	while ((option = getopt_long(argc, argv, ":i:s:bgnh", options, NULL)) != -1) {
		switch (option) {
		case 'i':
			input = optarg;
			break;
		case 's':
			wrong = parse_sort(&report, optarg);
			if (wrong) {
				status = tool_usage_error("report",
							  "cannot sort by '%s': keys are comm, dso "
							  "and sym, each once",
							  wrong);
				free(wrong);
				return status;
			}
			break;
		case 'b':
			report.branches = true;
			break;
		case 'g':
			report.callers = true;
			break;
		case 'n':
			report.show_samples = true;
			break;
		case OPTION_LIMIT:
			report.percent_limit = strtod(optarg, &end);
			if (end == optarg || *end || !(report.percent_limit >= 0) ||
			    report.percent_limit > 100)
				return tool_usage_error(
					"report", "--percent-limit is 0 to 100, not '%s'", optarg);
			break;
		case OPTION_SYMFS:
			root = optarg;
			break;
		case OPTION_HEADER:
			report.header = true;
			break;
		case OPTION_STDIO:
			break;
		case 'h':
			help();
			return output_finish("report", 0);
		default:
			return tool_bad_option("report", option, argv);
		}
	}
	if (report.branches && report.callers)
		return tool_usage_error("report", "-b and -g exclude each other");
	if (optind < argc)
		return tool_usage_error("report", "unexpected argument '%s'; a file is named by -i",
					argv[optind]);
	report.profile = profile_open(input, root);
	if (!report.profile)
		return 1;
	print_report(&report);
	status = report.profile->incomplete ? 1 : 0;
	profile_close(report.profile);
	return output_finish("report", status);
}
