/* SPDX-License-Identifier: MIT */
/*
 * annotation.c: finds the hot instructions of a profile, with their source lines.
 *
 * A first pass over the samples finds the functions to show.  A second pass counts where in them
 * the samples fell.  Each instruction shows its share of the function's count (the sum of
 * periods), as perf's "percent: local period".  A sample that falls inside an instruction counts
 * for it.
 */
#include "tools/softpmu/formats/annotation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/disasm/disasm.h"
#include "tools/softpmu/symbols/demangle.h"

/* A function is disassembled up to here; its size comes from a file and can be wrong. */
#define FUNCTION_MAX_BYTES  (16u << 20)
#define LONGEST_INSTRUCTION 15

struct function {
	size_t event;
	struct symbol_file *file;
	const struct symbol *symbol;
	const char *object;
	uint64_t samples, period;
	bool shown;
	size_t bytes;
	uint64_t *at; /* period for each byte of the function */
};

struct annotation {
	struct profile *profile;
	const struct annotation_options *options;
	const struct annotation_view *view;
	void *opaque; /* of the view */
	struct disasm *disasm;
	struct function *functions;
	size_t count, room;
	uint64_t *totals; /* period for each event */
	const struct symbol_file *disassembled;
};

/* Returns the function of a sample, or NULL.  A profile has few functions, so a list is enough. */
static struct function *find(struct annotation *annotation, const struct profile_sample *sample)
{
	struct function *function;
	size_t i;

	for (i = 0; i < annotation->count; i++) {
		function = &annotation->functions[i];
		if (function->symbol == sample->at.symbol && function->event == sample->event)
			break;
	}
	if (i == annotation->count)
		return NULL;
	if (i > 0) {
		/* Functions that are searched often move to the front. */
		struct function swap = annotation->functions[i - 1];

		annotation->functions[i - 1] = annotation->functions[i];
		annotation->functions[i] = swap;
		i--;
	}
	return &annotation->functions[i];
}

static void count_function(void *opaque, const struct profile_sample *sample)
{
	struct annotation *annotation = opaque;
	struct function *function;

	annotation->totals[sample->event] += sample->period;
	if (!sample->at.symbol)
		return;
	function = find(annotation, sample);
	if (!function) {
		annotation->functions =
			tool_room(annotation->functions, &annotation->room, annotation->count,
				  sizeof(*annotation->functions));
		function = &annotation->functions[annotation->count++];
		*function = (struct function){.event = sample->event,
					      .file = sample->at.file,
					      .symbol = sample->at.symbol,
					      .object = sample->at.object};
	}
	function->samples++;
	function->period += sample->period;
}

static void count_instruction(void *opaque, const struct profile_sample *sample)
{
	struct function *function = sample->at.symbol ? find(opaque, sample) : NULL;
	uint64_t offset;

	if (!function || !function->shown)
		return;
	offset = sample->at.address - function->symbol->start;
	if (offset < function->bytes)
		function->at[offset] += sample->period;
}

/* Sorts by event, then the hottest first, then by name. */
static int hotter(const void *one, const void *other)
{
	const struct function *a = one, *b = other;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->period != b->period)
		return a->period > b->period ? -1 : 1;
	return strcmp(demangle_name(a->symbol->name), demangle_name(b->symbol->name));
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Marks the functions to show.  Returns how many there are. */
static size_t choose(struct annotation *annotation)
{
	size_t most = annotation->options->most, shown = 0, of_event = 0, i;

	if (annotation->count)
		qsort(annotation->functions, annotation->count, sizeof(*annotation->functions),
		      hotter);
	for (i = 0; i < annotation->count; i++) {
		struct function *function = &annotation->functions[i];
		bool first = i == 0 || annotation->functions[i - 1].event != function->event;

		if (annotation->options->wanted)
			function->shown =
				symbol_file_matches(function->symbol, annotation->options->wanted);
		else
			function->shown = first || share(function->period,
							 annotation->totals[function->event]) >=
							   annotation->options->percent_limit;
		of_event = first ? 0 : of_event;
		if (most && of_event == most)
			function->shown = false;
		if (!function->shown)
			continue;
		of_event++;
		shown++;
		function->bytes = function->symbol->end - function->symbol->start;
		if (function->bytes > FUNCTION_MAX_BYTES)
			function->bytes = FUNCTION_MAX_BYTES;
		function->at = tool_alloc(function->bytes * sizeof(*function->at));
	}
	return shown;
}

