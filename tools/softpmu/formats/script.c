/* SPDX-License-Identifier: MIT */
/*
 * script.c: the samples of a perf.data as lines of text, as `perf script` writes them.
 *
 * A call chain differs.  Its addresses are those of the process here, those of the file in perf.
 * One from last branch records begins with the sample's address here, with the newest target in
 * perf.  The last block of brstackinsn goes on to the sample, also where perf takes a branch in it
 * for one that is missing.
 */
#include "tools/softpmu/formats/script.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/disasm/disasm.h"
#include "tools/softpmu/formats/data_source_text.h"
#include "tools/softpmu/formats/script_blocks.h"
#include "tools/softpmu/symbols/demangle.h"

#define USUAL                                                                                      \
	(SCRIPT_COMM | SCRIPT_TID | SCRIPT_PERIOD | SCRIPT_EVENT | SCRIPT_IP | SCRIPT_SYM |        \
	 SCRIPT_SYMOFF | SCRIPT_DSO)
#define OF_PLACES (SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO)
#define BRANCHES  (SCRIPT_BRSTACK | SCRIPT_BRSTACKSYM)
#define BLOCKS	  (SCRIPT_BRSTACKINSN | SCRIPT_BRSTACKDISASM)

/* Bits of struct perf_branch_entry. */
#define BRANCH_MISSED	   1u
#define BRANCH_PREDICTED   2u
#define BRANCH_TRANSACTION 4u
#define BRANCH_ABORT	   8u
#define BRANCH_CYCLES	   4u /* the first bit of 16 */

static const struct {
	const char *name;
	unsigned field;
} names[] = {
	{"comm", SCRIPT_COMM},
	{"pid", SCRIPT_PID},
	{"tid", SCRIPT_TID},
	{"cpu", SCRIPT_CPU},
	{"time", SCRIPT_TIME},
	{"period", SCRIPT_PERIOD},
	{"event", SCRIPT_EVENT},
	{"addr", SCRIPT_ADDR},
	{"ip", SCRIPT_IP},
	{"sym", SCRIPT_SYM},
	{"symoff", SCRIPT_SYMOFF},
	{"dso", SCRIPT_DSO},
	{"brstack", SCRIPT_BRSTACK},
	{"brstacksym", SCRIPT_BRSTACKSYM},
	{"srcline", SCRIPT_SRCLINE},
	{"data_src", SCRIPT_DATA_SRC},
	{"weight", SCRIPT_WEIGHT},
	{"brstackinsn", SCRIPT_BRSTACKINSN},
	{"brstackdisasm", SCRIPT_BRSTACKDISASM},
};

/* --- fields ----------------------------------------------------------------------------------- */

static unsigned field_named(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i].name))
			return names[i].field;
	return 0;
}

/* Returns a message to free(). */
static char *no_field(const char *name)
{
	char *text = tool_print("-F has no field '%s'; there are", name);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *longer = tool_print("%s%s %s", text, i ? "," : "", names[i].name);

		free(text);
		text = longer;
	}
	return text;
}

static char *take_field(struct script *script, const char *word)
{
	bool changes = *word == '+' || *word == '-';
	unsigned field = field_named(word + changes);

	if (!field)
		return no_field(word + changes);
	if (*word == '+')
		script->add |= field;
	else if (*word == '-')
		script->remove |= field;
	else
		script->fields |= field;
	return NULL;
}

char *script_fields(struct script *script, const char *list)
{
	char *copy = tool_copy(list), *rest = copy, *word, *wrong = NULL;

	while (!wrong && (word = strsep(&rest, ",")) != NULL)
		wrong = take_field(script, word);
	free(copy);
	if (wrong)
		return wrong;
	if (script->fields && (script->add || script->remove))
		return tool_print("-F takes either fields or changes (+ and -), not both");
	if (script->fields & OF_PLACES && !(script->fields & (SCRIPT_IP | BRANCHES)))
		return tool_print("sym, symoff and dso need the field ip");
	if (script->fields & SCRIPT_SYMOFF && !(script->fields & SCRIPT_SYM))
		return tool_print("symoff needs the field sym");
	if (script->fields & SCRIPT_SRCLINE && !(script->fields & SCRIPT_IP))
		return tool_print("srcline needs the field ip");
	return NULL;
}

