/* SPDX-License-Identifier: MIT */
/* format.c: calls the operations of an output format for each event of a profile. */
#include "tools/softpmu/formats/format.h"

#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/formats/text.h"

static const struct format *const formats[] = {&text_format, NULL};

const struct format *format_find(const char *name)
{
	const struct format *const *format = formats;

	while (*format && strcmp((*format)->name, name))
		format++;
	return *format;
}

/* What each view needs of the samples. */
static const unsigned parts_of[] = {
	[FORMAT_FUNCTIONS] = AGGREGATION_SAMPLES,
	[FORMAT_BRANCHES] = AGGREGATION_BRANCHES,
	[FORMAT_CALLERS] = AGGREGATION_SAMPLES | AGGREGATION_CALLS,
};

static bool is_shown(const struct aggregation_event *event, enum format_view view)
{
	if (view == FORMAT_FUNCTIONS)
		return event->samples;
	return event->edges && event->call_chains == (view == FORMAT_CALLERS);
}

static struct rows make_rows(const struct format_output *output, size_t event)
{
	const struct format_options *options = output->options;
	unsigned by = 0;

	switch (options->view) {
	case FORMAT_BRANCHES:
		return rows_of_branches(output->aggregation, event);
	case FORMAT_CALLERS:
		return rows_of_callers(output->aggregation, event);
	case FORMAT_FUNCTIONS:
	default:
		for (size_t i = 0; i < options->key_count; i++)
			by |= 1u << options->keys[i];
		return rows_of_functions(output->aggregation, event, by);
	}
}

static void write_rows(const struct format *format, const struct format_output *output,
		       size_t event, const struct rows *rows)
{
	size_t shown = 0;

	while (shown < rows->count &&
	       rows_percent(rows, &rows->rows[shown]) >= output->options->percent_limit)
		shown++;
	switch (output->options->view) {
	case FORMAT_BRANCHES:
		format->branches(output, event, rows, shown);
		break;
	case FORMAT_CALLERS:
		format->callers(output, event, rows, shown);
		break;
	case FORMAT_FUNCTIONS:
	default:
		format->functions(output, event, rows, shown);
		break;
	}
}

/* Names the files that would have given names to at least one sample in a hundred. */
static void complain(const struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->rows[i];
		size_t j = 0;

		if (!row->file || row->from.symbol || !row->from.level ||
		    rows_percent(rows, row) < 1)
			continue;
		while (j < i && rows->rows[j].file != row->file)
			j++;
		if (j == i)
			profile_complain(row->file);
	}
}

void format_write(const struct format *format, struct profile *profile,
		  const struct format_options *options, FILE *to)
{
	struct aggregation *aggregation = aggregation_new(profile, parts_of[options->view]);
	struct format_output output = {to, profile, aggregation, options};
	struct rows *rows = tool_alloc(aggregation->event_count * sizeof(*rows));
	bool some = false, other = false;

	format->begin(&output);
	for (size_t i = 0; i < aggregation->event_count; i++) {
		other |= aggregation->events[i].edges != 0;
		if (!is_shown(&aggregation->events[i], options->view))
			continue;
		some = true;
		rows[i] = make_rows(&output, i);
		write_rows(format, &output, i, &rows[i]);
	}
	if (!some)
		format->nothing(&output, other);
	fflush(to);
	for (size_t i = 0; i < aggregation->event_count; i++) {
		if (options->view == FORMAT_FUNCTIONS)
			complain(&rows[i]);
		rows_free(&rows[i]);
	}
	free(rows);
	aggregation_free(aggregation);
}
