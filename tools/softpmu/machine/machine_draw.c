/* SPDX-License-Identifier: MIT */
/* machine_draw.c: a machine as boxes, the first level above, memory below. */
#include "tools/softpmu/machine/machine_draw.h"

#include <softpmu/unit.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/machine/parameter.h"
#include "tools/softpmu/machine/values.h"

#define WIDTH 78 /* of a drawing */
#define LINES 8	 /* of a box, at most */

/* Lines of text, each to free(). */
struct box {
	char *line[LINES];
	unsigned lines;
};

static void add(struct box *box, char *line)
{
	if (box->lines < LINES)
		box->line[box->lines++] = line;
	else
		free(line);
}

/* --- boxes ------------------------------------------------------------------------------ */

/* Returns the corner at the right of a box. */
static const char *corner(bool last, bool top, bool ascii)
{
	if (ascii)
		return "+";
	if (last)
		return top ? "┐" : "┘";
	return top ? "┬" : "┴";
}

static void draw_edge(unsigned columns, bool ascii, bool top)
{
	unsigned width = (WIDTH - columns - 1) / columns;

	printf(" %s", ascii ? "+" : top ? "┌" : "└");
	for (unsigned c = 0; c < columns; c++) {
		for (unsigned i = 0; i < width; i++)
			printf("%s", ascii ? "-" : "─");
		printf("%s", corner(c + 1 == columns, top, ascii));
	}
	printf("\n");
}

/* Draws boxes side by side, and frees their lines. */
static void draw_boxes(struct box *box, unsigned columns, bool ascii)
{
	int width = (int)((WIDTH - columns - 1) / columns);
	const char *edge = ascii ? "|" : "│";
	unsigned lines = 0;

	for (unsigned c = 0; c < columns; c++)
		lines = box[c].lines > lines ? box[c].lines : lines;
	if (!lines)
		return;
	draw_edge(columns, ascii, true);
	for (unsigned i = 0; i < lines; i++) {
		printf(" %s", edge);
		for (unsigned c = 0; c < columns; c++) {
			printf(" %-*s%s", width - 1, i < box[c].lines ? box[c].line[i] : "", edge);
			if (i < box[c].lines)
				free(box[c].line[i]);
		}
		printf("\n");
	}
	draw_edge(columns, ascii, false);
}

/* --- what is in them ---------------------------------------------------------------------- */

static void add_cache(struct box *box, const char *name, const struct spmu_cache_shape *c)
{
	char *size = values_size_text(c->bytes), *policy = values_policy_text(&c->replacement);

	add(box, tool_print("%s: %s, %u ways, %u sets", name, size, c->ways,
			    c->bytes / c->ways / c->line_bytes));
	add(box, tool_print("  lines of %u bytes, %s", c->line_bytes, policy));
	free(size);
	free(policy);
}

static void add_tlbs(struct box *box, const char *name, const struct spmu_tlb_shape *tlb,
		     unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		char *pages = values_pages_text(tlb[i].page_shifts);

		if (tlb[i].entries)
			add(box, tool_print("%s%u: %u entries, %u ways, %s", name, i,
					    tlb[i].entries, tlb[i].ways, pages));
		free(pages);
	}
}

static void add_predictor(struct box *box, const struct spmu_predictor_shape *p)
{
	const char *name = values_conditional_words[p->conditional];

	if (p->conditional == SPMU_PREDICT_TAGE)
		add(box, tool_print("conditional branches: tage, %u tables of %u entries, history "
				    "of %u",
				    p->tables, 1u << p->table_bits, p->history_bits));
	else if (p->conditional == SPMU_PREDICT_NONE)
		add(box, tool_copy("conditional branches: always predicted"));
	else
		add(box, tool_print("conditional branches: %s, %u counters, history of %u", name,
				    1u << (p->address_bits + (p->conditional == SPMU_PREDICT_GSELECT
								      ? p->history_bits
								      : 0)),
				    p->history_bits));
	if (p->indirect_bits)
		add(box, tool_print("indirect branches: %u targets, history of %u targets",
				    1u << p->indirect_bits, p->indirect_history));
	if (p->return_stack)
		add(box, tool_print("return stack: %u entries", p->return_stack));
	else
		add(box, tool_copy("returns: always predicted"));
}

