/* SPDX-License-Identifier: MIT */
/*
 * call_graph.h: trees of the functions that are above or below the rows of a report.
 *
 * Each root is a tree of its own.  A node is a function in the context of those above it.
 */
#ifndef SOFTPMU_TOOL_CALL_GRAPH_H
#define SOFTPMU_TOOL_CALL_GRAPH_H

#include "tools/softpmu/base/numbering.h"

#define CALL_GRAPH_NONE UINT32_MAX

struct call_graph_node {
	uint32_t place; /* of an aggregation; a root has its own number, so that no two are equal */
	uint32_t parent; /* CALL_GRAPH_NONE: a root */
	uint32_t first_child, next_sibling;
	uint64_t own;	/* weight of the chains that end here */
	uint64_t total; /* weight of the chains that pass or end here */
};

struct call_graph { /* all zeros: empty */
	struct call_graph_node *nodes;
	size_t count, room;
	struct numbering numbers;
};

/* Adds a tree and returns its root. */
uint32_t call_graph_root(struct call_graph *graph);

/* Returns the node of the place below `parent`, and adds it if there is none. */
uint32_t call_graph_child(struct call_graph *graph, uint32_t parent, uint32_t place);

void call_graph_free(struct call_graph *graph);

#endif
