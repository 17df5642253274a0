/* SPDX-License-Identifier: MIT */
/*
 * draw.c: draws a register value like the figures of the manual.
 *
 * A row of boxes goes from the highest bit on the left to the lowest on the right.  The first and
 * the last bit of each field are above its box.  A box is as wide as its name and value, not as its
 * bits.  A register that does not fit the columns continues on the next row.
 */
#include "tools/softpmu/registers/draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/softpmu/base/output.h"

/* The characters of a box. */
struct strokes {
	const char *horizontal, *vertical;
	const char *top_left, *top_tee, *top_right;
	const char *bottom_left, *bottom_tee, *bottom_right;
};

static const struct strokes strokes_ascii = {"-", "|", "+", "+", "+", "+", "+", "+"};
static const struct strokes strokes_utf8 = {"─", "│", "┌", "┬", "┐", "└", "┴", "┘"};

#define LABEL_MAX 64

struct draw_style draw_style(bool ascii)
{
	return (struct draw_style){.ascii = ascii || !output_utf8(), .columns = output_columns()};
}

uint64_t draw_extract(const struct spmu_field *field, uint64_t value)
{
	uint64_t bits = value >> field->low;

	return field->width >= 64 ? bits : bits & ((UINT64_C(1) << field->width) - 1);
}

/* Writes "31:24" or "22". */
static void bits_text(const struct spmu_field *field, char text[LABEL_MAX])
{
	if (field->width == 1)
		snprintf(text, LABEL_MAX, "%u", field->low);
	else
		snprintf(text, LABEL_MAX, "%u:%u", field->low + field->width - 1u, field->low);
}

/* Writes a number like the manual: a bit as 0 or 1, more bits in hexadecimal with an H. */
static void value_text(const struct spmu_field *field, uint64_t value, char text[LABEL_MAX])
{
	uint64_t bits = draw_extract(field, value);

	if (field->width == 1)
		snprintf(text, LABEL_MAX, "%" PRIu64, bits);
	else if (field->name == NULL && bits == 0)
		snprintf(text, LABEL_MAX, "0");
	else
		snprintf(text, LABEL_MAX, "%0*" PRIX64 "H", (field->width + 3) / 4, bits);
}

static const char *name_text(const struct spmu_field *field)
{
	if (field->name)
		return field->name;
	return field->width < 3 ? "-" : "reserved";
}

