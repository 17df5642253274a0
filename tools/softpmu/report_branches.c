/* SPDX-License-Identifier: MIT */
/*
 * report_branches.c: the branches that samples and traces hold, from which function to which, in
 * the form of `perf report --stdio --branch-stack` without its clocks; and callers.
 *
 * In a file with call chains the last branch records of a sample are the calls that have not
 * returned.  A pair of caller and function counts with the period of each sample that has it,
 * once, however often the functions call each other.
 */
#include "tools/softpmu/report_branches.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/commands.h"

enum column { COLUMN_COMM, COLUMN_OBJECT, COLUMN_FROM, COLUMN_TO, COLUMNS };

static const char *const branch_titles[COLUMNS] = {"Command", "Source Shared Object",
						   "Source Symbol", "Target Symbol"};
static const char *const caller_titles[COLUMNS] = {"Command", "Caller's Shared Object", "Caller",
						   "Function"};

/* One end: its function, or its address when that is unknown. */
struct end {
	const struct symbol *symbol;
	uint64_t address;
	char level;
};

struct line {
	const char *comm, *object;
	struct end from, to;
	uint64_t count;	 /* 0: a free place */
	uint64_t sample; /* the last that it was counted for, among callers */
};

/* The lines of one event; open addressing. */
struct table {
	struct line *lines;
	size_t used, room;
	uint64_t branches;	  /* or calls */
	uint64_t whole;		  /* what 100 % are */
	uint64_t samples, period; /* the number and the period of the newest sample */
	bool callers;
};

