/* SPDX-License-Identifier: MIT */
/*
 * models.c: `softpmu models`: the available processors, and how complete each one is.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"

/* The widths of the columns of text. */
struct widths {
	int name, title;
};

static void help(void)
{
	puts("Usage: softpmu models [-v] [MODEL ...]\n\n"
	     "Lists the processors whose performance-monitoring unit is available: version of\n"
	     "architectural performance monitoring (none: the family is older), general counters "
	     "of\n"
	     "a logical processor (with two threads in the core/with one), fixed counters, bits of "
	     "a\n"
	     "counter, format of PEBS records, section of the manual.\n\n"
	     "  -v, --verbose          also list what of each model is done, partial or absent, "
	     "and\n"
	     "                         its errata: switched (on by a program that embeds the\n"
	     "                         library), always there, or absent");
}

static void widen(int *width, const char *text)
{
	if ((int)strlen(text) > *width)
		*width = (int)strlen(text);
}

static struct widths measure(void)
{
	struct widths widths = {0};
	size_t i;

	for (i = 0; i < spmu_model_count(); i++) {
		struct spmu_model_info info = spmu_model_describe(spmu_model_at(i));

		widen(&widths.name, info.name);
		widen(&widths.title, info.title);
	}
	return widths;
}

static void print_row(const struct widths *widths, const char *name, const char *title,
		      const char *version, const char *counters, const char *fixed,
		      const char *width, const char *pebs, const char *section)
{
	printf("%-*s  %-*s  %7s  %8s  %5s  %5s  %5s  %s\n", widths->name, name, widths->title,
	       title, version, counters, fixed, width, pebs, section);
}

static void print_model(const struct widths *widths, const struct spmu_model_info *info)
{
	char version[8] = "none", counters[8], fixed[8], width[8], pebs[8] = "none";

	if (info->perfmon_version)
		snprintf(version, sizeof(version), "%u", info->perfmon_version);
	if (info->counters_ht == info->counters_single)
		snprintf(counters, sizeof(counters), "%u", info->counters_ht);
	else
		snprintf(counters, sizeof(counters), "%u/%u", info->counters_ht,
			 info->counters_single);
	snprintf(fixed, sizeof(fixed), "%u", info->fixed_counters);
	snprintf(width, sizeof(width), "%u", info->counter_bits);
	if (info->pebs_format >= 0)
		snprintf(pebs, sizeof(pebs), "%d", info->pebs_format);
	print_row(widths, info->name, info->title, version, counters, fixed, width, pebs,
		  info->section);
}

static void print_facilities(const struct spmu_model *model)
{
	const struct spmu_facility *facility, *all = spmu_model_facilities(model);
	int width = 0, section = 0;

	for (facility = all; facility->facility; facility++) {
		widen(&width, facility->facility);
		widen(&section, facility->section);
	}
	section += (int)strlen("Vol. 3B ");
	for (facility = all; facility->facility; facility++) {
		char text[80];

		snprintf(text, sizeof(text), "%s%s", output_volume(facility->section),
			 facility->section);
		printf("    %-*s  %-*s  %s\n", width, facility->facility, section, text,
		       facility->state);
	}
}

static void print_errata(const struct spmu_model *model)
{
	static const char *const states[] = {
		[SPMU_ERRATUM_ABSENT] = "absent",
		[SPMU_ERRATUM_SWITCHED] = "switched",
		[SPMU_ERRATUM_ALWAYS] = "always",
	};
	const struct spmu_erratum *erratum;
	int name = 0, number = 0;
	size_t i;

	for (i = 0; (erratum = spmu_erratum_at(model, i)); i++) {
		widen(&name, erratum->name);
		widen(&number, erratum->number);
	}
	for (i = 0; (erratum = spmu_erratum_at(model, i)); i++)
		printf("    erratum %-*s  %-*s  %-8s  %s\n", name, erratum->name, number,
		       erratum->number, states[erratum->state], erratum->effect);
}

/* Prints the models that the user named, or all. */
static bool wanted(const char *name, int count, char **names)
{
	int i;

	for (i = 0; i < count; i++) {
		const struct spmu_model *model = spmu_model_find(names[i]);

		if (!strcmp(names[i], name) ||
		    (model && !strcmp(spmu_model_describe(model).name, name)))
			return true;
	}
	return count == 0;
}

static void print_models(bool verbose, int count, char **names)
{
	struct widths widths = measure();
	size_t i;

	print_row(&widths, "name", "processors", "version", "counters", "fixed", "width", "PEBS",
		  "section");
	for (i = 0; i < spmu_model_count(); i++) {
		const struct spmu_model *model = spmu_model_at(i);
		struct spmu_model_info info = spmu_model_describe(model);

		if (!wanted(info.name, count, names))
			continue;
		print_model(&widths, &info);
		if (verbose) {
			print_facilities(model);
			print_errata(model);
		}
	}
}

int cmd_models(int argc, char **argv)
{
	static const struct option options[] = {
		{"verbose", no_argument, NULL, 'v'}, {"help", no_argument, NULL, 'h'}, {0}};
	bool verbose = false;
	int option, i;

	while ((option = getopt_long(argc, argv, ":vh", options, NULL)) != -1) {
		switch (option) {
		case 'v':
			verbose = true;
			break;
		case 'h':
			help();
			return output_finish("models", 0);
		default:
			return tool_bad_option("models", option, argv);
		}
	}
	for (i = optind; i < argc; i++) {
		if (!spmu_model_find(argv[i])) {
			tool_error("unknown model '%s' (see softpmu models)", argv[i]);
			return 1;
		}
	}
	print_models(verbose, argc - optind, argv + optind);
	return output_finish("models", 0);
}
