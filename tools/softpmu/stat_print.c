/* SPDX-License-Identifier: MIT */
/*
 * stat_print.c: perf stat's text, JSON and field output, with fidelity.
 *
 * Fidelity stands behind the name in text, as "fidelity" in JSON and as the
 * last field with -x; all else is where perf has it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "stat_print.h"

#define NAME_WIDTH 25

/* --- the table ----------------------------------------------------------------------- */

static void spread_add(struct spread *spread, double value)
{
	double delta = value - spread->mean;

	spread->count++;
	spread->mean += delta / (double)spread->count;
	spread->squares += delta * (value - spread->mean);
}

/* The standard error of the mean, as perf's +-. */
static double spread_error(const struct spread *spread)
{
	if (spread->count < 2)
		return 0;
	return sqrt(spread->squares / (double)(spread->count - 1) / (double)spread->count);
}

static double spread_percent(const struct spread *spread)
{
	return spread->mean != 0 ? 100 * spread_error(spread) / spread->mean : 0;
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

void stat_table_start(struct stat_table *table)
{
	table->counts = tool_alloc(table->events.count * sizeof(*table->counts));
}

void stat_table_add(struct stat_table *table, const struct launch_result *result)
{
	size_t from = 0;

	table->runs++;
	spread_add(&table->elapsed, (double)result->elapsed_ns / 1e9);
	spread_add(&table->user, seconds(result->usage.ru_utime));
	spread_add(&table->system, seconds(result->usage.ru_stime));
	for (size_t i = 0; i < table->events.count; i++) {
		struct stat_count *count = &table->counts[i];

		if (table->events.event[i].fidelity == SPMU_ABSENT)
			continue;
		count->value = result->count[from++];
		count->counted = result->end == LAUNCH_DONE;
		if (count->counted)
			spread_add(&count->values, (double)count->value);
	}
}

void stat_table_free(struct stat_table *table)
{
	events_free(&table->events);
	free(table->counts);
	free(table->command);
	free(table->baseline_version);
}

static const char *fidelity_name(enum spmu_fidelity fidelity)
{
	switch (fidelity) {
	case SPMU_EXACT:
		return "exact";
	case SPMU_MODELLED:
		return "modelled";
	default:
		return "absent";
	}
}

static double value_of(const struct stat_table *table, size_t index)
{
	return table->runs > 1 ? table->counts[index].values.mean
			       : (double)table->counts[index].value;
}

/* What stands in place of a number; NULL when there is one. */
static const char *no_number(const struct stat_table *table, size_t index)
{
	if (table->events.event[index].fidelity == SPMU_ABSENT)
		return "<not supported>";
	return table->counts[index].counted ? NULL : "<not counted>";
}

/* --- the baseline ------------------------------------------------------------------------ */

/* Percent more than the baseline's; from nothing to something there is no number of percents. */
static double change_of(const struct stat_table *table, size_t index)
{
	double now = value_of(table, index), before = table->counts[index].baseline;

	if (now == before)
		return 0;
	return before != 0 ? 100 * (now - before) / before : INFINITY;
}

static bool can_compare(const struct stat_table *table, size_t index)
{
	return table->baseline && table->counts[index].has_baseline && !no_number(table, index);
}

static bool is_beyond(const struct stat_table *table, size_t index)
{
	double change = change_of(table, index);

	return (table->threshold.only_more ? change : fabs(change)) > table->threshold.percent;
}

bool stat_table_changed(const struct stat_table *table)
{
	for (size_t i = 0; i < table->events.count; i++) {
		if (can_compare(table, i) && is_beyond(table, i))
			return true;
	}
	return false;
}

/* --- metrics ----------------------------------------------------------------------------- */

/* The event that counts just these signals, as it is; -1 when the table has none. */
static int find_base(const struct stat_table *table, uint64_t signals)
{
	for (size_t i = 0; i < table->events.count; i++) {
		const struct event *event = &table->events.event[i];

		if (event->row && event->row->signals == signals && event->fidelity == SPMU_EXACT &&
		    !no_number(table, i) && table->counts[i].value)
			return (int)i;
	}
	return -1;
}

/* A branch as its share of all branches, anything else by instruction; false without either. */
static bool metric_of(const struct stat_table *table, size_t index, double *value,
		      const char **unit)
{
	const struct event *event = &table->events.event[index];
	uint64_t signals = event->row ? event->row->signals : 0;
	int base;

	if (no_number(table, index) || event->fidelity != SPMU_EXACT)
		return false;
	if (!(signals & ~SPMU_SIGSET_BRANCHES) && signals != SPMU_SIGSET_BRANCHES) {
		base = find_base(table, SPMU_SIGSET_BRANCHES);
		if (base >= 0) {
			*value = 100 * value_of(table, index) / value_of(table, (size_t)base);
			*unit = "% of all branches";
			return true;
		}
	}
	base = find_base(table, SPMU_SIGBIT(INSTRUCTIONS));
	if (base < 0 || signals == SPMU_SIGBIT(INSTRUCTIONS))
		return false;
	*value = value_of(table, index) / value_of(table, (size_t)base);
	*unit = "per instruction";
	return true;
}

/* --- text ------------------------------------------------------------------------------- */

/* 1234567 as 1,234,567; `to` holds 32 bytes. */
static const char *with_commas(double value, uint64_t exact, bool is_exact, char *to)
{
	char digits[32];
	size_t length, at = 0;

	if (is_exact)
		snprintf(digits, sizeof(digits), "%llu", (unsigned long long)exact);
	else
		snprintf(digits, sizeof(digits), "%.0f", value);
	length = strlen(digits);
	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			to[at++] = ',';
		to[at++] = digits[i];
	}
	to[at] = '\0';
	return to;
}

