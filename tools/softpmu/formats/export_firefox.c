/* SPDX-License-Identifier: MIT */
/*
 * export_firefox.c: JSON in Firefox Profiler's processed profile format, version 60: tables that
 * all threads share, and the samples of each thread.
 *
 * A table is an object with an array for each column.  Entry N of the table of stacks is frame N
 * of the aggregation, entry N of the frames and functions is place N.  A sample's weight is its
 * period.  The entries of an exact profile have no time: each gets a millisecond, one after the
 * other.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/formats/export.h"
#include "tools/softpmu/formats/strings.h"

#define VERSION	      60
#define GECKO_VERSION 30 /* of the profiles that Firefox itself writes */

#define CATEGORIES                                                                                 \
	"[{\"name\": \"Other\", \"color\": \"grey\", \"subcategories\": [\"Other\"]}, "            \
	"{\"name\": \"User\", \"color\": \"yellow\", \"subcategories\": [\"Other\"]}, "            \
	"{\"name\": \"Kernel\", \"color\": \"orange\", \"subcategories\": [\"Other\"]}]"

enum category { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL };

struct writing {
	const struct export_input *input;
	const struct aggregation *aggregation;
	FILE *to;
	struct strings strings, resources, sources;
	struct export_samples samples;
};

/* Writes one value of a column: of row `i`. */
typedef void put_value(struct writing *writing, uint32_t i);

static void put_column(struct writing *writing, const char *name, size_t count, put_value *put)
{
	fprintf(writing->to, ",\n\"%s\": [", name);
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			putc(',', writing->to);
		put(writing, i);
	}
	putc(']', writing->to);
}

static void begin_table(struct writing *writing, const char *name, size_t length)
{
	fprintf(writing->to, "\"%s\": {\"length\": %zu", name, length);
}

static void end_table(struct writing *writing)
{
	fputs("},\n", writing->to);
}

/* --- values that are the same in each row ---------------------------------------------------- */

static void put_null(struct writing *writing, uint32_t i)
{
	(void)i;
	fputs("null", writing->to);
}

static void put_0(struct writing *writing, uint32_t i)
{
	(void)i;
	putc('0', writing->to);
}

static void put_1(struct writing *writing, uint32_t i)
{
	(void)i;
	putc('1', writing->to);
}

static void put_minus_1(struct writing *writing, uint32_t i)
{
	(void)i;
	fputs("-1", writing->to);
}

static void put_false(struct writing *writing, uint32_t i)
{
	(void)i;
	fputs("false", writing->to);
}

/* --- stacks and frames ------------------------------------------------------------------------ */

static void put_stack_frame(struct writing *writing, uint32_t i)
{
	fprintf(writing->to, "%" PRIu32, writing->aggregation->frames[i].place);
}

static void put_stack_prefix(struct writing *writing, uint32_t i)
{
	uint32_t caller = writing->aggregation->frames[i].caller;

	if (caller == AGGREGATION_NONE)
		fputs("null", writing->to);
	else
		fprintf(writing->to, "%" PRIu32, caller);
}

static void put_frame_function(struct writing *writing, uint32_t i)
{
	fprintf(writing->to, "%" PRIu32, writing->aggregation->places[i].function);
}

static void put_frame_category(struct writing *writing, uint32_t i)
{
	fprintf(writing->to, "%d",
		writing->aggregation->places[i].level == 'k' ? CATEGORY_KERNEL : CATEGORY_USER);
}

static void put_line(struct writing *writing, uint32_t i)
{
	const char *source;
	int line;

	if (export_line(&writing->aggregation->places[i], &source, &line))
		fprintf(writing->to, "%d", line);
	else
		fputs("null", writing->to);
}

