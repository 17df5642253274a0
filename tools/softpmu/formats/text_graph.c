/* SPDX-License-Identifier: MIT */
/*
 * text_graph.c: draws a call graph with lines of characters.
 *
 * Functions that only one other function of the tree leads to are listed below it without a share.
 * Where chains part, each branch begins with its share of the event's count.
 */
#define _GNU_SOURCE
#include "tools/softpmu/formats/text_graph.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/symbols/demangle.h"

#define MARGIN	    12
#define LEVEL_WIDTH 11

struct drawing {
	const struct format_output *output;
	const struct rows *rows;
	uint64_t least; /* the weight of a branch that is shown */
	int margin;	/* columns of blanks before each line */
	bool *bars;	/* for each level, whether a bar goes on to a later branch */
	size_t bar_room;
};

static const struct call_graph_node *node_at(const struct drawing *drawing, uint32_t node)
{
	return &drawing->rows->graph.nodes[node];
}

static const struct aggregation_place *place_of(const struct drawing *drawing, uint32_t node)
{
	return &drawing->output->aggregation->places[node_at(drawing, node)->place];
}

static void put_name(const struct drawing *drawing, uint32_t node)
{
	const struct aggregation_place *place = place_of(drawing, node);
	FILE *to = drawing->output->to;

	if (place->symbol)
		fprintf(to, "%s\n", demangle_name(place->symbol->name));
	else
		fprintf(to, "%#" PRIx64 "\n", place->address);
}

/* --- branches below a node ---------------------------------------------------------------- */

struct branches {
	uint32_t *nodes;
	size_t count;
};

static int by_address(const struct aggregation_place *a, const struct aggregation_place *b)
{
	uint64_t a_at = a->symbol ? a->symbol->start : a->address;
	uint64_t b_at = b->symbol ? b->symbol->start : b->address;

	return a_at < b_at ? -1 : a_at > b_at;
}

static int heavier(const void *one, const void *other, void *opaque)
{
	const struct drawing *drawing = opaque;
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
	uint64_t a_total = node_at(drawing, a)->total, b_total = node_at(drawing, b)->total;

	if (a_total != b_total)
		return a_total > b_total ? -1 : 1;
	return by_address(place_of(drawing, a), place_of(drawing, b));
}

/* Returns the branches that are heavy enough, the heaviest first. */
static struct branches branches_below(const struct drawing *drawing, uint32_t node)
{
	struct branches branches = {NULL, 0};
	size_t room = 0;

	for (uint32_t child = node_at(drawing, node)->first_child; child != CALL_GRAPH_NONE;
	     child = node_at(drawing, child)->next_sibling) {
		if (node_at(drawing, child)->total < drawing->least)
			continue;
		branches.nodes =
			tool_room(branches.nodes, &room, branches.count, sizeof(*branches.nodes));
		branches.nodes[branches.count++] = child;
	}
	if (branches.count)
		qsort_r(branches.nodes, branches.count, sizeof(*branches.nodes), heavier,
			(void *)drawing);
	return branches;
}

/* Returns the only child of a node at which no chain ends, otherwise CALL_GRAPH_NONE. */
static uint32_t only_child(const struct drawing *drawing, uint32_t node)
{
	const struct call_graph_node *at = node_at(drawing, node);

	if (at->own || at->first_child == CALL_GRAPH_NONE ||
	    node_at(drawing, at->first_child)->next_sibling != CALL_GRAPH_NONE)
		return CALL_GRAPH_NONE;
	return at->first_child;
}

/* --- lines -------------------------------------------------------------------------------- */

/* Writes the bars of the levels before `depth`, and blanks up to it. */
static void begin_line(const struct drawing *drawing, size_t depth)
{
	FILE *to = drawing->output->to;

	fprintf(to, "%*s", drawing->margin, "");
	for (size_t i = 0; i < depth; i++)
		fprintf(to, "%c%*s", drawing->bars[i] ? '|' : ' ', LEVEL_WIDTH - 1, "");
}

static void draw_branches(struct drawing *drawing, uint32_t node, size_t depth);

/* Draws a node, those below it up to where chains part, and the branches there. */
static void draw_branch(struct drawing *drawing, uint32_t node, size_t depth)
{
	FILE *to = drawing->output->to;
	uint32_t next;

	begin_line(drawing, depth);
	fprintf(to, "%c--%.2f%%--", drawing->bars[depth] ? '|' : ' ',
		rows_percent(drawing->rows, node_at(drawing, node)->total));
	put_name(drawing, node);
	while ((next = only_child(drawing, node)) != CALL_GRAPH_NONE) {
		node = next;
		begin_line(drawing, depth + 1);
		put_name(drawing, node);
	}
	draw_branches(drawing, node, depth + 1);
}

static void draw_branches(struct drawing *drawing, uint32_t node, size_t depth)
{
	struct branches branches = branches_below(drawing, node);

	drawing->bars = tool_room(drawing->bars, &drawing->bar_room, depth, sizeof(bool));
	for (size_t i = 0; i < branches.count; i++) {
		begin_line(drawing, depth);
		fputs("|\n", drawing->output->to);
		drawing->bars[depth] = i + 1 < branches.count;
		draw_branch(drawing, branches.nodes[i], depth);
	}
	free(branches.nodes);
}

/* Draws the beginning that all chains of the row have, without a share.  Returns its last node. */
static uint32_t draw_trunk(struct drawing *drawing, uint32_t node, bool skip_first)
{
	FILE *to = drawing->output->to;
	bool first = true;

	for (; node != CALL_GRAPH_NONE; node = only_child(drawing, node)) {
		if (!skip_first && first) {
			fprintf(to, "%*s|\n", drawing->margin, "");
			fprintf(to, "%*s---", drawing->margin, "");
			drawing->margin += 3;
			first = false;
			put_name(drawing, node);
		} else if (!skip_first) {
			begin_line(drawing, 0);
			put_name(drawing, node);
		}
		skip_first = false;
		if (only_child(drawing, node) == CALL_GRAPH_NONE)
			break;
	}
	return node;
}

void text_graph_write(const struct format_output *output, const struct rows *rows,
		      const struct row *row, bool skip_first)
{
	struct drawing drawing = {
		.output = output,
		.rows = rows,
		.least = (uint64_t)((double)rows->whole * output->options->graph_percent / 100),
		.margin = MARGIN};
	struct branches first = branches_below(&drawing, row->root);
	uint32_t node = row->root;

	if (first.count == 1 && node_at(&drawing, first.nodes[0])->total == row->total)
		node = draw_trunk(&drawing, first.nodes[0], skip_first);
	draw_branches(&drawing, node, 0);
	if (first.count)
		putc('\n', output->to);
	free(first.nodes);
	free(drawing.bars);
}