static size_t longer(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Returns the width of a field's box without its borders. */
static size_t box_width(const struct spmu_field *field, uint64_t value)
{
	char text[LABEL_MAX];
	size_t width = strlen(name_text(field));

	bits_text(field, text);
	width = longer(width, strlen(text));
	value_text(field, value, text);
	return longer(width, strlen(text)) + 2;
}

static void repeat(const char *text, size_t times)
{
	while (times--)
		fputs(text, stdout);
}

static void centred(const char *text, size_t width)
{
	size_t length = strlen(text);
	size_t left = (width - length) / 2;

	printf("%*s%s%*s", (int)left, "", text, (int)(width - length - left), "");
}

/* Prints the bit numbers above a box: its highest bit at the left, its lowest at the right. */
static void ruler(const struct spmu_field *field, size_t width, bool last)
{
	char high[LABEL_MAX], low[LABEL_MAX];

	snprintf(low, sizeof(low), "%u", field->low);
	if (field->width == 1) {
		if (last) /* no blanks at the end of a line */
			printf("%*s%s", (int)(width - strlen(low)) / 2, "", low);
		else
			centred(low, width);
		return;
	}
	snprintf(high, sizeof(high), "%u", field->low + field->width - 1u);
	printf("%s%*s%s", high, (int)(width - strlen(high) - strlen(low)), "", low);
}

static void border(const struct spmu_field *fields, size_t count, uint64_t value,
		   const struct strokes *s, bool top)
{
	size_t i;

	fputs(top ? s->top_left : s->bottom_left, stdout);
	for (i = count; i-- > 0;) {
		repeat(s->horizontal, box_width(&fields[i], value));
		if (i > 0)
			fputs(top ? s->top_tee : s->bottom_tee, stdout);
	}
	puts(top ? s->top_right : s->bottom_right);
}

/* Prints one row of boxes.  `fields` has `count` fields, the lowest first. */
static void row(const struct spmu_field *fields, size_t count, uint64_t value,
		const struct strokes *s)
{
	char text[LABEL_MAX];
	size_t i;

	for (i = count; i-- > 0;) {
		putchar(' ');
		ruler(&fields[i], box_width(&fields[i], value), i == 0);
	}
	putchar('\n');
	border(fields, count, value, s, true);
	for (i = count; i-- > 0;) {
		fputs(s->vertical, stdout);
		centred(name_text(&fields[i]), box_width(&fields[i], value));
	}
	puts(s->vertical);
	for (i = count; i-- > 0;) {
		value_text(&fields[i], value, text);
		fputs(s->vertical, stdout);
		centred(text, box_width(&fields[i], value));
	}
	puts(s->vertical);
	border(fields, count, value, s, false);
}

/*
 * Returns the first field of a row that ends before field `end` and is at most `columns` wide.  The
 * row has at least one field.  Sets *width to its width.
 */
static size_t row_begin(const struct spmu_field *fields, size_t end, uint64_t value, size_t columns,
			size_t *width)
{
	size_t first = end - 1;

	*width = box_width(&fields[first], value) + 2;
	while (first > 0) {
		size_t more = box_width(&fields[first - 1], value) + 1;

		if (*width + more > columns)
			break;
		*width += more;
		first--;
	}
	return first;
}

static size_t count_rows(const struct spmu_field *fields, size_t count, uint64_t value,
			 size_t columns)
{
	size_t rows = 0, width;

	while (count > 0) {
		count = row_begin(fields, count, value, columns, &width);
		rows++;
	}
	return rows;
}

void draw_boxes(const struct draw_style *style, const struct spmu_field *fields, size_t count,
		uint64_t value)
{
	const struct strokes *s = style->ascii ? &strokes_ascii : &strokes_utf8;
	size_t columns = style->columns, end = count, width;
	size_t rows = count_rows(fields, count, value, columns);

	/* Choose the least width that needs no more rows, so that the rows are about equally
	 * long. */
	while (columns > 1 && count_rows(fields, count, value, columns - 1) == rows)
		columns--;
	while (end > 0) {
		size_t first = row_begin(fields, end, value, columns, &width);

		row(fields + first, end - first, value, s);
		end = first;
	}
}

/* Returns what a field's access adds to its meaning. */
static const char *access_text(enum spmu_access access)
{
	switch (access) {
	case SPMU_RO:
		return " (read only)";
	case SPMU_W1C:
		return " (write 1 to clear)";
	case SPMU_W1S:
		return " (write 1 to set)";
	case SPMU_IGNORED:
		return " (not the unit's)";
	case SPMU_RW:
	case SPMU_RESERVED:
		break;
	}
	return "";
}

void draw_fields(const struct spmu_field *fields, size_t count, uint64_t value)
{
	size_t names = strlen("field"), values = strlen("value"), i;
	char bits[LABEL_MAX], text[LABEL_MAX];

	for (i = 0; i < count; i++) {
		value_text(&fields[i], value, text);
		names = longer(names, strlen(fields[i].name ? fields[i].name : "reserved"));
		values = longer(values, strlen(text));
	}
	printf(" %-5s  %-*s  %*s  %s\n", "bits", (int)names, "field", (int)values, "value",
	       "meaning");
	for (i = count; i-- > 0;) {
		const struct spmu_field *field = &fields[i];
		bool wrong = field->access == SPMU_RESERVED && draw_extract(field, value) != 0;
		const char *meaning = field->meaning ? field->meaning : "";

		bits_text(field, bits);
		value_text(field, value, text);
		if (field->access == SPMU_RESERVED)
			meaning = wrong ? "must be 0: writing this raises #GP(0)" : "must be 0";
		printf(" %-5s  %-*s  %*s  %s%s\n", bits, (int)names,
		       field->name ? field->name : "reserved", (int)values, text, meaning,
		       access_text(field->access));
	}
}
