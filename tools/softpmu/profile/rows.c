/* SPDX-License-Identifier: MIT */
/* rows.c: groups the entries of an aggregation into rows, and sorts these. */
#include "tools/softpmu/profile/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/symbols/demangle.h"

static bool same_end(const struct rows_end *a, const struct rows_end *b)
{
	return a->symbol == b->symbol && a->address == b->address && a->level == b->level;
}

static bool same_row(const void *rows, uint32_t number, const void *thing)
{
	const struct row *a = (const struct row *)rows + number, *b = thing;

	return a->comm == b->comm && a->object == b->object && same_end(&a->from, &b->from) &&
	       same_end(&a->to, &b->to);
}

/* Returns the row that is equal to `like`, and adds it if there is none. */
static struct row *find_row(struct rows *rows, const struct row *like)
{
	uint64_t hash =
		numbering_mix(numbering_mix(0, (uintptr_t)like->comm), (uintptr_t)like->object);
	uint32_t number;

	hash = numbering_mix(hash, (uintptr_t)like->from.symbol + like->from.address);
	hash = numbering_mix(hash, (uintptr_t)like->to.symbol + like->to.address);
	number = numbering_find(&rows->numbers, hash, same_row, rows->rows, like);
	if (number == rows->count) {
		rows->rows = tool_room(rows->rows, &rows->room, rows->count, sizeof(*rows->rows));
		rows->rows[rows->count++] = *like;
	}
	return &rows->rows[number];
}

void rows_end_text(const struct rows_end *end, char *text, size_t bytes)
{
	if (end->symbol)
		snprintf(text, bytes, "[%c] %s", end->level, demangle_name(end->symbol->name));
	else
		snprintf(text, bytes, "[%c] 0x%016" PRIx64, end->level, end->address);
}

static int by_end(const struct rows_end *a, const struct rows_end *b)
{
	char a_text[256], b_text[256];

	if (!a->level)
		return 0;
	rows_end_text(a, a_text, sizeof(a_text));
	rows_end_text(b, b_text, sizeof(b_text));
	return strcmp(a_text, b_text);
}

static int by_text(const char *a, const char *b)
{
	return a ? strcmp(a, b) : 0;
}

static int by_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Puts the heaviest row first.  Rows of equal weight are sorted by their text, so that the same
 * file always gives the same report. */
static int heavier(const void *one, const void *other)
{
	const struct row *a = one, *b = other;
	int order = by_number(b->weight, a->weight);

	if (!order)
		order = by_end(&a->from, &b->from);
	if (!order)
		order = by_end(&a->to, &b->to);
	if (!order && a->object)
		order = by_text(profile_short(a->object), profile_short(b->object));
	if (!order)
		order = by_text(a->comm, b->comm);
	if (!order)
		order = by_text(a->object, b->object);
	/* A file can have several functions of one name. */
	if (!order && a->from.symbol && b->from.symbol)
		order = by_number(a->from.symbol->start, b->from.symbol->start);
	if (!order && a->to.symbol && b->to.symbol)
		order = by_number(a->to.symbol->start, b->to.symbol->start);
	return order;
}

static void sort(struct rows *rows)
{
	if (rows->count)
		qsort(rows->rows, rows->count, sizeof(*rows->rows), heavier);
}

static struct rows_end end_of(const struct aggregation_place *place)
{
	return (struct rows_end){place->symbol, place->address, place->level};
}

struct rows rows_of_functions(const struct aggregation *aggregation, size_t event, unsigned by)
{
	const struct aggregation_event *from = &aggregation->events[event];
	struct rows rows = {.whole = from->period};

	for (size_t i = 0; i < from->stack_count; i++) {
		const struct aggregation_stack *stack = &from->stacks[i];
		const struct aggregation_place *place = &aggregation->places[stack->place];
		struct row like = {.file = place->file}, *row;

		if (by >> ROWS_BY_COMM & 1)
			like.comm = stack->comm;
		if (by >> ROWS_BY_OBJECT & 1)
			like.object = place->object;
		if (by >> ROWS_BY_SYMBOL & 1)
			like.from = end_of(place);
		row = find_row(&rows, &like);
		row->samples += stack->samples;
		row->weight += stack->period;
	}
	sort(&rows);
	return rows;
}

static struct row edge_row(const struct aggregation *aggregation, const char *comm,
			   const struct aggregation_edge *edge)
{
	const struct aggregation_place *from = &aggregation->places[edge->from];

	return (struct row){.comm = comm,
			    .object = from->object,
			    .from = end_of(from),
			    .to = end_of(&aggregation->places[edge->to])};
}

struct rows rows_of_branches(const struct aggregation *aggregation, size_t event)
{
	const struct aggregation_event *from = &aggregation->events[event];
	struct rows rows = {.whole = from->edges};

	for (size_t i = 0; i < from->branch_count; i++) {
		const struct aggregation_branch *branch = &from->branches[i];
		struct row like = edge_row(aggregation, branch->comm, &branch->edge);

		find_row(&rows, &like)->weight += branch->count;
	}
	sort(&rows);
	return rows;
}

struct rows rows_of_callers(const struct aggregation *aggregation, size_t event)
{
	const struct aggregation_event *from = &aggregation->events[event];
	struct rows rows = {.whole = from->period};

	for (size_t i = 0; i < from->stack_count; i++) {
		const struct aggregation_stack *stack = &from->stacks[i];

		for (size_t j = 0; j < stack->call_count; j++) {
			struct row like = edge_row(aggregation, stack->comm, &stack->calls[j]);
			struct row *row = find_row(&rows, &like);

			if (row->last_stack == i + 1)
				continue;
			row->last_stack = i + 1;
			row->weight += stack->period;
		}
	}
	sort(&rows);
	return rows;
}

void rows_free(struct rows *rows)
{
	numbering_free(&rows->numbers);
	free(rows->rows);
}

double rows_percent(const struct rows *rows, const struct row *row)
{
	return rows->whole ? 100.0 * (double)row->weight / (double)rows->whole : 0;
}
