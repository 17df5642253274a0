/* SPDX-License-Identifier: MIT */
/* call_graph.c: trees of functions, as nodes that name their first child and their next sibling. */
#include "tools/softpmu/profile/call_graph.h"

#include <stdlib.h>

#include "tools/softpmu/base/tool.h"

static uint32_t add_node(struct call_graph *graph, uint32_t parent, uint32_t place)
{
	graph->nodes = tool_room(graph->nodes, &graph->room, graph->count, sizeof(*graph->nodes));
	graph->nodes[graph->count] = (struct call_graph_node){.place = place,
							      .parent = parent,
							      .first_child = CALL_GRAPH_NONE,
							      .next_sibling = CALL_GRAPH_NONE};
	return (uint32_t)graph->count++;
}

static bool same_node(const void *nodes, uint32_t number, const void *thing)
{
	const struct call_graph_node *a = (const struct call_graph_node *)nodes + number;
	const struct call_graph_node *b = thing;

	return a->parent == b->parent && a->place == b->place;
}

/* Numbers a node.  Every node is numbered, also a root, so that numbers are indices. */
static uint32_t find_node(struct call_graph *graph, uint32_t parent, uint32_t place)
{
	struct call_graph_node node = {.parent = parent, .place = place};

	return numbering_find(&graph->numbers, numbering_mix(0, (uint64_t)parent << 32 | place),
			      same_node, graph->nodes, &node);
}

uint32_t call_graph_root(struct call_graph *graph)
{
	uint32_t number = find_node(graph, CALL_GRAPH_NONE, (uint32_t)graph->count);

	add_node(graph, CALL_GRAPH_NONE, (uint32_t)graph->count);
	return number;
}

uint32_t call_graph_child(struct call_graph *graph, uint32_t parent, uint32_t place)
{
	uint32_t number = find_node(graph, parent, place);

	if (number == graph->count) {
		add_node(graph, parent, place);
		graph->nodes[number].next_sibling = graph->nodes[parent].first_child;
		graph->nodes[parent].first_child = number;
	}
	return number;
}

void call_graph_free(struct call_graph *graph)
{
	numbering_free(&graph->numbers);
	free(graph->nodes);
}