/* --- lines ------------------------------------------------------------------------------------ */

struct writer {
	const struct script *script;
	struct profile *profile;
	FILE *to;
	int event_width;
	struct disasm *disasm;
};

/* Returns the fields of the samples of an event. */
static unsigned fields_of(const struct writer *w, const struct perfdata_event *event)
{
	unsigned usual = USUAL;

	if (w->script->fields)
		return w->script->fields;
	if (event->attr.type == PERFDATA_TYPE_INTEL_BTS) /* its records have no time */
		usual |= SCRIPT_ADDR;
	else
		usual |= SCRIPT_CPU | SCRIPT_TIME;
	if (event->attr.sample_type & PERF_SAMPLE_ADDR)
		usual |= SCRIPT_ADDR;
	return (usual | w->script->add) & ~w->script->remove;
}

static void print_task(const struct writer *w, unsigned fields, const struct profile_sample *s,
		       bool has_chain)
{
	if (fields & SCRIPT_COMM)
		fprintf(w->to, has_chain ? "%s " : "%16s ", s->comm);
	if ((fields & SCRIPT_PID) && (fields & SCRIPT_TID))
		fprintf(w->to, "%5u/%-5u ", s->pid, s->tid);
	else if (fields & (SCRIPT_PID | SCRIPT_TID))
		fprintf(w->to, "%5u ", fields & SCRIPT_PID ? s->pid : s->tid);
	if (fields & SCRIPT_CPU)
		fprintf(w->to, "[%03u] ", s->cpu);
}

static void print_time(const struct writer *w, uint64_t ns)
{
	uint64_t rest = ns % 1000000000;

	if (w->script->nanoseconds)
		fprintf(w->to, "%5" PRIu64 ".%09" PRIu64 ": ", ns / 1000000000, rest);
	else
		fprintf(w->to, "%5" PRIu64 ".%06" PRIu64 ": ", ns / 1000000000, rest / 1000);
}

static void print_name(const struct writer *w, unsigned fields, const struct profile_place *at)
{
	if (!at->symbol) {
		fputs("[unknown]", w->to);
		return;
	}
	fputs(demangle_name(at->symbol->name), w->to);
	if (fields & SCRIPT_SYMOFF)
		fprintf(w->to, "+0x%" PRIx64, at->address - at->symbol->start);
}

static void print_place(const struct writer *w, unsigned fields, const struct profile_place *at)
{
	const char *source;
	int line;

	fprintf(w->to, "%16" PRIx64, at->ip);
	if (fields & SCRIPT_SYM) {
		putc(' ', w->to);
		print_name(w, fields, at);
	}
	if (fields & SCRIPT_DSO)
		fprintf(w->to, " (%s)", at->object);
	if (fields & SCRIPT_SRCLINE && at->file &&
	    symbol_file_line(at->file, at->address, &source, &line))
		fprintf(w->to, "\n  %s:%d", profile_short(source), line);
}

static void print_chain(const struct writer *w, unsigned fields, const struct profile_sample *s)
{
	size_t most = w->script->max_stack ? w->script->max_stack : SIZE_MAX;

	putc('\n', w->to);
	for (size_t i = 0; i <= s->caller_count && i < most; i++) {
		const struct profile_place *at = i ? &s->callers[i - 1] : &s->at;

		putc('\t', w->to);
		print_place(w, fields, at);
		putc('\n', w->to);
	}
}

static void print_end(const struct writer *w, unsigned fields, const struct profile_place *at)
{
	if (fields & SCRIPT_BRSTACKSYM)
		print_name(w, SCRIPT_SYMOFF, at);
	else
		fprintf(w->to, "0x%" PRIx64, at->ip);
	if (fields & SCRIPT_DSO)
		fprintf(w->to, "(%s)", at->object);
	putc('/', w->to);
}

