/* SPDX-License-Identifier: MIT */
/*
 * stat_print.c: perf stat's text, JSON and field output, with fidelity.
 *
 * Fidelity is after the name in text, "fidelity" in JSON, and the last field with -x.  All else is
 * where perf has it.  With --per-thread each event has a row for each thread, which begins with the
 * thread's name.
 */
#include "tools/softpmu/counts/stat_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/counts/metrics.h"
#include "tools/softpmu/counts/stat_regions.h"
#include "tools/softpmu/counts/stat_threads.h"
#include "tools/softpmu/events/catalog.h"

#define NAME_WIDTH 25

/* --- rows ------------------------------------------------------------------------------- */

/* How a row is printed. */
struct form {
	FILE *file;
	int width;	       /* of the names of events, in text */
	const char *separator; /* of fields */
};

/* Prints the row of each event, or one for each event and thread. */
static void print_rows(const struct stat_table *table, stat_threads_row *row, struct form *form)
{
	for (size_t i = 0; i < table->events.count; i++) {
		if (table->threads)
			stat_threads_each(table, i, row, form);
		else
			row(form, table, i);
	}
}

/* Prints the time of an interval before its counts. */
static void print_time(const struct stat_table *table, const char *end, FILE *file)
{
	if (table->until_ns)
		fprintf(file, "%6" PRIu64 ".%09" PRIu64 "%s", table->until_ns / 1000000000,
			table->until_ns % 1000000000, end);
}

/* --- text ------------------------------------------------------------------------------- */

/* Writes 1234567 as 1,234,567.  `to` holds 32 bytes. */
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

static const char *fidelity_text(const struct stat_table *table, size_t index)
{
	return stat_table_is_measured(table, index)
		       ? "measured"
		       : catalog_fidelity_text(table->events.event[index].fidelity);
}

/* Writes the number as JSON and fields have it.  `to` holds 64 bytes. */
static const char *number_text(const struct stat_table *table, size_t index, bool decimals,
			       char *to)
{
	const char *unit = event_kernel_unit(table->events.event[index].kernel);
	double value = stat_table_value(table, index);

	if (!strcmp(unit, "msec"))
		snprintf(to, 64, decimals ? "%.6f" : "%.2f", value / 1e6);
	else if (table->runs > 1)
		snprintf(to, 64, decimals ? "%.6f" : "%.0f", value);
	else
		snprintf(to, 64, decimals ? "%llu.000000" : "%llu",
			 (unsigned long long)table->counts[index].value);
	return to;
}

const char *stat_print_commas(double value, char to[STAT_PRINT_NUMBER])
{
	return with_commas(value, 0, false, to);
}

static void print_row(void *opaque, const struct stat_table *table, size_t index)
{
	const struct form *form = opaque;
	const struct event *event = &table->events.event[index];
	const struct stat_count *count = &table->counts[index];
	const char *missing = stat_table_no_number(table, index);
	const char *unit, *name_unit, *dash = table->thread ? strrchr(table->thread, '-') : NULL;
	FILE *file = form->file;
	char number[64];
	double metric;

	print_time(table, " ", file);
	if (dash) /* as wide as perf's: the name to the right, the number to the left */
		fprintf(file, "%16.*s-%-8s", (int)(dash - table->thread), table->thread, dash + 1);
	name_unit = missing ? "" : event_kernel_unit(event->kernel);
	if (missing)
		snprintf(number, sizeof(number), "%s", missing);
	else if (!strcmp(name_unit, "msec"))
		number_text(table, index, false, number);
	else
		with_commas(count->values.mean, count->value, table->runs == 1, number);
	fprintf(file, "%18s %-4s %-*s %-8s", number, name_unit, form->width, event->name,
		fidelity_text(table, index));
	if (stat_table_metric(table, index, &metric, &unit))
		fprintf(file, "  # %8.3f %-18s", metric, unit);
	else if (table->runs > 1 || (!missing && count->within >= 0))
		fprintf(file, "  %-29s", "");
	if (table->runs > 1 && !missing)
		fprintf(file, "  ( +-%6.2f%% )", stat_table_spread_percent(&count->values));
	else if (!missing && count->within >= 0)
		fprintf(file, "  ( +-%6.2f%% )", count->within);
	fputc('\n', file);
}

/* Prints perf's events of the kernel.  They are those of the run as it is: the program and the
 * engine together. */
static void print_system(const struct stat_table *table, int width, FILE *file)
{
	double milliseconds = 1e3 * (table->user.mean + table->kernel.mean);
	char number[64];

	if (!table->system)
		return;
	fprintf(file, "%15.2f msec %-*s %-8s  # %8.3f %-18s\n", milliseconds, width + 1,
		"task-clock", "measured",
		table->elapsed.mean > 0 ? milliseconds / 1e3 / table->elapsed.mean : 0,
		"CPUs utilized");
	fprintf(file, "%18s      %-*s %-8s\n", with_commas(table->switches.mean, 0, false, number),
		width, "context-switches", "measured");
	fprintf(file, "%18s      %-*s %-8s\n", "<not supported>", width, "cpu-migrations",
		"absent");
	fprintf(file, "%18s      %-*s %-8s\n", with_commas(table->faults.mean, 0, false, number),
		width, "page-faults", "measured");
}

