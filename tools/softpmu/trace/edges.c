/* SPDX-License-Identifier: MIT */
/*
 * edges.c: the table of taken branches.
 *
 * The table grows up to a limit. If a program has more pairs of addresses, the counts are added to
 * sums from time to time, and the table is emptied. So memory is bounded, however long the run is.
 */
#include "tools/softpmu/trace/edges.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

#define PLACES_FIRST 14 /* logarithms of the number of places */
#define PLACES_MOST  20
#define PLACES_TEXTS 17 /* the most if each place has a text */

static size_t places(const struct edges *edges)
{
	return (size_t)1 << (64 - edges->shift);
}

static void make_table(struct edges *edges, unsigned logarithm)
{
	edges->shift = 64 - logarithm;
	edges->table = tool_alloc((places(edges) + 1) * sizeof(*edges->table));
	edges->texts = edges->with_texts ? tool_alloc(places(edges) * sizeof(*edges->texts)) : NULL;
	edges->used = 0;
}

void edges_begin(struct edges *edges)
{
	make_table(edges, PLACES_FIRST);
}

static void free_texts(struct edges *edges)
{
	for (size_t i = 0; edges->texts && i < places(edges); i++) {
		free(edges->texts[i]);
		edges->texts[i] = NULL;
	}
}

void edges_end(struct edges *edges)
{
	free_texts(edges);
	free(edges->texts);
	free(edges->table);
}

void edges_fold(struct edges *edges)
{
	for (size_t i = 0; i < places(edges); i++) {
		if (edges->table[i].count)
			edges->fold(edges->opaque, &edges->table[i]);
	}
	memset(edges->table, 0, places(edges) * sizeof(*edges->table));
	free_texts(edges);
	edges->used = 0;
}

/* Returns the place of the edge, or the free place for it. */
static struct edge *probe(struct edges *edges, uint64_t from, uint64_t to)
{
	size_t i = edges_place(edges, from, to), mask = places(edges) - 1;

	while (edges->table[i].count && (edges->table[i].from != from || edges->table[i].to != to))
		i = (i + 1) & mask;
	return &edges->table[i];
}

static void grow(struct edges *edges)
{
	struct edges old = *edges;

	make_table(edges, 64 - old.shift + 1);
	for (size_t i = 0; i < places(&old); i++) {
		struct edge *place;

		if (!old.table[i].count)
			continue;
		place = probe(edges, old.table[i].from, old.table[i].to);
		*place = old.table[i];
		if (edges->texts)
			edges->texts[place - edges->table] = old.texts[i];
	}
	edges->used = old.used;
	free(old.texts);
	free(old.table);
}

/* Returns true for a part of a function that the compiler moved, which is not a function itself. */
static bool is_part(const char *name)
{
	return name && strstr(name, ".cold");
}

static enum edge_kind kind_of(struct code *code, const struct edge *edge, uint64_t offset,
			      enum code_branch branch)
{
	switch (branch) {
	case BRANCH_CALL:
	case BRANCH_CALL_INDIRECT:
		/* A call of the next instruction only reads the instruction pointer. */
		return edge->to == edge->from + edge->length ? EDGE_INSIDE : EDGE_CALL;
	case BRANCH_RETURN:
		return EDGE_RETURN;
	case BRANCH_COND:
	case BRANCH_JUMP:
	case BRANCH_JUMP_INDIRECT:
		if (edge->source == edge->target || offset ||
		    !code_function(code, edge->target)->name ||
		    is_part(code_function(code, edge->target)->name))
			return EDGE_INSIDE;
		return EDGE_TAIL;
	default:
		return EDGE_INSIDE;
	}
}

bool edges_is_stub(struct code *code, uint32_t function)
{
	const char *name = code_function(code, function)->name;

	return name && !strncmp(name, ".plt", 4);
}

static void classify(struct edges *edges, struct edge *edge)
{
	uint64_t offset;
	unsigned length;
	enum code_branch branch = code_branch_at(edges->code, edge->from, &length);

	edge->length = length & 15;
	edge->source = code_function_at(edges->code, edge->from, &offset) & ((1u << 28) - 1);
	edge->target = code_function_at(edges->code, edge->to, &offset) & ((1u << 28) - 1);
	edge->kind = kind_of(edges->code, edge, offset, branch) & 3;
	edge->from_stub = edges_is_stub(edges->code, edge->source);
	edge->to_stub = edges_is_stub(edges->code, edge->target);
}

/* Exchanges the edge with the first one of its chain if it is more frequent, because the first is
 * found faster.  No place of the chain is free, so both can still be found. */
static struct edge *come_forward(struct edges *edges, struct edge *edge)
{
	struct edge *first = &edges->table[edges_place(edges, edge->from, edge->to)];
	struct edge other = *first;

	if (edge->count <= other.count)
		return edge;
	*first = *edge;
	*edge = other;
	if (edges->texts) {
		char **texts = edges->texts, *text = texts[first - edges->table];

		texts[first - edges->table] = texts[edge - edges->table];
		texts[edge - edges->table] = text;
	}
	return first;
}

struct edge *edges_add(struct edges *edges, uint64_t from, uint64_t to)
{
	struct edge *edge = probe(edges, from, to);

	if (edge->count)
		return come_forward(edges, edge);
	if (edges->used >= places(edges) / 4) {
		if (64 - edges->shift < (edges->with_texts ? PLACES_TEXTS : PLACES_MOST))
			grow(edges);
		else
			edges_fold(edges);
		edge = probe(edges, from, to);
	}
	edges->used++;
	edge->from = from;
	edge->to = to;
	/* The caller counts it.  Its count is still 0, so it must not be folded before. */
	classify(edges, edge);
	return edge;
}

static int describe(struct code *code, uint64_t address, char *text, size_t bytes)
{
	uint64_t offset;
	const struct code_function *function =
		code_function(code, code_function_at(code, address, &offset));
	const char *slash = strrchr(function->object, '/');

	if (function->shown && offset)
		return snprintf(text, bytes, "%s+0x%" PRIx64, function->shown, offset);
	if (function->shown)
		return snprintf(text, bytes, "%s", function->shown);
	return snprintf(text, bytes, "%s+0x%" PRIx64, slash ? slash + 1 : function->object, offset);
}

const char *edges_text(struct edges *edges, const struct edge *edge)
{
	char **text = &edges->texts[edge - edges->table], from[1024], to[1024];

	if (!*text) {
		describe(edges->code, edge->from, from, sizeof(from));
		describe(edges->code, edge->to, to, sizeof(to));
		*text = tool_print("%#" PRIx64 " %s -> %#" PRIx64 " %s\n", edge->from, from,
				   edge->to, to);
	}
	return *text;
}
