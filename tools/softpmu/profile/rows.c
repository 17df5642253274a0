/* SPDX-License-Identifier: MIT */
/* rows.c: groups the entries of an aggregation into rows, and sorts these. */
#define _GNU_SOURCE
#include "tools/softpmu/profile/rows.h"

#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

static bool same_row(const void *rows, uint32_t number, const void *key)
{
	return !memcmp(&((const struct row *)rows)[number].key, key, sizeof(struct row_key));
}

/* Returns the row of that key, and adds it if there is none. */
static struct row *find_row(struct rows *rows, const struct row_key *key)
{
	uint64_t words[sizeof(*key) / sizeof(uint64_t)], hash = 0;
	uint32_t number;

	memcpy(words, key, sizeof(*key));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		hash = numbering_mix(hash, words[i]);
	number = numbering_find(&rows->numbers, hash, same_row, rows->rows, key);
	if (number == rows->count) {
		rows->rows = tool_room(rows->rows, &rows->room, rows->count, sizeof(*rows->rows));
		rows->rows[rows->count++] =
			(struct row){.key = *key,
				     .root = rows->how & (ROWS_CALLERS | ROWS_CALLEES)
						     ? call_graph_root(&rows->graph)
						     : CALL_GRAPH_NONE};
	}
	return &rows->rows[number];
}

static struct row *row_of(struct rows *rows, const struct key_source *source)
{
	struct row_key key;

	memset(&key, 0, sizeof(key));
	for (size_t i = 0; i < rows->keys->count; i++)
		rows->keys->list[i]->take(&key, source);
	return find_row(rows, &key);
}

static int by_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Puts the heaviest row first, and of equal ones the caller, which has the longer chains.  Other
 * equal rows are sorted by their text, so that the same file always gives the same report. */
static int heavier(const void *one, const void *other, void *opaque)
{
	const struct row *a = one, *b = other;
	const struct rows *rows = opaque;
	int order = by_number(b->total, a->total);

	if (!order && rows->how & ROWS_CHILDREN)
		order = rows->how & ROWS_CALLEES ? by_number(b->depth, a->depth)
						 : by_number(a->depth, b->depth);
	if (!order)
		order = by_number(b->self, a->self);
	if (!order)
		order = keys_compare(rows->keys, &a->key, &b->key);
	/* A file can have several functions of one name. */
	if (!order && a->key.from.symbol && b->key.from.symbol)
		order = by_number(a->key.from.symbol->start, b->key.from.symbol->start);
	if (!order && a->key.to.symbol && b->key.to.symbol)
		order = by_number(a->key.to.symbol->start, b->key.to.symbol->start);
	return order;
}

static void sort(struct rows *rows)
{
	if (rows->count)
		qsort_r(rows->rows, rows->count, sizeof(*rows->rows), heavier, rows);
}

/* --- samples ------------------------------------------------------------------------------ */

/* A call chain, from the sample's own frame to the outermost caller. */
struct chain {
	const struct aggregation *aggregation;
	const struct aggregation_stack *stack;
	size_t number; /* of the stack, plus 1 */
	uint32_t *frames;
	size_t count, room;
};

static void read_chain(struct chain *chain)
{
	const struct aggregation *aggregation = chain->aggregation;

	chain->count = 0;
	for (uint32_t frame = chain->stack->frame; frame != AGGREGATION_NONE;
	     frame = aggregation->frames[frame].caller) {
		chain->frames = tool_room(chain->frames, &chain->room, chain->count,
					  sizeof(*chain->frames));
		chain->frames[chain->count++] = frame;
	}
}

static const struct aggregation_place *place_at(const struct chain *chain, size_t frame)
{
	uint32_t number = chain->frames[frame]; /* NOLINT: a chain has a frame */

	return &chain->aggregation->places[chain->aggregation->frames[number].place];
}

/* Adds frames `from` to `to`, which may be in descending order, to a tree. */
static void add_path(struct rows *rows, const struct chain *chain, uint32_t node, size_t from,
		     size_t to)
{
	size_t i = from;

	rows->graph.nodes[node].total += chain->stack->period;
	for (;;) {
		node = call_graph_child(&rows->graph, node, place_at(chain, i)->function);
		rows->graph.nodes[node].total += chain->stack->period;
		if (i == to)
			break;
		i = from < to ? i + 1 : i - 1;
	}
	rows->graph.nodes[node].own += chain->stack->period;
}

