/* SPDX-License-Identifier: MIT */
/*
 * edges.h: the branches of a program: each pair of addresses once, with its count.  A new pair is
 * classified once; a known pair costs one look into the table.
 */
#ifndef SOFTPMU_TOOL_EDGES_H
#define SOFTPMU_TOOL_EDGES_H

#include <hosts/user/hash.h>

#include "tools/softpmu/symbols/code.h"

struct edge {
	uint64_t from, to;
	uint64_t count;			  /* 0: a free place */
	uint32_t source : 28, kind : 2;	  /* function of `from`; enum edge_kind */
	uint32_t to_stub : 1;		  /* `to` is in a linkage stub, which leads to a function */
	uint32_t from_stub : 1;		  /* `from` is in a linkage stub */
	uint32_t target : 28, length : 4; /* function of `to`; bytes of the branch */
};

/* What a branch does to the calls that have not returned. */
enum edge_kind {
	EDGE_INSIDE, /* nothing */
	EDGE_CALL,
	EDGE_RETURN,
	EDGE_TAIL, /* a jump to another function's beginning */
};

struct edges {
	struct edge *table;
	char **texts;	/* for each place; NULL: without texts */
	unsigned shift; /* 64 minus the logarithm of the number of places */
	size_t used;
	struct code *code;
	bool with_texts;
	/* Is called with each edge before all are forgotten, because the table is full or the code
	 * changed. */
	void (*fold)(void *opaque, const struct edge *edge);
	void *opaque;
};

/* Returns true for a part of a procedure linkage table, which has the name of its section. */
bool edges_is_stub(struct code *code, uint32_t function);

void edges_begin(struct edges *edges);
void edges_end(struct edges *edges);

/* Passes all edges to `fold` and forgets them. */
void edges_fold(struct edges *edges);

/* Finds an edge that is not at its first two places, or adds it.  Called by edges_find(). */
struct edge *edges_add(struct edges *edges, uint64_t from, uint64_t to);

static inline bool edges_is(const struct edge *edge, uint64_t from, uint64_t to)
{
	return edge->from == from && edge->to == to && edge->count;
}

static inline size_t edges_place(const struct edges *edges, uint64_t from, uint64_t to)
{
	uint64_t mix = from ^ (to << 24 | to >> 40);

	return (size_t)(hash_of(mix) >> edges->shift);
}

/* Returns the edge, valid until the next call. */
static inline struct edge *edges_find(struct edges *edges, uint64_t from, uint64_t to)
{
	struct edge *edge = &edges->table[edges_place(edges, from, to)];

	/* The place after the last one stays free. */
	if (__builtin_expect(edges_is(edge, from, to), 1))
		return edge;
	if (edges_is(edge + 1, from, to))
		return edge + 1;
	return edges_add(edges, from, to);
}

/* Returns "main+0x10 -> memcpy", for lists.  Valid until the edge is forgotten. */
const char *edges_text(struct edges *edges, const struct edge *edge);

#endif