/* Adds the switches whose keys begin with `prefetch.`. */
static void add_prefetchers(struct box *box, const struct spmu_machine *m)
{
	const char *key;

	for (size_t i = 0; (key = parameter_at(i)); i++) {
		char *value;

		if (strncmp(key, "prefetch.", 9) != 0)
			continue;
		value = parameter_value(m, key);
		add(box, tool_print("%s: %s", key, value));
		free(value);
	}
}

static void draw_private(const struct spmu_machine *m, bool ascii)
{
	struct box first[2] = {{.lines = 0}, {.lines = 0}}, second = {.lines = 0};

	add_cache(&first[0], "L1I", &m->l1i);
	add_tlbs(&first[0], "itlb", m->itlb, 2);
	add_cache(&first[1], "L1D", &m->l1d);
	add_tlbs(&first[1], "dtlb", m->dtlb, 3);
	draw_boxes(first, 2, ascii);
	if (m->l2.bytes)
		add_cache(&second, "L2", &m->l2);
	add_tlbs(&second, "stlb", m->stlb, 2);
	if (m->stlb[0].entries && m->properties & SPMU_MACHINE_STLB_FOR_DATA)
		add(&second, tool_copy("  (for data alone)"));
	if (m->properties & SPMU_MACHINE_WALK_READS)
		add(&second, tool_print("page walks read page tables; cached: %u PDEs, %u PDPTEs, "
					"%u PML4Es",
					m->paging[0], m->paging[1], m->paging[2]));
	draw_boxes(&second, 1, ascii);
}

static void draw_shared(const struct spmu_machine *m, bool ascii)
{
	struct box last = {.lines = 0};

	if (!m->llc.bytes)
		return;
	add_cache(&last, "LLC", &m->llc);
	add(&last, tool_print("  %s", values_inclusion_words[m->inclusion]));
	draw_boxes(&last, 1, ascii);
}

static void print_models(const struct spmu_machine *m)
{
	unsigned found = 0;

	for (size_t i = 0; i < spmu_model_count(); i++) {
		const char *model = spmu_model_describe(spmu_model_at(i)).name;

		if (spmu_machine_of_model(model) == m)
			printf("%s%s", found++ ? ", " : "models: ", model);
	}
	printf("%s", found ? "\n" : "");
}

/* Prints words with a line break before they get too long. */
static void print_wrapped(const char *label, const char *text)
{
	size_t at = strlen(label);

	printf("%s", label);
	while (*text) {
		size_t length = strcspn(text, " ");

		if (at + length + 1 > WIDTH) {
			printf("\n ");
			at = 1;
		}
		printf(" %.*s", (int)length, text);
		at += length + 1;
		text += length + strspn(text + length, " ");
	}
	printf("\n");
}

/* Lists the parameters as machine_file.c reads them.  Those that are not set are comments. */
static void print_file(const struct spmu_machine *m)
{
	const struct spmu_machine empty = {.size = sizeof(empty)};
	const char *key;

	printf("\n# as a file for --machine-file, and keys for --set and --sweep\n");
	for (size_t i = 0; (key = parameter_at(i)); i++) {
		char *value = parameter_value(m, key), *unset = parameter_value(&empty, key);

		printf("%s%s = %s\n", strcmp(value, unset) ? "" : "# ", key, value);
		free(value);
		free(unset);
	}
}

void machine_draw(const struct spmu_machine *machine, bool ascii)
{
	struct box branches = {.lines = 0}, prefetchers = {.lines = 0};

	printf("machine %s\n", machine->name);
	print_models(machine);
	print_wrapped("source:", machine->source);
	printf("\n");
	draw_private(machine, ascii);
	draw_shared(machine, ascii);
	add_predictor(&branches, &machine->predictor);
	draw_boxes(&branches, 1, ascii);
	add_prefetchers(&prefetchers, machine);
	draw_boxes(&prefetchers, 1, ascii);
	print_file(machine);
}

void machine_draw_list(void)
{
	const struct spmu_machine *machine;

	for (size_t i = 0; (machine = spmu_machine_at(i)); i++)
		printf("%-20s %s\n", machine->name, machine->source);
}
