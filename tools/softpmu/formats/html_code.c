/* SPDX-License-Identifier: MIT */
/*
 * html_code.c: the hottest functions of each event as JSON: instructions, and the source lines
 * that these are from with the lines between.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/formats/annotation.h"
#include "tools/softpmu/formats/html.h"
#include "tools/softpmu/symbols/demangle.h"
#include "tools/softpmu/symbols/sources.h"

/* What keeps the page small. */
#define FUNCTIONS_MAX 12   /* of an event */
#define SHARE_MIN     0.5  /* of the event, in percent */
#define INSNS_MAX     2500 /* of a function */
#define GAP_MAX	      6	   /* lines without an instruction that are shown between others */

struct used_line {
	uint32_t source;
	int line;
};

struct writing {
	FILE *to;
	struct sources *texts;
	const char *between; /* functions */
	const char **sources;
	size_t source_count, source_room;
	struct used_line *lines;
	size_t line_count, line_room, insns;
};

/* Returns the number of a source file of the current function. */
static uint32_t source_number(struct writing *writing, const char *source)
{
	size_t i = 0;

	while (i < writing->source_count && strcmp(writing->sources[i], source))
		i++;
	if (i == writing->source_count) {
		writing->sources = tool_room(writing->sources, &writing->source_room,
					     writing->source_count, sizeof(*writing->sources));
		writing->sources[writing->source_count++] = source;
	}
	return (uint32_t)i;
}

static void begin(void *opaque, const struct annotated_function *function)
{
	struct writing *writing = opaque;

	fprintf(writing->to, "%s\n{\"event\": %zu, \"name\": ", writing->between, function->event);
	html_string(writing->to, demangle_name(function->symbol->name));
	fputs(", \"object\": ", writing->to);
	html_string(writing->to, function->object);
	fprintf(writing->to, ", \"samples\": %" PRIu64 ", \"period\": %" PRIu64 ",\n\"insns\": [",
		function->samples, function->period);
	writing->between = ",";
	writing->source_count = writing->line_count = writing->insns = 0;
}

/* Writes address, text, period, and the source and line if they are known. */
static void put_insn(void *opaque, const struct annotated_function *function,
		     const struct annotated_insn *insn)
{
	struct writing *writing = opaque;

	(void)function;
	if (writing->insns++ >= INSNS_MAX)
		return;
	fprintf(writing->to, "%s[\"%" PRIx64 "\",", writing->insns > 1 ? ",\n" : "", insn->address);
	html_string(writing->to, insn->text);
	fprintf(writing->to, ",%" PRIu64, insn->period);
	if (insn->source) {
		struct used_line line = {source_number(writing, insn->source), insn->line};

		fprintf(writing->to, ",%" PRIu32 ",%d", line.source, line.line);
		writing->lines = tool_room(writing->lines, &writing->line_room, writing->line_count,
					   sizeof(*writing->lines));
		writing->lines[writing->line_count++] = line;
	}
	fputc(']', writing->to);
}

static int by_line(const void *one, const void *other)
{
	const struct used_line *a = one, *b = other;

	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static void put_line(const struct writing *writing, const char *source, int line, bool first)
{
	const char *text = sources_line(writing->texts, source, line);

	fprintf(writing->to, "%s[%d,", first ? "" : ",\n", line);
	html_string(writing->to, text ? text : "");
	fputc(']', writing->to);
}

/* Writes the lines of one source, of which lines `from` to `to` of the list are. */
static void put_source(const struct writing *writing, size_t from, size_t to)
{
	const char *source = writing->sources[writing->lines[from].source];
	int last = 0;

	fputs("{\"path\": ", writing->to);
	html_string(writing->to, source);
	fprintf(writing->to, ", \"number\": %" PRIu32 ", \"found\": %s, \"lines\": [",
		writing->lines[from].source,
		sources_line(writing->texts, source, 1) ? "true" : "false");
	for (size_t i = from; i < to; i++) {
		int line = writing->lines[i].line;
		int next = last && line - last <= GAP_MAX ? last + 1 : line;

		for (; line != last && next <= line; next++) {
			put_line(writing, source, next, !last);
			last = next;
		}
	}
	fputs("]}", writing->to);
}

static void end(void *opaque, const struct annotated_function *function)
{
	struct writing *writing = opaque;
	size_t from = 0, to;

	(void)function;
	fprintf(writing->to, "],\n\"more\": %zu, \"sources\": [",
		writing->insns > INSNS_MAX ? writing->insns - INSNS_MAX : 0);
	if (writing->line_count)
		qsort(writing->lines, writing->line_count, sizeof(*writing->lines), by_line);
	for (; from < writing->line_count; from = to) {
		to = from + 1;
		while (to < writing->line_count &&
		       writing->lines[to].source == writing->lines[from].source)
			to++;
		if (from)
			fputs(",\n", writing->to);
		put_source(writing, from, to);
	}
	fputs("]}", writing->to);
}

int html_code(struct profile *profile, FILE *to)
{
	static const struct annotation_view view = {begin, put_insn, end};
	const struct annotation_options options = {
		.percent_limit = SHARE_MIN, .most = FUNCTIONS_MAX, .quiet = true};
	struct writing writing = {.to = to, .texts = sources_new(), .between = ""};
	int status;

	fputc('[', to);
	status = annotation_visit(profile, &options, &view, &writing);
	fputc(']', to);
	sources_free(writing.texts);
	free(writing.sources);
	free(writing.lines);
	return status;
}
