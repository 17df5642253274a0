/* SPDX-License-Identifier: MIT */
/*
 * text.c: a profile in the form of `perf report --stdio`; branches as with --branch-stack.
 */
#include "tools/softpmu/formats/text.h"

#include <inttypes.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/formats/text_graph.h"

/* --- a table of rows --------------------------------------------------------------------- */

#define TEXT_BYTES 4096

struct table {
	const struct format_output *output;
	const struct rows *rows;
	size_t shown;
	int widths[KEYS_MAX]; /* of the columns */
	bool hides[KEYS_MAX]; /* the column would have the same text in each row */
};

/* Returns the only text of a key that the filter takes, or NULL. */
static const char *only_text(const struct filter *filter, const char *key)
{
	const char *list = NULL;

	if (!strcmp(key, "comm"))
		list = filter->comms;
	if (!strcmp(key, "dso"))
		list = filter->dsos;
	if (!strcmp(key, "sym") || !strcmp(key, "symbol"))
		list = filter->symbols;
	return list && !strchr(list, ',') ? list : NULL;
}

/* Hides columns whose text is known, unless these are all.  A caller can be another function than
 * the filter takes, in another file. */
static void hide(struct table *table)
{
	const struct keys *keys = table->rows->keys;
	bool callers = table->rows->how & ROWS_CHILDREN, some = false;

	for (size_t c = 0; c < keys->count; c++) {
		const char *name = keys->list[c]->name;

		table->hides[c] = only_text(&table->output->profile->filter, name) &&
				  !(callers && strcmp(name, "comm") != 0);
		some |= !table->hides[c];
	}
	for (size_t c = 0; c < keys->count; c++)
		table->hides[c] &= some;
}

/* Returns the first column from `column` on that is not hidden. */
static size_t next_column(const struct table *table, size_t column)
{
	while (column < table->rows->keys->count && table->hides[column])
		column++;
	return column;
}

#define EACH_COLUMN(c, table)                                                                      \
	for (size_t c = next_column(table, 0); c < (table)->rows->keys->count;                     \
	     c = next_column(table, c + 1))

static void set_widths(struct table *table)
{
	const struct keys *keys = table->rows->keys;
	char text[TEXT_BYTES];

	for (size_t c = 0; c < keys->count; c++) {
		int *width = &table->widths[c];

		*width = (int)strlen(keys->list[c]->title);
		for (size_t i = 0; i < table->shown; i++) {
			keys->list[c]->text(&table->rows->rows[i].key, text, sizeof(text));
			if ((int)strlen(text) > *width)
				*width = (int)strlen(text);
		}
	}
}

/* The last column is not padded. */
static int pad_of(const struct table *table, size_t column)
{
	return next_column(table, column + 1) < table->rows->keys->count ? table->widths[column]
									 : 0;
}

static void print_titles(const struct table *table)
{
	bool branches = table->output->options->view == FORMAT_BRANCHES;
	bool children = table->rows->how & ROWS_CHILDREN;
	const struct keys *keys = table->rows->keys;
	FILE *to = table->output->to;

	fputs(children ? "# Children      Self" : "# Overhead", to);
	if (table->output->options->show_count)
		fprintf(to, "  %12s", branches ? "Branches" : "Samples");
	EACH_COLUMN (c, table)
		fprintf(to, "  %-*s", pad_of(table, c), keys->list[c]->title);
	fputs(children ? "\n# ........  ........" : "\n# ........", to);
	if (table->output->options->show_count)
		fputs("  ............", to);
	EACH_COLUMN (c, table) {
		fputs("  ", to);
		for (int dots = 0; dots < table->widths[c]; dots++)
			putc('.', to);
	}
	fputs("\n#\n", to);
}

