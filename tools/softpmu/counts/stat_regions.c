/* SPDX-License-Identifier: MIT */
/*
 * stat_regions.c: what regions of the program count.
 *
 * A region is in the order in which it was entered first.  With -r its numbers are means of the
 * runs.  If the program tells its iterations, text has a second line, with the counts of one
 * iteration.
 */
#include "tools/softpmu/counts/stat_regions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/counts/stat_print.h"

#define NUMBER_WIDTH 18

struct region {
	char *name;
	uint64_t entries, iterations; /* of all runs */
	uint64_t *count;	      /* of each event of the table, of all runs */
};

struct stat_regions {
	struct region *region;
	size_t regions, room;
	uint32_t lost;
};

void stat_regions_free(struct stat_table *table)
{
	struct stat_regions *all = table->regions;

	for (size_t i = 0; all && i < all->regions; i++) {
		free(all->region[i].name);
		free(all->region[i].count);
	}
	if (all)
		free(all->region);
	free(all);
	table->regions = NULL;
}

/* --- gathering ---------------------------------------------------------------------------- */

static struct region *find_or_add(const struct stat_table *table, const char *name)
{
	struct stat_regions *all = table->regions;

	for (size_t i = 0; i < all->regions; i++)
		if (!strcmp(all->region[i].name, name))
			return &all->region[i];
	if (all->regions == all->room) {
		all->room = all->room ? 2 * all->room : 16;
		all->region = tool_grow(all->region, all->room * sizeof(*all->region));
	}
	all->region[all->regions] =
		(struct region){.name = tool_copy(name),
				.count = tool_alloc(table->events.count * sizeof(uint64_t))};
	return &all->region[all->regions++];
}

void stat_regions_take(void *opaque, const struct link_region *region, size_t count, uint32_t lost)
{
	struct stat_table *table = opaque;

	if (!count && !lost)
		return;
	if (!table->regions)
		table->regions = tool_alloc(sizeof(*table->regions));
	table->regions->lost += lost;
	for (size_t i = 0; i < count; i++) {
		struct region *r = find_or_add(table, region[i].name);
		size_t place = 0;

		r->entries += region[i].entries;
		r->iterations += region[i].iterations;
		for (size_t e = 0; e < table->events.count; e++)
			if (table->events.event[e].fidelity != SPMU_ABSENT)
				r->count[e] += region[i].count[place++];
	}
}

/* --- printing ----------------------------------------------------------------------------- */

/* Returns the number as text, which is a mean if there were several runs.  `to` holds 32 bytes. */
static const char *mean_of(const struct stat_table *table, uint64_t sum, char *to)
{
	if (table->runs > 1)
		snprintf(to, 32, "%.6f", (double)sum / (double)table->runs);
	else
		snprintf(to, 32, "%" PRIu64, sum);
	return to;
}

static int width_of(const struct stat_table *table, size_t e)
{
	int length = (int)strlen(table->events.event[e].name);

	return (length > NUMBER_WIDTH - 2 ? length + 2 : NUMBER_WIDTH);
}

static void print_heading(const struct stat_table *table, FILE *file)
{
	fputs("\n Regions:\n\n", file);
	fprintf(file, "%*s", NUMBER_WIDTH, "entries");
	for (size_t e = 0; e < table->events.count; e++)
		fprintf(file, "%*s", width_of(table, e), table->events.event[e].name);
	fputs("  region\n", file);
}

static void print_line(const struct stat_table *table, const struct region *r, FILE *file)
{
	char number[STAT_PRINT_NUMBER];

	fprintf(file, "%*s", NUMBER_WIDTH,
		stat_print_commas((double)r->entries / (double)table->runs, number));
	for (size_t e = 0; e < table->events.count; e++) {
		const char *missing = stat_table_no_number(table, e);

		fprintf(file, "%*s", width_of(table, e),
			missing ? missing
				: stat_print_commas((double)r->count[e] / (double)table->runs,
						    number));
	}
	fprintf(file, "  %s\n", r->name);
}

static void print_per_iteration(const struct stat_table *table, const struct region *r, FILE *file)
{
	char number[32];

	fprintf(file, "%*s", NUMBER_WIDTH, "");
	for (size_t e = 0; e < table->events.count; e++) {
		snprintf(number, sizeof(number), "%.3f",
			 (double)r->count[e] / (double)r->iterations);
		fprintf(file, "%*s", width_of(table, e),
			stat_table_no_number(table, e) ? "" : number);
	}
	fprintf(file, "    per iteration of %s (%" PRIu64 " iterations)\n", r->name,
		r->iterations / table->runs);
}

void stat_regions_text(const struct stat_table *table, FILE *file)
{
	const struct stat_regions *all = table->regions;

	if (!all)
		return;
	print_heading(table, file);
	for (size_t i = 0; i < all->regions; i++) {
		print_line(table, &all->region[i], file);
		if (all->region[i].iterations)
			print_per_iteration(table, &all->region[i], file);
	}
	if (all->lost)
		fprintf(file,
			" %" PRIu32 " entries of regions were not counted: there are more than %d "
			"regions, or more than 64 are open in a thread\n",
			all->lost, LINK_REGIONS_MAX);
}

/* Prints a region's count of an event on a line.  `separator` is that of fields. */
typedef void region_row(const struct stat_table *table, const struct region *r, size_t e,
			const char *separator, FILE *file);

static void print_rows(const struct stat_table *table, region_row *row, const char *separator,
		       FILE *file)
{
	const struct stat_regions *all = table->regions;

	for (size_t i = 0; all && i < all->regions; i++)
		for (size_t e = 0; e < table->events.count; e++)
			row(table, &all->region[i], e, separator, file);
}

static void print_json_row(const struct stat_table *table, const struct region *r, size_t e,
			   const char *separator, FILE *file)
{
	const char *missing = stat_table_no_number(table, e);
	char number[32];

	(void)separator;
	fputs("{\"region\" : ", file);
	stat_print_json_text(r->name, file);
	fprintf(file, ", \"entries\" : %s", mean_of(table, r->entries, number));
	fprintf(file, ", \"iterations\" : %s", mean_of(table, r->iterations, number));
	fprintf(file, ", \"counter-value\" : \"%s%s\", \"unit\" : \"\"",
		missing ? missing : mean_of(table, r->count[e], number),
		missing || table->runs > 1 ? "" : ".000000");
	fputs(", \"event\" : ", file);
	stat_print_json_text(table->events.event[e].name, file);
	stat_print_json_origin(table, file);
	fputs("}\n", file);
}

static void print_field_row(const struct stat_table *table, const struct region *r, size_t e,
			    const char *separator, FILE *file)
{
	const char *missing = stat_table_no_number(table, e);
	char number[32];

	fprintf(file, "region%s%s%s%s", separator, r->name, separator,
		mean_of(table, r->entries, number));
	fprintf(file, "%s%s", separator, mean_of(table, r->iterations, number));
	fprintf(file, "%s%s%s%s\n", separator,
		missing ? missing : mean_of(table, r->count[e], number), separator,
		table->events.event[e].name);
}

void stat_regions_json(const struct stat_table *table, FILE *file)
{
	print_rows(table, print_json_row, NULL, file);
}

void stat_regions_fields(const struct stat_table *table, const char *separator, FILE *file)
{
	print_rows(table, print_field_row, separator, file);
}