static void print_row(const struct stat_table *table, size_t index, int width, FILE *file)
{
	const struct event *event = &table->events.event[index];
	const struct stat_count *count = &table->counts[index];
	const char *missing = no_number(table, index);
	const char *unit;
	char number[64];
	double metric;

	fprintf(file, "%18s      %-*s %-8s",
		missing ? missing
			: with_commas(count->values.mean, count->value, table->runs == 1, number),
		width, event->name, fidelity_name(event->fidelity));
	if (metric_of(table, index, &metric, &unit))
		fprintf(file, "  # %8.3f %-18s", metric, unit);
	else if (table->runs > 1)
		fprintf(file, "  %-29s", "");
	if (table->runs > 1 && !missing)
		fprintf(file, "  ( +-%6.2f%% )", spread_percent(&count->values));
	fputc('\n', file);
}

static void print_times(const struct stat_table *table, FILE *file)
{
	if (table->runs > 1) {
		fprintf(file, "%18.7f +- %.7f seconds time elapsed  ( +-%6.2f%% )\n\n",
			table->elapsed.mean, spread_error(&table->elapsed),
			spread_percent(&table->elapsed));
		return;
	}
	fprintf(file, "%18.9f seconds time elapsed\n\n", table->elapsed.mean);
	fprintf(file, "%18.9f seconds user\n", table->user.mean);
	fprintf(file, "%18.9f seconds sys\n\n\n", table->system.mean);
}

/* One line for each reason that something is absent. */
static void print_reasons(const struct stat_table *table, FILE *file)
{
	bool some = false;

	for (size_t i = 0; i < table->events.count; i++) {
		const char *reason = table->events.event[i].absent_reason;
		bool first = reason;

		for (size_t j = 0; j < i && first; j++) {
			const char *before = table->events.event[j].absent_reason;

			first = !before || strcmp(before, reason);
		}
		if (!first)
			continue;
		fprintf(file, "%s absent:", some ? "" : "\n");
		for (size_t j = i; j < table->events.count; j++) {
			const char *same = table->events.event[j].absent_reason;

			if (same && !strcmp(same, reason))
				fprintf(file, "%s %s", j == i ? "" : ",",
					table->events.event[j].name);
		}
		fprintf(file, " (%s)\n", reason);
		some = true;
	}
}

static void print_change(const struct stat_table *table, size_t index, int width, FILE *file)
{
	const struct stat_count *count = &table->counts[index];
	double before = count->baseline, change = change_of(table, index);
	double more = value_of(table, index) - before;
	char then[64], now[64], number[64];

	number[0] = more < 0 ? '-' : '+';
	with_commas(fabs(more), 0, false, number + 1);
	fprintf(file, "%18s %18s      %-*s %18s  ", with_commas(before, 0, false, then),
		with_commas(count->values.mean, count->value, table->runs == 1, now), width,
		table->events.event[index].name, more == 0 ? "0" : number);
	if (isfinite(change))
		fprintf(file, "%+10.4f %%", change);
	else
		fprintf(file, "%10s  ", "from none");
	fprintf(file, "%s\n", is_beyond(table, index) ? "  beyond the threshold" : "");
}

static void print_changes(const struct stat_table *table, int width, FILE *file)
{
	const char *version = table->baseline_version;

	if (!table->baseline)
		return;
	fprintf(file, " Baseline %s", table->baseline);
	if (table->label)
		fprintf(file, ", benchmark '%s'", table->label);
	fprintf(file, ", threshold %s%g %%", table->threshold.only_more ? "+" : "",
		table->threshold.percent);
	if (version && strcmp(version, SPMU_VERSION_STRING))
		fprintf(file, " (written by softpmu %s, this is %s)", version, SPMU_VERSION_STRING);
	fprintf(file, ":\n\n%18s %18s      %-*s %18s  %12s\n", "baseline", "now", width, "event",
		"change", "in percent");
	for (size_t i = 0; i < table->events.count; i++) {
		if (can_compare(table, i))
			print_change(table, i, width, file);
	}
	fputc('\n', file);
}