static void put_stacks_and_frames(struct writing *writing)
{
	size_t places = writing->aggregation->place_count;

	begin_table(writing, "stackTable", writing->aggregation->frame_count);
	put_column(writing, "frame", writing->aggregation->frame_count, put_stack_frame);
	put_column(writing, "prefix", writing->aggregation->frame_count, put_stack_prefix);
	end_table(writing);
	begin_table(writing, "frameTable", places);
	put_column(writing, "address", places, put_minus_1);
	put_column(writing, "inlineDepth", places, put_0);
	put_column(writing, "category", places, put_frame_category);
	put_column(writing, "subcategory", places, put_0);
	put_column(writing, "func", places, put_frame_function);
	put_column(writing, "nativeSymbol", places, put_null);
	put_column(writing, "innerWindowID", places, put_0);
	put_column(writing, "line", places, put_line);
	put_column(writing, "column", places, put_null);
	end_table(writing);
}

/* --- functions, files and sources ------------------------------------------------------------- */

static void put_function_name(struct writing *writing, uint32_t i)
{
	char name[4096];

	aggregation_name(&writing->aggregation->places[i], name, sizeof(name));
	fprintf(writing->to, "%" PRIu32, strings_number(&writing->strings, name));
}

static void put_function_resource(struct writing *writing, uint32_t i)
{
	fprintf(writing->to, "%" PRIu32,
		strings_number(&writing->resources, writing->aggregation->places[i].object));
}

static void put_function_source(struct writing *writing, uint32_t i)
{
	const char *source;
	int line;

	if (export_line(&writing->aggregation->places[i], &source, &line))
		fprintf(writing->to, "%" PRIu32, strings_number(&writing->sources, source));
	else
		fputs("null", writing->to);
}

static void put_resource_name(struct writing *writing, uint32_t i)
{
	const char *name = profile_short(writing->resources.list[i]);

	fprintf(writing->to, "%" PRIu32, strings_number(&writing->strings, name));
}

static void put_source_name(struct writing *writing, uint32_t i)
{
	fprintf(writing->to, "%" PRIu32,
		strings_number(&writing->strings, writing->sources.list[i]));
}

static void put_string(struct writing *writing, uint32_t i)
{
	output_json_string(writing->to, writing->strings.list[i]);
}

/* The functions fill the lists of files and sources, and all of them the list of strings. */
static void put_functions(struct writing *writing)
{
	size_t places = writing->aggregation->place_count;

	begin_table(writing, "funcTable", places);
	put_column(writing, "name", places, put_function_name);
	put_column(writing, "isJS", places, put_false);
	put_column(writing, "relevantForJS", places, put_false);
	put_column(writing, "resource", places, put_function_resource);
	put_column(writing, "source", places, put_function_source);
	put_column(writing, "lineNumber", places, put_line);
	put_column(writing, "columnNumber", places, put_null);
	end_table(writing);
	begin_table(writing, "resourceTable", writing->resources.count);
	put_column(writing, "lib", writing->resources.count, put_null);
	put_column(writing, "name", writing->resources.count, put_resource_name);
	put_column(writing, "host", writing->resources.count, put_null);
	put_column(writing, "type", writing->resources.count, put_1); /* a library */
	end_table(writing);
	begin_table(writing, "sources", writing->sources.count);
	put_column(writing, "uuid", writing->sources.count, put_null);
	put_column(writing, "filename", writing->sources.count, put_source_name);
	end_table(writing);
	begin_table(writing, "nativeSymbols", 0);
	fputs(", \"libIndex\": [], \"address\": [], \"name\": [], \"functionSize\": []",
	      writing->to);
	end_table(writing);
	fputs("\"stringArray\": [", writing->to);
	for (uint32_t i = 0; i < writing->strings.count; i++) {
		fputs(i ? ",\n" : "", writing->to);
		put_string(writing, i);
	}
	fputs("]}", writing->to);
}

/* --- threads ---------------------------------------------------------------------------------- */

/* Writes the milliseconds since the first sample of the profile. */
static void put_time(struct writing *writing, uint32_t i)
{
	const struct export_samples *samples = &writing->samples;

	if (writing->input->profile->exact)
		fprintf(writing->to, "%" PRIu32, i);
	else
		fprintf(writing->to, "%.6f",
			(double)(samples->list[i].time_ns - samples->list[0].time_ns) / 1e6);
}

static void put_stack(struct writing *writing, uint32_t i)
{
	fprintf(writing->to, "%" PRIu32, writing->samples.list[i].frame);
}

static void put_weight(struct writing *writing, uint32_t i)
{
	fprintf(writing->to, "%" PRIu64, writing->samples.list[i].period);
}