static bool name_address(void *opaque, uint64_t address, char *text, size_t bytes)
{
	const struct annotation *annotation = opaque;
	const struct symbol *symbol = symbol_file_find(annotation->disassembled, address);

	if (!symbol)
		return false;
	if (symbol->start == address)
		snprintf(text, bytes, "%s", demangle_name(symbol->name));
	else
		snprintf(text, bytes, "%s+%#" PRIx64, demangle_name(symbol->name),
			 address - symbol->start);
	return true;
}

static void visit_instructions(struct annotation *annotation, const struct annotated_function *head,
			       const struct function *function, const uint8_t *code)
{
	char text[512];
	size_t offset, length, i;

	for (offset = 0; offset < head->bytes; offset += length) {
		struct annotated_insn insn = {.address = function->symbol->start + offset,
					      .text = text};
		size_t room = head->bytes - offset;

		if (room > LONGEST_INSTRUCTION)
			room = LONGEST_INSTRUCTION;
		length = disasm_one(annotation->disasm, code + offset, room, insn.address, text,
				    sizeof(text));
		for (i = 0; i < length; i++)
			insn.period += function->at[offset + i];
		if (!symbol_file_line(function->file, insn.address, &insn.source, &insn.line))
			insn.source = NULL;
		annotation->view->insn(annotation->opaque, head, &insn);
	}
}

static void visit_function(struct annotation *annotation, const struct function *function)
{
	uint8_t *code = tool_alloc(function->bytes);
	struct annotated_function head = {
		.event = function->event,
		.symbol = function->symbol,
		.object = function->object,
		.samples = function->samples,
		.period = function->period,
		.total = annotation->totals[function->event],
		.bytes = symbol_file_read(function->file, function->symbol->start, code,
					  function->bytes),
	};

	annotation->view->begin(annotation->opaque, &head);
	annotation->disassembled = function->file;
	visit_instructions(annotation, &head, function, code);
	annotation->view->end(annotation->opaque, &head);
	free(code);
}

/* Says why there is nothing to show. */
static int nothing(const struct annotation *annotation)
{
	const char *path = annotation->profile->path, *nearest = NULL;
	unsigned best = annotation->options->wanted
				? (unsigned)strlen(annotation->options->wanted) / 3 + 1
				: 0;
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < profile_event_count(annotation->profile); i++)
		total += annotation->totals[i];
	if (total == 0) {
		profile_say_empty(annotation->profile);
		return 1;
	}
	if (!annotation->options->wanted) {
		tool_error(
			"%s has no sample in a function whose name is known (see softpmu report)",
			path);
		return 1;
	}
	for (i = 0; i < annotation->count; i++) {
		const char *name = demangle_name(annotation->functions[i].symbol->name);
		unsigned distance = tool_distance(name, annotation->options->wanted);

		if (distance < best) {
			best = distance;
			nearest = name;
		}
	}
	if (nearest)
		tool_error("%s has no samples in '%s'; did you mean '%s'?", path,
			   annotation->options->wanted, nearest);
	else
		tool_error("%s has no samples in '%s' (see softpmu report)", path,
			   annotation->options->wanted);
	return 1;
}

static int show(struct annotation *annotation)
{
	size_t events = profile_event_count(annotation->profile), i;
	int status = annotation->profile->incomplete ? 1 : 0;

	annotation->totals = tool_alloc(events * sizeof(*annotation->totals));
	profile_each(annotation->profile, 0, count_function, annotation);
	if (choose(annotation) == 0) {
		status = annotation->options->quiet ? status : nothing(annotation);
	} else {
		profile_each(annotation->profile, 0, count_instruction, annotation);
		qsort(annotation->functions, annotation->count, sizeof(*annotation->functions),
		      hotter);
	}
	for (i = 0; i < annotation->count; i++) {
		if (!annotation->functions[i].shown)
			continue;
		visit_function(annotation, &annotation->functions[i]);
		free(annotation->functions[i].at);
	}
	free(annotation->functions);
	free(annotation->totals);
	return status;
}

int annotation_visit(struct profile *profile, const struct annotation_options *options,
		     const struct annotation_view *view, void *opaque)
{
	struct annotation annotation = {
		.profile = profile, .options = options, .view = view, .opaque = opaque};
	int status;

	annotation.disasm = disasm_new(options->intel, name_address, &annotation);
	if (annotation.disasm)
		status = show(&annotation);
	else
		status = tool_error("the disassembler cannot be used");
	disasm_free(annotation.disasm);
	return status;
}
