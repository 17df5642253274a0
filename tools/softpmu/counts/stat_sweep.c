/* SPDX-License-Identifier: MIT */
/* stat_sweep.c: what `stat --sweep` prints: a table, and plots of bars. */
#include "tools/softpmu/counts/stat_sweep.h"

#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

#define BAR_WIDTH 50

void stat_sweep_start(struct stat_sweep *sweep)
{
	size_t counts = sweep->values * sweep->table->events.count;

	sweep->count = tool_alloc((counts + 1) * sizeof(*sweep->count));
}

void stat_sweep_take(struct stat_sweep *sweep, size_t index)
{
	size_t events = sweep->table->events.count;

	for (size_t e = 0; e < events; e++)
		sweep->count[index * events + e] = stat_table_no_number(sweep->table, e)
							   ? -1
							   : (double)sweep->table->counts[e].value;
}

static double count_at(const struct stat_sweep *sweep, size_t index, size_t event)
{
	return sweep->count[index * sweep->table->events.count + event];
}

static const char *name_of(const struct stat_sweep *sweep, size_t event)
{
	return sweep->table->events.event[event].name;
}

/* Returns the number with commas, or a dash, to free(). */
static char *number(double count)
{
	char *digits, *text;
	size_t length, at = 0;

	if (count < 0)
		return tool_copy("-");
	digits = tool_print("%.0f", count);
	length = strlen(digits);
	text = tool_alloc(2 * length + 1);
	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	free(digits);
	return text;
}

static int value_width(const struct stat_sweep *sweep)
{
	size_t width = strlen(sweep->key);

	for (size_t i = 0; i < sweep->values; i++)
		if (strlen(sweep->value[i]) > width)
			width = strlen(sweep->value[i]);
	return (int)width;
}

static int column_width(const struct stat_sweep *sweep, size_t event)
{
	int width = (int)strlen(name_of(sweep, event));

	return width < 15 ? 15 : width;
}

static void print_table(const struct stat_sweep *sweep, FILE *file)
{
	size_t events = sweep->table->events.count;

	fprintf(file, " %*s", value_width(sweep), sweep->key);
	for (size_t e = 0; e < events; e++)
		fprintf(file, "  %*s", column_width(sweep, e), name_of(sweep, e));
	fprintf(file, "\n");
	for (size_t i = 0; i < sweep->values; i++) {
		fprintf(file, " %*s", value_width(sweep), sweep->value[i]);
		for (size_t e = 0; e < events; e++) {
			char *text = number(count_at(sweep, i, e));

			fprintf(file, "  %*s", column_width(sweep, e), text);
			free(text);
		}
		fprintf(file, "\n");
	}
}

static void print_plot(const struct stat_sweep *sweep, size_t event, FILE *file)
{
	double most = 0, least = -1;

	for (size_t i = 0; i < sweep->values; i++) {
		double count = count_at(sweep, i, event);

		most = count > most ? count : most;
		least = least < 0 || count < least ? count : least;
	}
	if (least == most || most <= 0)
		return;
	fprintf(file, "\n %s\n", name_of(sweep, event));
	for (size_t i = 0; i < sweep->values; i++) {
		double count = count_at(sweep, i, event);
		int bar = count < 0 ? 0 : (int)(count / most * BAR_WIDTH + 0.5);
		char *text = number(count);

		fprintf(file, " %*s |", value_width(sweep), sweep->value[i]);
		for (int column = 0; column < bar; column++)
			fputc('#', file);
		fprintf(file, "%s%s\n", bar ? " " : "", text);
		free(text);
	}
}

void stat_sweep_print(const struct stat_sweep *sweep, FILE *file)
{
	fprintf(file, "\n Runs of '%s' with the machine %s and %zu values of %s:\n\n",
		sweep->table->command, sweep->machine, sweep->values, sweep->key);
	print_table(sweep, file);
	for (size_t e = 0; e < sweep->table->events.count; e++)
		print_plot(sweep, e, file);
	fprintf(file, "\n");
}

void stat_sweep_print_fields(const struct stat_sweep *sweep, const char *separator, FILE *file)
{
	for (size_t i = 0; i < sweep->values; i++)
		for (size_t e = 0; e < sweep->table->events.count; e++) {
			double count = count_at(sweep, i, e);

			if (count < 0)
				fprintf(file, "%s%s<not supported>%s%s\n", sweep->value[i],
					separator, separator, name_of(sweep, e));
			else
				fprintf(file, "%s%s%.0f%s%s\n", sweep->value[i], separator, count,
					separator, name_of(sweep, e));
		}
}