void stat_print_text(const struct stat_table *table, const char *output, FILE *file)
{
	int width = NAME_WIDTH;

	for (size_t i = 0; i < table->events.count; i++) {
		int length = (int)strlen(table->events.event[i].name);

		if (length > width)
			width = length;
	}
	if (output) {
		time_t now = time(NULL);

		fprintf(file, "# started on %s\n", ctime(&now));
	}
	fprintf(file, "\n Performance counter stats for '%s'", table->command);
	if (table->runs > 1)
		fprintf(file, " (%llu runs)", (unsigned long long)table->runs);
	fputs(":\n\n", file);
	for (size_t i = 0; i < table->events.count; i++)
		print_row(table, i, width, file);
	print_reasons(table, file);
	fputc('\n', file);
	print_changes(table, width, file);
	print_times(table, file);
}

/* --- JSON and fields ---------------------------------------------------------------------- */

static void print_json_text(const char *text, FILE *file)
{
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(file, "\\%c", *text);
		else if ((unsigned char)*text < 0x20)
			fprintf(file, "\\u%04x", *text);
		else
			fputc(*text, file);
	}
	fputc('"', file);
}

/* Nanoseconds that the event was counted: the program's time on a processor. */
static double runtime_of(const struct stat_table *table, size_t index)
{
	return no_number(table, index) ? 0 : (table->user.mean + table->system.mean) * 1e9;
}

/* What a baseline is checked by. */
static void print_json_origin(const struct stat_table *table, FILE *file)
{
	fprintf(file, ", \"model\" : \"%s\", \"version\" : \"%s\", \"command\" : ",
		spmu_model_info(table->model).name, SPMU_VERSION_STRING);
	print_json_text(table->command, file);
	if (!table->label)
		return;
	fputs(", \"label\" : ", file);
	print_json_text(table->label, file);
}

static void print_json_change(const struct stat_table *table, size_t index, FILE *file)
{
	double change = change_of(table, index);

	fprintf(file, ", \"baseline-value\" : \"%.6f\", \"change-percent\" : ",
		table->counts[index].baseline);
	if (isfinite(change))
		fprintf(file, "%.6f", change);
	else
		fputs("null", file);
	fprintf(file, ", \"beyond-threshold\" : %s", is_beyond(table, index) ? "true" : "false");
}

void stat_print_json(const struct stat_table *table, FILE *file)
{
	for (size_t i = 0; i < table->events.count; i++) {
		const struct event *event = &table->events.event[i];
		const char *missing = no_number(table, i);
		const char *unit = "";
		double metric = 0;

		metric_of(table, i, &metric, &unit);
		if (missing)
			fprintf(file, "{\"counter-value\" : \"%s\", ", missing);
		else if (table->runs > 1)
			fprintf(file, "{\"counter-value\" : \"%.6f\", ", value_of(table, i));
		else
			fprintf(file, "{\"counter-value\" : \"%llu.000000\", ",
				(unsigned long long)table->counts[i].value);
		fputs("\"unit\" : \"\", \"event\" : ", file);
		print_json_text(event->name, file);
		if (table->runs > 1)
			fprintf(file, ", \"variance\" : %.2f",
				spread_percent(&table->counts[i].values));
		fprintf(file,
			", \"event-runtime\" : %.0f, \"pcnt-running\" : 100.00, "
			"\"metric-value\" : %.6f, \"metric-unit\" : \"%s\", "
			"\"fidelity\" : \"%s\"",
			runtime_of(table, i), metric, unit, fidelity_name(event->fidelity));
		print_json_origin(table, file);
		if (can_compare(table, i))
			print_json_change(table, i, file);
		fputs("}\n", file);
	}
}

/* Three fields; empty where there is nothing to compare. */
static void print_field_change(const struct stat_table *table, size_t index, const char *separator,
			       FILE *file)
{
	if (!can_compare(table, index)) {
		fprintf(file, "%s%s%s", separator, separator, separator);
		return;
	}
	fprintf(file, "%s%.0f%s%.6f%s%s", separator, table->counts[index].baseline, separator,
		change_of(table, index), separator, is_beyond(table, index) ? "beyond" : "within");
}

void stat_print_fields(const struct stat_table *table, const char *separator, FILE *file)
{
	for (size_t i = 0; i < table->events.count; i++) {
		const struct event *event = &table->events.event[i];
		const char *missing = no_number(table, i);
		const char *unit = "";
		double metric;

		if (missing)
			fputs(missing, file);
		else if (table->runs > 1)
			fprintf(file, "%.0f", value_of(table, i));
		else
			fprintf(file, "%llu", (unsigned long long)table->counts[i].value);
		fprintf(file, "%s%s%s", separator, separator, event->name);
		if (table->runs > 1)
			fprintf(file, "%s%.2f%%", separator,
				spread_percent(&table->counts[i].values));
		fprintf(file, "%s%.0f%s100.00%s", separator, runtime_of(table, i), separator,
			separator);
		if (metric_of(table, i, &metric, &unit))
			fprintf(file, "%.3f", metric);
		fprintf(file, "%s%s%s%s", separator, unit, separator,
			fidelity_name(event->fidelity));
		if (table->baseline)
			print_field_change(table, i, separator, file);
		fputc('\n', file);
	}
}