static uint64_t mix(uint64_t sum, uint64_t value)
{
	return (sum ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

static struct line *find(struct line *lines, size_t room, const struct line *like)
{
	uint64_t sum = mix(mix((uintptr_t)like->comm, (uintptr_t)like->object),
			   (uintptr_t)like->from.symbol + like->from.address);
	size_t i = (size_t)(mix(sum, (uintptr_t)like->to.symbol + like->to.address) >> 24);

	for (i &= room - 1; lines[i].count; i = (i + 1) & (room - 1)) {
		const struct line *line = &lines[i];

		if (line->comm == like->comm && line->object == like->object &&
		    line->from.symbol == like->from.symbol &&
		    line->from.address == like->from.address &&
		    line->to.symbol == like->to.symbol && line->to.address == like->to.address)
			break;
	}
	return &lines[i];
}

static void grow(struct table *table)
{
	size_t room = table->room ? 2 * table->room : 1024;
	struct line *lines = tool_alloc(room * sizeof(*lines));

	for (size_t i = 0; i < table->room; i++) {
		if (table->lines[i].count)
			*find(lines, room, &table->lines[i]) = table->lines[i];
	}
	free(table->lines);
	table->lines = lines;
	table->room = room;
}

static struct end end_of(const struct profile_sample *place)
{
	return (struct end){place->symbol, place->symbol ? 0 : place->address, place->level};
}

static void take(void *opaque, const struct profile_sample *from, const struct profile_sample *to)
{
	struct table *table = (struct table *)opaque + from->event;
	struct line like = {from->comm, from->object, end_of(from), end_of(to), 0, 0}, *line;

	if (2 * table->used >= table->room)
		grow(table);
	line = find(table->lines, table->room, &like);
	if (!line->count) {
		*line = like;
		table->used++;
	}
	table->branches++;
	if (table->callers && line->sample == table->samples)
		return;
	line->sample = table->samples;
	line->count += table->callers ? table->period : 1;
	table->whole += !table->callers;
}

static void begin_sample(void *opaque, const struct profile_sample *sample)
{
	struct table *table = (struct table *)opaque + sample->event;

	if (!table->callers)
		return;
	table->samples++;
	table->period = sample->period;
	table->whole += sample->period;
}

/* --- printing ------------------------------------------------------------------------------ */

static void end_text(const struct end *end, char *text, size_t bytes)
{
	if (end->symbol)
		snprintf(text, bytes, "[%c] %s", end->level, end->symbol->name);
	else
		snprintf(text, bytes, "[%c] 0x%016" PRIx64, end->level, end->address);
}

static void column_text(const struct line *line, enum column column, char *text, size_t bytes)
{
	switch (column) {
	case COLUMN_COMM:
		snprintf(text, bytes, "%s", line->comm);
		break;
	case COLUMN_OBJECT:
		snprintf(text, bytes, "%s", profile_short(line->object));
		break;
	case COLUMN_FROM:
		end_text(&line->from, text, bytes);
		break;
	case COLUMN_TO:
	default:
		end_text(&line->to, text, bytes);
		break;
	}
}

/* The most frequent first, equal ones in the order of their text. */
static int by_count(const void *one, const void *other)
{
	const struct line *a = one, *b = other;
	char a_text[256], b_text[256];

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	for (int column = COLUMN_FROM; column < COLUMNS; column++) {
		int order;

		column_text(a, (enum column)column, a_text, sizeof(a_text));
		column_text(b, (enum column)column, b_text, sizeof(b_text));
		order = strcmp(a_text, b_text);
		if (order)
			return order;
	}
	return 0;
}

static void sort(struct table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->room; i++) {
		if (table->lines[i].count)
			table->lines[kept++] = table->lines[i];
	}
	if (kept)
		qsort(table->lines, kept, sizeof(*table->lines), by_count);
}

static void print_titles(const char *const titles[COLUMNS], const int width[COLUMNS],
			 bool show_count, bool callers)
{
	fputs("# Overhead", stdout);
	if (show_count)
		fputs(callers ? "         Count" : "      Branches", stdout);
	for (int column = 0; column < COLUMNS; column++)
		printf("  %-*s", column + 1 < COLUMNS ? width[column] : 0, titles[column]);
	fputs("\n# ........", stdout);
	if (show_count)
		fputs("  ............", stdout);
	for (int column = 0; column < COLUMNS; column++) {
		fputs("  ", stdout);
		for (int dot = 0; dot < width[column]; dot++)
			putchar('.');
	}
	puts("\n#");
}

static void print_lines(const struct table *table, size_t shown, bool show_count)
{
	const char *const *titles = table->callers ? caller_titles : branch_titles;
	int width[COLUMNS];
	char text[4096];

	for (int column = 0; column < COLUMNS; column++) {
		width[column] = (int)strlen(titles[column]);
		for (size_t i = 0; i < shown; i++) {
			column_text(&table->lines[i], (enum column)column, text, sizeof(text));
			if ((int)strlen(text) > width[column])
				width[column] = (int)strlen(text);
		}
	}
	print_titles(titles, width, show_count, table->callers);
	for (size_t i = 0; i < shown; i++) {
		const struct line *line = &table->lines[i];

		printf("%9.2f%%", 100.0 * (double)line->count / (double)table->whole);
		if (show_count)
			printf("  %12" PRIu64, line->count);
		for (int column = 0; column < COLUMNS; column++) {
			column_text(line, (enum column)column, text, sizeof(text));
			printf("  %-*s", column + 1 < COLUMNS ? width[column] : 0, text);
		}
		putchar('\n');
	}
	puts("\n");
}

static bool has_callers(const struct profile *profile, size_t event)
{
	return perfdata_event_at(profile->reader, event)->attr.branch_sample_type &
	       PERF_SAMPLE_BRANCH_CALL_STACK;
}

static void print_table(struct table *table, const char *event, const struct report_branches *how)
{
	size_t shown = 0;

	sort(table);
	while (shown < table->used && 100.0 * (double)table->lines[shown].count >=
					      how->percent_limit * (double)table->whole)
		shown++;
	if (table->callers)
		printf("# Callers: in %" PRIu64 " samples of event '%s'\n"
		       "# Overhead: of the samples in which the call had not returned.\n#\n",
		       table->samples, event);
	else
		printf("# Branches: %" PRIu64 " of event '%s'\n#\n", table->branches, event);
	print_lines(table, shown, how->show_count);
}

/* Callers are no branches of a run, and branches are no callers. */
static void say_none(bool others, bool callers)
{
	if (callers)
		puts(others ? "# The file has branches, not call chains: see softpmu report -b."
			    : "# The file has no call chains.");
	else
		puts(others ? "# The file has call chains, not branches: see softpmu report -g."
			    : "# The file has no branches.");
}

void report_branches(struct profile *profile, const struct report_branches *how)
{
	size_t events = perfdata_event_count(profile->reader);
	struct table *tables = tool_alloc(events * sizeof(*tables));
	struct profile_visitor visitor = {.sample = begin_sample, .branch = take, .opaque = tables};
	bool some = false, others = false;

	for (size_t i = 0; i < events; i++)
		tables[i].callers = has_callers(profile, i);
	profile_visit(profile, &visitor);
	for (size_t i = 0; i < events; i++) {
		if (tables[i].branches && tables[i].callers == how->callers) {
			print_table(&tables[i], perfdata_event_at(profile->reader, i)->name, how);
			some = true;
		}
		others |= tables[i].branches != 0;
		free(tables[i].lines);
	}
	if (!some)
		say_none(others, how->callers);
	free(tables);
}
