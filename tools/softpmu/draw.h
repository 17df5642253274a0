/* SPDX-License-Identifier: MIT */
/* draw.h: a register as the manual draws it: a ruler of bits, boxes, then a line for each field. */
#ifndef SOFTPMU_TOOL_DRAW_H
#define SOFTPMU_TOOL_DRAW_H

#include <softpmu/registers.h>

struct draw_style {
	bool ascii;
	unsigned columns;
};

/* `ascii` asks for ASCII whatever the locale is. */
struct draw_style draw_style(bool ascii);

/* The field's bits of a register value, shifted down. */
uint64_t draw_extract(const struct spmu_field *field, uint64_t value);

/* Boxes from the highest field to the lowest, in as many rows as the columns ask for. */
void draw_boxes(const struct draw_style *style, const struct spmu_field *fields, size_t count,
		uint64_t value);

/* One line for each field, highest first: bits, name, value, meaning. */
void draw_fields(const struct spmu_field *fields, size_t count, uint64_t value);

#endif
