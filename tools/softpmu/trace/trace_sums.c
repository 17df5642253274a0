/* SPDX-License-Identifier: MIT */
/*
 * trace_sums.c: adds up the calls and taken branches of each function over all processes of a run,
 * and knows which functions the user wants.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/symbols/demangle.h"
#include "tools/softpmu/symbols/symbols.h"
#include "tools/softpmu/trace/trace.h"

/* --- wanted functions --------------------------------------------------------------------- */

static bool matches(const struct trace *trace, const struct code_function *function)
{
	bool some = !trace->wanted_count;

	for (size_t i = 0; function->symbol && i < trace->wanted_count; i++) {
		if (symbol_file_matches(function->symbol, trace->wanted[i]))
			some = trace->found[i] = true;
	}
	return some;
}

bool trace_sums_is_wanted(void *opaque, uint32_t function)
{
	struct trace *trace = opaque;
	uint8_t *known;

	if (function >= trace->is_wanted_room) {
		uint32_t room = 2 * function + 256;

		trace->is_wanted = tool_grow(trace->is_wanted, room);
		memset(trace->is_wanted + trace->is_wanted_room, 0, room - trace->is_wanted_room);
		trace->is_wanted_room = room;
	}
	known = &trace->is_wanted[function];
	if (!*known)
		*known = matches(trace, code_function(trace->code, function)) ? 2 : 1;
	return *known == 2;
}

/* --- sums ------------------------------------------------------------------------------------ */

static bool same_pair(const void *pairs, uint32_t number, const void *thing)
{
	const struct trace_pair *a = (const struct trace_pair *)pairs + number, *b = thing;

	return a->source == b->source && a->target == b->target;
}

static void add_pair(struct trace *trace, uint32_t source, uint32_t target, uint64_t calls)
{
	struct trace_pair pair = {.source = source, .target = target};
	uint64_t hash = numbering_mix(0, (uint64_t)source << 32 | target);
	uint32_t number =
		numbering_find(&trace->pair_numbers, hash, same_pair, trace->pairs, &pair);

	if (number == trace->pair_count) {
		trace->pairs = tool_room(trace->pairs, &trace->pair_room, trace->pair_count,
					 sizeof(*trace->pairs));
		trace->pairs[trace->pair_count++] = pair;
	}
	trace->pairs[number].calls += calls;
}

void trace_sums_fold(void *opaque, const struct edge *edge)
{
	struct trace *trace = opaque;

	code_function(trace->code, edge->source)->branches += edge->count;
	if (edge->kind != EDGE_CALL && edge->kind != EDGE_TAIL)
		return;
	code_function(trace->code, edge->target)->calls += edge->count;
	trace->all_calls += edge->count;
	/* trace_sums_link() adds calls through stubs and jumps. */
	if (trace->by_caller && edge->kind == EDGE_CALL && !edge->to_stub)
		add_pair(trace, edge->source, edge->target, edge->count);
}

/* --- calls through linkage stubs ------------------------------------------------------------- */

/* Returns true for the first entry of ".plt" (16 bytes), which leads to the dynamic linker. */
static bool leads_to_linker(struct trace *trace, const struct edge *edge)
{
	uint64_t offset;

	code_function_at(trace->code, edge->from, &offset);
	return offset < 16 && !strcmp(code_function(trace->code, edge->source)->name, ".plt");
}

void trace_sums_link(struct trace *trace, struct trace_linkage *linkage, const struct edge *edge)
{
	uint32_t caller = edge->from_stub ? linkage->caller : edge->source;

	if (edge->to_stub) {
		linkage->caller = caller;
	} else if (edge->from_stub && leads_to_linker(trace, edge)) {
		if (linkage->waiting == TRACE_LINKAGE_MAX)
			linkage->waiting = 0;
		linkage->at[linkage->waiting].caller = caller;
		linkage->at[linkage->waiting++].linker = edge->target;
	} else if (edge->kind == EDGE_TAIL) {
		if (linkage->waiting && linkage->at[linkage->waiting - 1].linker == edge->source)
			caller = linkage->at[--linkage->waiting].caller;
		add_pair(trace, caller, edge->target, 1);
	}
}

/* --- patterns that named nothing ----------------------------------------------------------- */

static void be_nearer(const char *name, const char *pattern, unsigned *best, const char **nearest)
{
	unsigned distance = tool_distance(demangle_name(name), pattern);

	if (distance >= *best)
		return;
	*best = distance;
	*nearest = demangle_name(name);
}