static void put_thread_column(struct writing *writing, const char *name,
			      const struct aggregation_thread *thread, put_value *put)
{
	const char *between = "";

	fprintf(writing->to, ",\n\"%s\": [", name);
	for (uint32_t i = 0; i < writing->samples.count; i++) {
		if (!export_is_of(&writing->samples.list[i], thread))
			continue;
		fputs(between, writing->to);
		put(writing, i);
		between = ",";
	}
	putc(']', writing->to);
}

static void put_thread(struct writing *writing, const struct aggregation_thread *thread)
{
	size_t count = 0;

	for (size_t i = 0; i < writing->samples.count; i++)
		count += export_is_of(&writing->samples.list[i], thread);
	fputs("{\"name\": ", writing->to);
	output_json_string(writing->to, thread->comm);
	fputs(", \"processName\": ", writing->to);
	output_json_string(writing->to, thread->comm);
	fprintf(writing->to,
		", \"processType\": \"default\", \"processStartupTime\": 0, "
		"\"processShutdownTime\": null, \"registerTime\": 0, \"unregisterTime\": null, "
		"\"pausedRanges\": [], \"isMainThread\": %s, \"pid\": \"%" PRIu32
		"\", \"tid\": %" PRIu32 ",\n\"markers\": {\"length\": 0, \"data\": [], "
		"\"name\": [], \"startTime\": [], \"endTime\": [], \"phase\": [], "
		"\"category\": []},\n",
		thread->pid == thread->tid ? "true" : "false", thread->pid, thread->tid);
	begin_table(writing, "samples", count);
	fputs(", \"weightType\": \"samples\"", writing->to);
	put_thread_column(writing, "stack", thread, put_stack);
	put_thread_column(writing, "time", thread, put_time);
	put_thread_column(writing, "weight", thread, put_weight);
	fputs("}}", writing->to);
}

static void put_meta(struct writing *writing)
{
	const struct export_samples *samples = &writing->samples;
	const char *command = profile_about(writing->input->profile, "command line");
	double whole_ms = 0;

	if (samples->count && !writing->input->profile->exact)
		whole_ms = (double)(samples->list[samples->count - 1].time_ns -
				    samples->list[0].time_ns) /
			   1e6;
	fprintf(writing->to,
		"{\"meta\": {\"version\": %d, \"preprocessedProfileVersion\": %d, "
		"\"processType\": 0, \"startTime\": 0, \"interval\": %.6f, \"stackwalk\": 1, "
		"\"debug\": false, \"symbolicated\": true, \"usesOnlyOneStackType\": true, "
		"\"sourceCodeIsNotOnSearchfox\": true, \"markerSchema\": [], \"categories\": %s,\n"
		"\"importedFrom\": \"softpmu\", \"product\": ",
		GECKO_VERSION, VERSION, whole_ms > 0 ? whole_ms / (double)samples->count : 1.0,
		CATEGORIES);
	output_json_string(writing->to,
			   writing->input->aggregation->events[writing->input->event].name);
	if (command) {
		fputs(", \"arguments\": ", writing->to);
		output_json_string(writing->to, command);
	}
	fputs("},\n\"libs\": [],\n\"shared\": {", writing->to);
}

static void write_firefox(const struct export_input *input, FILE *to)
{
	struct export_threads threads = export_threads(input);
	struct writing writing = {.input = input,
				  .aggregation = input->aggregation,
				  .to = to,
				  .samples = export_samples(input)};

	put_meta(&writing);
	put_stacks_and_frames(&writing);
	put_functions(&writing);
	fputs(",\n\"threads\": [", to);
	for (size_t i = 0; i < threads.count; i++) {
		fputs(i ? ",\n" : "", to);
		put_thread(&writing, &threads.list[i]);
	}
	fputs("]}\n", to);
	strings_free(&writing.strings);
	strings_free(&writing.resources);
	strings_free(&writing.sources);
	free(writing.samples.list);
	free(threads.list);
}

const struct exporter export_firefox = {
	.name = "firefox", .parts = AGGREGATION_ADDRESSES, .write = write_firefox};
