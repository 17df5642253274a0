/* SPDX-License-Identifier: MIT */
/*
 * text.c: a profile in the form of `perf report --stdio`; branches as with --branch-stack, without
 * its clocks.
 */
#include "tools/softpmu/formats/text.h"

#include <inttypes.h>
#include <string.h>

/* --- a table of rows --------------------------------------------------------------------- */

#define COLUMNS_MAX 4

struct column {
	const char *title;
	void (*text)(const struct row *row, char *text, size_t bytes);
	int width;
};

struct table {
	struct column columns[COLUMNS_MAX];
	size_t count;
	const char *count_title; /* NULL: without counts */
	bool count_samples;	 /* the number of samples, otherwise the weight */
};

static void comm_text(const struct row *row, char *text, size_t bytes)
{
	snprintf(text, bytes, "%s", row->comm);
}

static void object_text(const struct row *row, char *text, size_t bytes)
{
	snprintf(text, bytes, "%s", profile_short(row->object));
}

static void from_text(const struct row *row, char *text, size_t bytes)
{
	rows_end_text(&row->from, text, bytes);
}

static void to_text(const struct row *row, char *text, size_t bytes)
{
	rows_end_text(&row->to, text, bytes);
}

static void set_widths(struct table *table, const struct rows *rows, size_t shown)
{
	char text[4096];

	for (size_t c = 0; c < table->count; c++) {
		struct column *column = &table->columns[c];

		column->width = (int)strlen(column->title);
		for (size_t i = 0; i < shown; i++) {
			column->text(&rows->rows[i], text, sizeof(text));
			if ((int)strlen(text) > column->width)
				column->width = (int)strlen(text);
		}
	}
}

/* The last column is not padded. */
static int pad_of(const struct table *table, size_t column)
{
	return column + 1 < table->count ? table->columns[column].width : 0;
}

static void print_titles(const struct table *table, FILE *to)
{
	fputs("# Overhead", to);
	if (table->count_title)
		fprintf(to, "  %12s", table->count_title);
	for (size_t c = 0; c < table->count; c++)
		fprintf(to, "  %-*s", pad_of(table, c), table->columns[c].title);
	fputs("\n# ........", to);
	if (table->count_title)
		fputs("  ............", to);
	for (size_t c = 0; c < table->count; c++) {
		fputs("  ", to);
		for (int dots = 0; dots < table->columns[c].width; dots++)
			putc('.', to);
	}
	fputs("\n#\n", to);
}

static void print_table(struct table *table, const struct format_output *output,
			const struct rows *rows, size_t shown)
{
	FILE *to = output->to;
	char text[4096];

	if (!output->options->show_count)
		table->count_title = NULL;
	set_widths(table, rows, shown);
	print_titles(table, to);
	for (size_t i = 0; i < shown; i++) {
		const struct row *row = &rows->rows[i];

		fprintf(to, "%9.2f%%", rows_percent(rows, row));
		if (table->count_title)
			fprintf(to, "  %12" PRIu64,
				table->count_samples ? row->samples : row->weight);
		for (size_t c = 0; c < table->count; c++) {
			table->columns[c].text(row, text, sizeof(text));
			fprintf(to, "  %-*s", pad_of(table, c), text);
		}
		putc('\n', to);
	}
	fputs("\n\n", to);
}

/* --- the operations ---------------------------------------------------------------------- */

static void begin(const struct format_output *output)
{
	static const struct {
		const char *what, *label;
	} lines[] = {{"hostname", "hostname"}, {"os release", "os release"},
		     {"version", "version"},   {"cpu", "cpudesc"},
		     {"cpu id", "cpuid"},      {"command line", "cmdline"}};

	if (!output->options->header)
		return;
	fputs("# ========\n", output->to);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const char *text = perfdata_about_text(output->profile->reader, lines[i].what);

		if (text)
			fprintf(output->to, "# %s : %s\n", lines[i].label, text);
	}
	fputs("# ========\n#\n", output->to);
}

/* Shortens a number of samples as perf does: "32K". */
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

static void functions(const struct format_output *output, size_t event, const struct rows *rows,
		      size_t shown)
{
	static const struct column columns[ROWS_KEYS] = {
		[ROWS_BY_COMM] = {"Command", comm_text, 0},
		[ROWS_BY_OBJECT] = {"Shared Object", object_text, 0},
		[ROWS_BY_SYMBOL] = {"Symbol", from_text, 0},
	};
	const struct aggregation_event *of = &output->aggregation->events[event];
	struct table table = {.count_title = "Samples", .count_samples = true};
	char number[32];

	short_number(of->samples, number);
	fprintf(output->to,
		"# Samples: %s of event '%s'\n# Event count (approx.): %" PRIu64 "\n#\n", number,
		of->name, of->period);
	for (size_t i = 0; i < output->options->key_count; i++)
		table.columns[table.count++] = columns[output->options->keys[i]];
	print_table(&table, output, rows, shown);
}

static void branches(const struct format_output *output, size_t event, const struct rows *rows,
		     size_t shown)
{
	const struct aggregation_event *of = &output->aggregation->events[event];
	struct table table = {.columns = {{"Command", comm_text, 0},
					  {"Source Shared Object", object_text, 0},
					  {"Source Symbol", from_text, 0},
					  {"Target Symbol", to_text, 0}},
			      .count = 4,
			      .count_title = "Branches"};

	fprintf(output->to, "# Branches: %" PRIu64 " of event '%s'\n#\n", of->edges, of->name);
	print_table(&table, output, rows, shown);
}

static void callers(const struct format_output *output, size_t event, const struct rows *rows,
		    size_t shown)
{
	const struct aggregation_event *of = &output->aggregation->events[event];
	struct table table = {.columns = {{"Command", comm_text, 0},
					  {"Caller's Shared Object", object_text, 0},
					  {"Caller", from_text, 0},
					  {"Function", to_text, 0}},
			      .count = 4,
			      .count_title = "Count"};

	fprintf(output->to,
		"# Callers: in %" PRIu64 " samples of event '%s'\n"
		"# Overhead: of the samples in which the call had not returned.\n#\n",
		of->samples, of->name);
	print_table(&table, output, rows, shown);
}

static void nothing(const struct format_output *output, bool other)
{
	static const char *const lines[][2] = {
		[FORMAT_FUNCTIONS] = {"# The file has no samples.", "# The file has no samples."},
		[FORMAT_BRANCHES] =
			{"# The file has no branches.",
			 "# The file has call chains, not branches: see softpmu report -g."},
		[FORMAT_CALLERS] =
			{"# The file has no call chains.",
			 "# The file has branches, not call chains: see softpmu report -b."},
	};

	fprintf(output->to, "%s\n", lines[output->options->view][other]);
}

const struct format text_format = {
	.name = "text",
	.begin = begin,
	.functions = functions,
	.branches = branches,
	.callers = callers,
	.nothing = nothing,
};
