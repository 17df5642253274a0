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

static bool wants_chains(const struct format_options *options)
{
	return options->view == FORMAT_SAMPLES &&
	       (options->children != FORMAT_NO || options->graph != FORMAT_NO);
}

static unsigned parts_of(const struct format_options *options)
{
	unsigned parts =
		keys_needs(&options->keys) | (options->relative ? 0 : AGGREGATION_ABSOLUTE);

	if (options->view == FORMAT_BRANCHES)
		return parts | AGGREGATION_BRANCHES;
	return parts | AGGREGATION_SAMPLES | (wants_chains(options) ? AGGREGATION_CALLERS : 0);
}

static bool is_shown(const struct aggregation_event *event, enum format_view view)
{
	return view == FORMAT_BRANCHES ? event->branch_total : event->samples;
}

static struct rows make_rows(const struct format_output *output, size_t event)
{
	const struct format_options *options = output->options;
	bool chains = output->aggregation->events[event].call_chains;
	unsigned how = 0;

	if (options->view == FORMAT_BRANCHES)
		return rows_of_branches(output->aggregation, event, &options->keys);
	if (options->children == FORMAT_YES || (options->children == FORMAT_IF_CHAINS && chains))
		how |= ROWS_CHILDREN;
	if (output->aggregation->events[event].exact)
		how = options->children != FORMAT_NO && keys_are_functions(&options->keys)
			      ? ROWS_CHILDREN
			      : 0;
	if (options->graph != FORMAT_NO && chains) {
		unsigned usual = how & ROWS_CHILDREN ? ROWS_CALLEES : ROWS_CALLERS;

		how |= options->order ? options->order : usual;
	}
	return rows_of_samples(output->aggregation, event, &options->keys, how);
}

static void write_rows(const struct format *format, const struct format_output *output,
		       size_t event, const struct rows *rows)
{
	size_t shown = 0;

	while (shown < rows->count &&
	       rows_percent(rows, rows->rows[shown].total) >= output->options->percent_limit)
		shown++;
	format->rows(output, event, rows, shown);
}

/* Names the files that would have given names to at least one sample in a hundred. */
static void complain(const struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->rows[i];
		size_t j = 0;

		if (!row->file || row->key.from.symbol || !row->key.from.level ||
		    rows_percent(rows, row->total) < 1)
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
	struct aggregation *aggregation = aggregation_new(profile, parts_of(options));
	struct format_output output = {to, profile, aggregation, options};
	struct rows *rows = tool_alloc(aggregation->event_count * sizeof(*rows));
	bool some = false;

	format->begin(&output);
	for (size_t i = 0; i < aggregation->event_count; i++) {
		if (!is_shown(&aggregation->events[i], options->view))
			continue;
		some = true;
		rows[i] = make_rows(&output, i);
		write_rows(format, &output, i, &rows[i]);
	}
	if (!some)
		format->nothing(&output);
	fflush(to);
	for (size_t i = 0; i < aggregation->event_count; i++) {
		complain(&rows[i]);
		rows_free(&rows[i]);
	}
	free(rows);
	aggregation_free(aggregation);
}