static void print_row(const struct table *table, const struct row *row)
{
	bool branches = table->output->options->view == FORMAT_BRANCHES;
	const struct keys *keys = table->rows->keys;
	FILE *to = table->output->to;
	char text[TEXT_BYTES];

	fprintf(to, "%9.2f%%", rows_percent(table->rows, row->total));
	if (table->rows->how & ROWS_CHILDREN)
		fprintf(to, "%9.2f%%", rows_percent(table->rows, row->self));
	if (table->output->options->show_count)
		fprintf(to, "  %12" PRIu64, branches ? row->self : row->samples);
	EACH_COLUMN (c, table) {
		keys->list[c]->text(&row->key, text, sizeof(text));
		fprintf(to, "  %-*s", pad_of(table, c), text);
	}
	putc('\n', to);
}

static void print_table(const struct format_output *output, const struct rows *rows, size_t shown)
{
	struct table table = {.output = output, .rows = rows, .shown = shown};
	const char *first;

	hide(&table);
	first = rows->keys->list[next_column(&table, 0)]->name;
	set_widths(&table);
	print_titles(&table);
	for (size_t i = 0; i < shown; i++) {
		print_row(&table, &rows->rows[i]);
		if (rows->how & (ROWS_CALLERS | ROWS_CALLEES))
			text_graph_write(output, rows, &rows->rows[i], !strncmp(first, "sym", 3));
	}
	fputs("\n\n", output->to);
}

/* --- the operations ---------------------------------------------------------------------- */

static void print_header(const struct format_output *output)
{
	static const struct {
		const char *what, *label;
	} lines[] = {{"hostname", "hostname"}, {"os release", "os release"},
		     {"version", "version"},   {"cpu", "cpudesc"},
		     {"cpu id", "cpuid"},      {"command line", "cmdline"}};

	fputs("# ========\n", output->to);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const char *text = profile_about(output->profile, lines[i].what);

		if (text)
			fprintf(output->to, "# %s : %s\n", lines[i].label, text);
	}
	fputs("# ========\n#\n", output->to);
}

/* Says what all rows have that the filter takes. */
static void print_filter(const struct format_output *output)
{
	const struct keys *keys = &output->options->keys;
	bool some = false;

	for (size_t c = 0; c < keys->count; c++) {
		const char *name = keys->list[c]->name;
		const char *only = only_text(&output->profile->filter, name);

		if (only)
			fprintf(output->to, "# %s: %s\n", *name == 's' ? "symbol" : name, only);
		some |= only != NULL;
	}
	if (some)
		fputs("#\n", output->to);
}

static void begin(const struct format_output *output)
{
	if (output->options->header)
		print_header(output);
	print_filter(output);
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

static void rows_of_event(const struct format_output *output, size_t event, const struct rows *rows,
			  size_t shown)
{
	const struct aggregation_event *of = &output->aggregation->events[event];
	char number[32];

	short_number(of->samples, number);
	if (output->options->view == FORMAT_BRANCHES)
		fprintf(output->to, "# Branches: %" PRIu64 " of event '%s'\n#\n", of->branch_total,
			of->name);
	else if (of->exact)
		fprintf(output->to, "# Exact counts of event '%s'\n# Event count: %" PRIu64 "\n#\n",
			of->name, of->period);
	else
		fprintf(output->to,
			"# Samples: %s of event '%s'\n# Event count (approx.): %" PRIu64 "\n#\n",
			number, of->name, of->period);
	if (output->options->graph == FORMAT_YES && of->exact)
		fputs("# An exact profile has calls but no call chains: see softpmu export --to "
		      "callgrind.\n#\n",
		      output->to);
	else if (output->options->graph == FORMAT_YES && !of->call_chains)
		fputs("# The samples have no call chains: see softpmu record --call-graph.\n#\n",
		      output->to);
	print_table(output, rows, shown);
}

static void nothing(const struct format_output *output)
{
	bool chains = false;

	if (output->options->view == FORMAT_SAMPLES) {
		fputs("# The file has no samples.\n", output->to);
		return;
	}
	for (size_t i = 0; i < output->aggregation->event_count; i++)
		chains |= output->aggregation->events[i].call_chains;
	fputs(chains ? "# The file has call chains, not branches: see softpmu report -g.\n"
		     : "# The file has no branches.\n",
	      output->to);
}

const struct format text_format = {
	.name = "text",
	.begin = begin,
	.rows = rows_of_event,
	.nothing = nothing,
};