static void print_branches(const struct writer *w, unsigned fields, const struct profile_sample *s)
{
	for (size_t i = 0; i < s->branch_count; i++) {
		const struct profile_branch *b = &s->branches[i];

		if (!(fields & SCRIPT_BRSTACKSYM))
			putc(' ', w->to);
		print_end(w, fields, &b->from);
		print_end(w, fields, &b->to);
		fprintf(w->to, "%c/%c/%c/%" PRIu64 "/ ",
			b->flags & BRANCH_MISSED      ? 'M'
			: b->flags & BRANCH_PREDICTED ? 'P'
						      : '-',
			b->flags & BRANCH_TRANSACTION ? 'X' : '-',
			b->flags & BRANCH_ABORT ? 'A' : '-', b->flags >> BRANCH_CYCLES & 0xffff);
	}
}

/* --- samples ---------------------------------------------------------------------------------- */

/* Returns whether no branch has come between those of a sample, so that the code between them is
 * known. */
static bool has_all_branches(const struct perfdata_event *event)
{
	return event->attr.sample_type & PERF_SAMPLE_BRANCH_STACK &&
	       event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_ANY;
}

static void write_sample(void *opaque, const struct profile_sample *s)
{
	const struct writer *w = opaque;
	const struct perfdata_event *event = perfdata_event_at(w->profile->reader, s->event);
	bool is_trace = event->attr.type == PERFDATA_TYPE_INTEL_BTS;
	bool has_chain = profile_has_callers(event);
	unsigned fields = fields_of(w, event);

	has_chain &= (fields & SCRIPT_IP) != 0;
	print_task(w, fields, s, has_chain);
	if (fields & SCRIPT_TIME)
		print_time(w, s->time_ns);
	if (fields & SCRIPT_PERIOD)
		fprintf(w->to, "%10" PRIu64 " ", s->period);
	if (fields & SCRIPT_EVENT)
		fprintf(w->to, "%*s: ", w->event_width, event->name);
	if (fields & SCRIPT_ADDR && !is_trace)
		fprintf(w->to, "%16" PRIx64, s->data_address);
	if (fields & SCRIPT_DATA_SRC) {
		fprintf(w->to, "%16" PRIx64 " ", s->data_source);
		data_source_text_print(w->to, s->data_source);
	}
	if (fields & SCRIPT_WEIGHT)
		fprintf(w->to, "%16" PRIu64, s->weight);
	if (has_chain) {
		print_chain(w, fields, s);
	} else if (fields & SCRIPT_IP) {
		putc(' ', w->to);
		print_place(w, fields, &s->at);
	}
	if (fields & SCRIPT_ADDR && is_trace && s->branch_count) {
		fputs(" => ", w->to);
		print_place(w, fields, &s->branches->to);
	}
	if (fields & BRANCHES && !is_trace)
		print_branches(w, fields, s);
	if (fields & BLOCKS && has_all_branches(event))
		script_blocks_write(w->disasm, fields & SCRIPT_BRSTACKINSN, s, w->to);
	putc('\n', w->to);
}

/* Addresses in instructions stay numbers. */
static bool no_name(void *opaque, uint64_t address, char *text, size_t bytes)
{
	(void)opaque;
	(void)address;
	(void)snprintf(text, bytes, "%s", "");
	return false;
}

void script_write(const struct script *script, struct profile *profile, FILE *to)
{
	struct writer w = {.script = script,
			   .profile = profile,
			   .to = to,
			   .disasm = disasm_new(false, no_name, NULL)};

	bool blocks = false;

	for (size_t i = 0; i < profile_event_count(profile); i++) {
		int width = (int)strlen(profile_event_name(profile, i));

		w.event_width = width > w.event_width ? width : w.event_width;
		blocks |= has_all_branches(perfdata_event_at(profile->reader, i));
	}
	if ((script->fields | script->add) & BLOCKS && !blocks)
		tool_error("%s has no samples with all branches, which brstackinsn and "
			   "brstackdisasm need: see softpmu record -b",
			   profile->path);
	profile_each(profile, PROFILE_BRANCHES | PROFILE_CALLERS, write_sample, &w);
	disasm_free(w.disasm);
}
