/* SPDX-License-Identifier: MIT */
/* annotation_text.c: hot instructions and their source lines as text. */
#include <inttypes.h>
#include <stdio.h>

#include "tools/softpmu/formats/annotation.h"
#include "tools/softpmu/symbols/demangle.h"
#include "tools/softpmu/symbols/sources.h"

struct writing {
	const struct profile *profile;
	struct sources *sources;
	bool some; /* a function was written */
	const char *last_source;
	int last_line;
};

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void begin(void *opaque, const struct annotated_function *function)
{
	struct writing *writing = opaque;
	const char *name = demangle_name(function->symbol->name);
	int length;

	if (writing->some)
		putchar('\n');
	writing->some = true;
	writing->last_source = NULL;
	writing->last_line = 0;
	length = printf(" Percent |  %s in %s for %s (%" PRIu64 " %s, %.2f%% of all, percent: "
			"local period)\n",
			name, profile_short(function->object),
			profile_event_name(writing->profile, function->event),
			writing->profile->exact ? function->period : function->samples,
			writing->profile->exact ? "occurrences" : "samples",
			share(function->period, function->total));
	while (--length > 0)
		putchar('-');
	printf("\n         : %016" PRIx64 " <%s>:\n", function->symbol->start, name);
	if (!function->bytes)
		puts("         : its instructions are in no file");
}

/* Prints the file and the line of an instruction if they are not the last ones printed. */
static void print_source(struct writing *writing, const struct annotated_insn *insn)
{
	const char *text;

	if (!insn->source)
		return;
	if (insn->source != writing->last_source)
		printf("         : %s\n", insn->source);
	else if (insn->line == writing->last_line)
		return;
	writing->last_source = insn->source;
	writing->last_line = insn->line;
	text = sources_line(writing->sources, insn->source, insn->line);
	printf("         : %6d%s%s\n", insn->line, text ? "  " : "", text ? text : "");
}

static void print_insn(void *opaque, const struct annotated_function *function,
		       const struct annotated_insn *insn)
{
	print_source(opaque, insn);
	printf("%8.2f : %8" PRIx64 ":  %s\n", share(insn->period, function->period), insn->address,
	       insn->text);
}

static void end(void *opaque, const struct annotated_function *function)
{
	(void)opaque;
	(void)function;
}

int annotation_text_write(struct profile *profile, const struct annotation_options *options)
{
	static const struct annotation_view view = {begin, print_insn, end};
	struct writing writing = {.profile = profile, .sources = sources_new()};
	int status = annotation_visit(profile, options, &view, &writing);

	sources_free(writing.sources);
	return status;
}
