/* SPDX-License-Identifier: MIT */
/*
 * rows.h: the rows that a format shows of an event: functions, branches between functions, or
 * callers of functions, those with the most first.
 */
#ifndef SOFTPMU_TOOL_ROWS_H
#define SOFTPMU_TOOL_ROWS_H

#include "tools/softpmu/profile/aggregation.h"

/* What tells rows of functions apart. */
enum rows_key { ROWS_BY_COMM, ROWS_BY_OBJECT, ROWS_BY_SYMBOL, ROWS_KEYS };

/* A function or, when that is unknown, an address in the object. */
struct rows_end {
	const struct symbol *symbol;
	uint64_t address;
	char level; /* 0: functions do not tell the rows apart */
};

/* Of a branch, the object is that of its source. */
struct row {
	const char *comm, *object; /* NULL: they do not tell the rows apart */
	struct symbol_file *file;  /* of a function */
	struct rows_end from, to;  /* a function has no `to` */
	uint64_t samples;	   /* of a function */
	uint64_t weight;	   /* period of the samples, or number of branches */
	size_t last_stack;	   /* the last that it was counted for, plus 1 */
};

struct rows {
	struct row *rows;
	size_t count, room;
	uint64_t whole; /* the weight that is 100 % */
	struct numbering numbers;
};

/* `by`: bit n is enum rows_key n. */
struct rows rows_of_functions(const struct aggregation *aggregation, size_t event, unsigned by);
struct rows rows_of_branches(const struct aggregation *aggregation, size_t event);

/* A caller and a function it called, with the period of each sample that has that pair in its chain
 * (once, however often the functions call each other). */
struct rows rows_of_callers(const struct aggregation *aggregation, size_t event);
void rows_free(struct rows *rows);

double rows_percent(const struct rows *rows, const struct row *row);

/* Writes "[.] main" or "[.] 0x0000000000001234". */
void rows_end_text(const struct rows_end *end, char *text, size_t bytes);

#endif
