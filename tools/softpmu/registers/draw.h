/* SPDX-License-Identifier: MIT */
/* draw.h: a register as the manual draws it: bit numbers, boxes, and a line for each field. */
#ifndef SOFTPMU_TOOL_DRAW_H
#define SOFTPMU_TOOL_DRAW_H

#include <softpmu/registers.h>

struct draw_style {
	bool ascii;
	unsigned columns;
};

/* Returns the style of standard output.  `ascii` asks for ASCII in any locale. */
struct draw_style draw_style(bool ascii);

/* Returns the field's bits of a register value, shifted down. */
uint64_t draw_extract(const struct spmu_field *field, uint64_t value);

/* Draws boxes from the highest field to the lowest, in as many rows as necessary. */
void draw_boxes(const struct draw_style *style, const struct spmu_field *fields, size_t count,
		uint64_t value);

/* Prints a line for each field, the highest first: bits, name, value, meaning. */
void draw_fields(const struct spmu_field *fields, size_t count, uint64_t value);

#endif