static void print_metrics(const struct stat_table *table, FILE *file)
{
	struct metric_value value;
	bool some = false;

	for (size_t i = 0; table->metrics && metrics_value(table->metrics, table, i, &value); i++) {
		if (!value.name)
			continue;
		if (!some && !table->until_ns)
			fputs("\n metrics:\n\n", file);
		some = true;
		print_time(table, " ", file);
		if (value.known)
			fprintf(file, "%18.*f %-4s %-30s  # %s\n", *value.unit ? 1 : 3, value.value,
				value.unit, value.name, value.description);
		else
			fprintf(file, "%18s %-4s %-30s  # %s\n", "<not supported>", "", value.name,
				value.description);
	}
}

static void print_times(const struct stat_table *table, FILE *file)
{
	if (table->runs > 1) {
		fprintf(file, "%18.7f +- %.7f seconds time elapsed  ( +-%6.2f%% )\n\n",
			table->elapsed.mean, stat_table_spread_error(&table->elapsed),
			stat_table_spread_percent(&table->elapsed));
		return;
	}
	fprintf(file, "%18.9f seconds time elapsed\n\n", table->elapsed.mean);
	fprintf(file, "%18.9f seconds user\n", table->user.mean);
	fprintf(file, "%18.9f seconds sys\n\n\n", table->kernel.mean);
}

/* Prints a line for each reason why an event is absent. */
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
	double before = count->baseline, change = stat_table_change(table, index);
	double more = stat_table_value(table, index) - before;
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
	fprintf(file, "%s\n", stat_table_is_beyond(table, index) ? "  beyond the threshold" : "");
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
		if (stat_table_can_compare(table, i))
			print_change(table, i, width, file);
	}
	fputc('\n', file);
}

/* Returns the width of the longest name. */
static int name_width(const struct stat_table *table)
{
	int width = NAME_WIDTH;

	for (size_t i = 0; i < table->events.count; i++) {
		int length = (int)strlen(table->events.event[i].name);

		if (length > width)
			width = length;
	}
	return width;
}

void stat_print_interval(const struct stat_table *table, FILE *file)
{
	struct form form = {.file = file, .width = name_width(table)};

	print_rows(table, print_row, &form);
	print_metrics(table, file);
}

void stat_print_text(const struct stat_table *table, const char *output, FILE *file)
{
	struct form form = {.file = file, .width = name_width(table)};

	if (output) {
		time_t now = time(NULL);

		fprintf(file, "# started on %s\n", ctime(&now));
	}
	fprintf(file, "\n Performance counter stats for '%s'", table->command);
	if (table->runs > 1)
		fprintf(file, " (%llu runs)", (unsigned long long)table->runs);
	fputs(":\n\n", file);
	print_system(table, form.width, file);
	print_rows(table, print_row, &form);
	print_reasons(table, file);
	print_metrics(table, file);
	stat_regions_text(table, file);
	fputc('\n', file);
	print_changes(table, form.width, file);
	print_times(table, file);
}

/* --- JSON and fields ---------------------------------------------------------------------- */

void stat_print_json_text(const char *text, FILE *file)
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

/* Returns how long the event was counted, in ns: the time of the program on a processor. */
static double runtime_of(const struct stat_table *table, size_t index)
{
	return stat_table_no_number(table, index) ? 0
						  : (table->user.mean + table->kernel.mean) * 1e9;
}

/* Prints what a baseline is checked by. */
void stat_print_json_origin(const struct stat_table *table, FILE *file)
{
	fprintf(file, ", \"model\" : \"%s\", \"version\" : \"%s\", \"command\" : ",
		spmu_model_describe(table->model).name, SPMU_VERSION_STRING);
	stat_print_json_text(table->command, file);
	if (!table->label)
		return;
	fputs(", \"label\" : ", file);
	stat_print_json_text(table->label, file);
}

static void print_json_change(const struct stat_table *table, size_t index, FILE *file)
{
	double change = stat_table_change(table, index);

	fprintf(file, ", \"baseline-value\" : \"%.6f\", \"change-percent\" : ",
		table->counts[index].baseline);
	if (isfinite(change))
		fprintf(file, "%.6f", change);
	else
		fputs("null", file);
	fprintf(file, ", \"beyond-threshold\" : %s",
		stat_table_is_beyond(table, index) ? "true" : "false");
}

static void print_json_begin(const struct stat_table *table, FILE *file)
{
	fputc('{', file);
	if (table->until_ns)
		fprintf(file, "\"interval\" : %" PRIu64 ".%09" PRIu64 ", ",
			table->until_ns / 1000000000, table->until_ns % 1000000000);
}