static const char *nearest_function(struct trace *trace, const char *pattern)
{
	unsigned best = (unsigned)strlen(pattern) / 3 + 1;
	const char *nearest = NULL;

	for (uint32_t i = 0; i < code_functions(trace->code); i++) {
		const struct symbol *symbol = code_function(trace->code, i)->symbol;

		if (!symbol)
			continue;
		be_nearer(symbol->name, pattern, &best, &nearest);
		for (const struct symbol_other *other = symbol->others; other; other = other->next)
			be_nearer(other->name, pattern, &best, &nearest);
	}
	return nearest;
}

void trace_sums_say_not_found(struct trace *trace)
{
	for (size_t i = 0; i < trace->wanted_count; i++) {
		const char *nearest =
			trace->found[i] ? NULL : nearest_function(trace, trace->wanted[i]);

		if (!trace->found[i])
			tool_error("no call of '%s' in this run%s%s%s", trace->wanted[i],
				   nearest ? "; did you mean '" : "", nearest ? nearest : "",
				   nearest ? "'?" : "");
	}
}

/* --- the summary ---------------------------------------------------------------------------- */

static const char *short_object(const char *object)
{
	const char *slash = strrchr(object, '/');

	return slash && slash[1] ? slash + 1 : object;
}

static const char *name_of(const struct code_function *function)
{
	return function->shown ? function->shown : "[unknown]";
}

static struct code *sorted_code; /* for qsort(): there is one at a time */

static int by_calls(const void *one, const void *other)
{
	const struct code_function *a = code_function(sorted_code, *(const uint32_t *)one);
	const struct code_function *b = code_function(sorted_code, *(const uint32_t *)other);
	int order;

	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	if (a->branches != b->branches)
		return a->branches > b->branches ? -1 : 1;
	order = strcmp(name_of(a), name_of(b));
	return order ? order : strcmp(a->object, b->object);
}

static int by_pair_calls(const void *one, const void *other)
{
	const struct trace_pair *a = one, *b = other;
	int order;

	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	order = strcmp(name_of(code_function(sorted_code, a->target)),
		       name_of(code_function(sorted_code, b->target)));
	return order ? order
		     : strcmp(name_of(code_function(sorted_code, a->source)),
			      name_of(code_function(sorted_code, b->source)));
}

static void print_pairs(struct trace *trace)
{
	size_t kept = 0;

	for (size_t i = 0; i < trace->pair_count; i++) {
		if (trace_sums_is_wanted(trace, trace->pairs[i].target))
			trace->pairs[kept++] = trace->pairs[i];
	}
	if (kept)
		qsort(trace->pairs, kept, sizeof(*trace->pairs), by_pair_calls);
	fprintf(trace->to, "#%15s  %s\n", "Calls", "Caller -> Function");
	for (size_t i = 0; i < kept; i++) {
		const struct trace_pair *pair = &trace->pairs[i];

		fprintf(trace->to, "%16" PRIu64 "  %s -> %s\n", pair->calls,
			name_of(code_function(trace->code, pair->source)),
			name_of(code_function(trace->code, pair->target)));
	}
}

static void print_functions(struct trace *trace)
{
	uint32_t count = code_functions(trace->code), kept = 0;
	uint32_t *order = tool_alloc(count * sizeof(*order));

	for (uint32_t i = 0; i < count; i++) {
		const struct code_function *function = code_function(trace->code, i);

		if ((function->calls || function->branches) && trace_sums_is_wanted(trace, i))
			order[kept++] = i;
	}
	if (kept)
		qsort(order, kept, sizeof(*order), by_calls);
	fprintf(trace->to, "#%15s %16s  %s\n", "Calls", "Branches", "Function");
	for (uint32_t i = 0; i < kept; i++) {
		const struct code_function *function = code_function(trace->code, order[i]);

		fprintf(trace->to, "%16" PRIu64 " %16" PRIu64 "  %s (%s)\n", function->calls,
			function->branches, name_of(function), short_object(function->object));
	}
	free(order);
}

void trace_sums_print(struct trace *trace)
{
	sorted_code = trace->code;
	fprintf(trace->to,
		"# %" PRIu64 " taken branches, %" PRIu64 " calls, %.3f ms\n#\n"
		"# Calls: of the function, jumps to its beginning from others included.\n"
		"# Branches: taken in the function.\n#\n",
		trace->branches, trace->all_calls, (double)(trace->end_ns - trace->start_ns) / 1e6);
	if (trace->by_caller)
		print_pairs(trace);
	else
		print_functions(trace);
}