/* Counts the sample for the row of one of its frames.  A row is counted once for each sample: for
 * its own frame, otherwise for the frame that comes first in the order of the call graph. */
static struct row *count_frame(struct rows *rows, const struct chain *chain, size_t frame)
{
	const struct key_source source = {.aggregation = chain->aggregation,
					  .thread = &chain->stack->thread,
					  .from = place_at(chain, frame)};
	struct row *row = row_of(rows, &source);
	size_t last = chain->count - 1;

	if (row->last_stack == chain->number)
		return NULL;
	row->last_stack = chain->number;
	row->file = source.from->file;
	row->total += chain->stack->period;
	if (rows->how & ROWS_CALLERS) {
		add_path(rows, chain, row->root, frame, last);
		if (row->depth < last - frame + 1)
			row->depth = last - frame + 1;
	} else if (rows->how & ROWS_CALLEES) {
		size_t outermost = frame ? frame : last;

		add_path(rows, chain, row->root, outermost, 0);
		if (row->depth < outermost + 1)
			row->depth = outermost + 1;
	}
	return row;
}

/* Adds what functions of an exact profile cost with what they called. */
static void count_functions(struct rows *rows, const struct aggregation *aggregation,
			    const struct aggregation_event *event)
{
	for (size_t i = 0; i < rows->count; i++)
		rows->rows[i].total = 0;
	for (size_t i = 0; i < event->call_count; i++) {
		const struct aggregation_call *call = &event->calls[i];
		const struct key_source source = {.aggregation = aggregation,
						  .thread = &call->thread,
						  .from = &aggregation->places[call->to]};

		if (call->from == AGGREGATION_NONE)
			row_of(rows, &source)->total += call->cost;
	}
	/* A part of a function that nothing calls has no cost with what it called. */
	for (size_t i = 0; i < rows->count; i++) {
		if (rows->rows[i].total < rows->rows[i].self)
			rows->rows[i].total = rows->rows[i].self;
	}
}

static void count_stack(struct rows *rows, const struct chain *chain)
{
	struct row *row = count_frame(rows, chain, 0);

	row->samples += chain->stack->samples;
	row->self += chain->stack->period;
	if (!(rows->how & ROWS_CHILDREN))
		return;
	for (size_t i = 1; i < chain->count; i++)
		count_frame(rows, chain, rows->how & ROWS_CALLEES ? chain->count - i : i);
}

struct rows rows_of_samples(const struct aggregation *aggregation, size_t event,
			    const struct keys *keys, unsigned how)
{
	const struct aggregation_event *from = &aggregation->events[event];
	struct rows rows = {.whole = from->period, .keys = keys, .how = how};
	struct chain chain = {.aggregation = aggregation};

	for (size_t i = 0; i < from->stack_count; i++) {
		chain.stack = &from->stacks[i];
		chain.number = i + 1;
		read_chain(&chain);
		count_stack(&rows, &chain);
	}
	free(chain.frames);
	if (from->exact && how & ROWS_CHILDREN)
		count_functions(&rows, aggregation, from);
	sort(&rows);
	return rows;
}

/* --- branches ----------------------------------------------------------------------------- */

struct rows rows_of_branches(const struct aggregation *aggregation, size_t event,
			     const struct keys *keys)
{
	const struct aggregation_event *from = &aggregation->events[event];
	struct rows rows = {.whole = from->branch_total, .keys = keys};

	for (size_t i = 0; i < from->branch_count; i++) {
		const struct aggregation_branch *branch = &from->branches[i];
		const struct key_source source = {.aggregation = aggregation,
						  .thread = &branch->thread,
						  .from = &aggregation->places[branch->from],
						  .to = &aggregation->places[branch->to],
						  .flags = branch->flags};
		struct row *row = row_of(&rows, &source);

		row->self += branch->count;
		row->total += branch->count;
	}
	sort(&rows);
	return rows;
}

void rows_free(struct rows *rows)
{
	numbering_free(&rows->numbers);
	call_graph_free(&rows->graph);
	free(rows->rows);
}

double rows_percent(const struct rows *rows, uint64_t weight)
{
	return rows->whole ? 100.0 * (double)weight / (double)rows->whole : 0;
}