static void print_json_row(void *opaque, const struct stat_table *table, size_t index)
{
	FILE *file = ((const struct form *)opaque)->file;
	const struct event *event = &table->events.event[index];
	const char *missing = stat_table_no_number(table, index);
	const char *unit = "";
	double metric = 0;
	char number[64];

	if (!stat_table_metric(table, index, &metric, &unit)) {
		unit = "";
		metric = 0;
	}
	print_json_begin(table, file);
	if (table->thread) {
		fputs("\"thread\" : ", file);
		stat_print_json_text(table->thread, file);
		fputs(", ", file);
	}
	if (missing)
		fprintf(file, "\"counter-value\" : \"%s\", ", missing);
	else
		fprintf(file, "\"counter-value\" : \"%s\", ",
			number_text(table, index, true, number));
	fprintf(file, "\"unit\" : \"%s\", \"event\" : ", event_kernel_unit(event->kernel));
	stat_print_json_text(event->name, file);
	if (table->runs > 1)
		fprintf(file, ", \"variance\" : %.2f",
			stat_table_spread_percent(&table->counts[index].values));
	else if (!missing && table->counts[index].within >= 0)
		fprintf(file, ", \"interval-percent\" : %.2f", table->counts[index].within);
	fprintf(file,
		", \"event-runtime\" : %.0f, \"pcnt-running\" : 100.00, "
		"\"metric-value\" : %.6f, \"metric-unit\" : \"%s\", "
		"\"fidelity\" : \"%s\"",
		runtime_of(table, index), metric, unit, fidelity_text(table, index));
	stat_print_json_origin(table, file);
	if (stat_table_can_compare(table, index))
		print_json_change(table, index, file);
	fputs("}\n", file);
}

void stat_print_json(const struct stat_table *table, FILE *file)
{
	struct form form = {.file = file};
	struct metric_value value;

	print_rows(table, print_json_row, &form);
	stat_regions_json(table, file);
	for (size_t i = 0; table->metrics && metrics_value(table->metrics, table, i, &value); i++)
		if (value.name && value.known) {
			print_json_begin(table, file);
			fprintf(file,
				"\"metric-value\" : \"%.6f\", \"metric-unit\" : \"%s%s%s\", "
				"\"fidelity\" : \"modelled\"}\n",
				value.value, value.unit, *value.unit ? "  " : "", value.name);
		}
}

/* Prints three fields, which are empty if there is nothing to compare. */
static void print_field_change(const struct stat_table *table, size_t index, const char *separator,
			       FILE *file)
{
	if (!stat_table_can_compare(table, index)) {
		fprintf(file, "%s%s%s", separator, separator, separator);
		return;
	}
	fprintf(file, "%s%.0f%s%.6f%s%s", separator, table->counts[index].baseline, separator,
		stat_table_change(table, index), separator,
		stat_table_is_beyond(table, index) ? "beyond" : "within");
}

static void print_field_row(void *opaque, const struct stat_table *table, size_t index)
{
	const char *separator = ((const struct form *)opaque)->separator;
	FILE *file = ((const struct form *)opaque)->file;
	const struct event *event = &table->events.event[index];
	const char *missing = stat_table_no_number(table, index);
	const char *unit = "";
	double metric;
	char number[64];

	print_time(table, separator, file);
	if (table->thread)
		fprintf(file, "%s%s", table->thread, separator);
	fputs(missing ? missing : number_text(table, index, false, number), file);
	fprintf(file, "%s%s%s%s", separator, event_kernel_unit(event->kernel), separator,
		event->name);
	if (table->runs > 1)
		fprintf(file, "%s%.2f%%", separator,
			stat_table_spread_percent(&table->counts[index].values));
	else if (!missing && table->counts[index].within >= 0)
		fprintf(file, "%s%.2f%%", separator, table->counts[index].within);
	fprintf(file, "%s%.0f%s100.00%s", separator, runtime_of(table, index), separator,
		separator);
	if (stat_table_metric(table, index, &metric, &unit))
		fprintf(file, "%.3f", metric);
	else
		unit = "";
	fprintf(file, "%s%s%s%s", separator, unit, separator, fidelity_text(table, index));
	if (table->baseline)
		print_field_change(table, index, separator, file);
	fputc('\n', file);
}

void stat_print_fields(const struct stat_table *table, const char *separator, FILE *file)
{
	struct form form = {.file = file, .separator = separator};
	struct metric_value value;

	print_rows(table, print_field_row, &form);
	stat_regions_fields(table, separator, file);
	for (size_t i = 0; table->metrics && metrics_value(table->metrics, table, i, &value); i++)
		if (value.name && value.known) {
			print_time(table, separator, file);
			for (unsigned empty = 0; empty < 5 + (table->runs > 1); empty++)
				fputs(separator, file);
			fprintf(file, "%.3f%s%s%s%s%smodelled\n", value.value, separator,
				value.unit, *value.unit ? "  " : "", value.name, separator);
		}
}
