/* SPDX-License-Identifier: MIT */
/* report.c: `softpmu report`: the hot functions, branches or callers of a perf.data. */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"
#include "tools/softpmu/formats/format.h"
#include "tools/softpmu/symbols/demangle.h"

static void help(void)
{
	puts("Usage: softpmu report [OPTIONS]\n\n"
	     "Shows the hot functions of a perf.data.\n\n"
	     "  -i, --input FILE            the file (default perf.data)\n"
	     "  -s, --sort KEY[,KEY...]     what a line is about: comm, dso, sym\n"
	     "                              (default comm,dso,sym)\n"
	     "  -b, --branch-stack          show the branches in samples or traces, from function "
	     "to\n"
	     "                              function, instead of the samples\n"
	     "  -g, --call-graph            show which function called which, for samples with "
	     "call\n"
	     "                              chains\n"
	     "  -n, --show-nr-samples       also show the number of samples\n"
	     "      --percent-limit N       leave out lines below N percent\n"
	     "      --header                begin with what was recorded, where and how\n"
	     "      --no-demangle           show names as the compiler wrote them\n"
	     "      --symfs DIRECTORY       look for files with symbols below it\n"
	     "      --stdio                 has no effect; accepted because perf has it");
}

/* Takes "comm,dso,sym".  Returns NULL, or the word that is wrong, to free(). */
static char *parse_sort(struct format_options *options, const char *text)
{
	static const char *const names[ROWS_KEYS][2] = {
		[ROWS_BY_COMM] = {"comm", "comm"},
		[ROWS_BY_OBJECT] = {"dso", "dso"},
		[ROWS_BY_SYMBOL] = {"sym", "symbol"},
	};
	char *copy = tool_copy(text), *word, *rest = copy, *wrong = NULL;
	bool given[ROWS_KEYS] = {false};

	options->key_count = 0;
	while (!wrong && (word = strsep(&rest, ",")) != NULL) {
		int key = 0;

		while (key < ROWS_KEYS && strcmp(word, names[key][0]) &&
		       strcmp(word, names[key][1]))
			key++;
		if (key == ROWS_KEYS || given[key]) {
			wrong = tool_copy(word);
		} else {
			options->keys[options->key_count++] = (enum rows_key)key;
			given[key] = true;
		}
	}
	free(copy);
	return wrong;
}

int cmd_report(int argc, char **argv)
{
	enum { OPTION_LIMIT = 256, OPTION_HEADER, OPTION_STDIO, OPTION_SYMFS, OPTION_NO_DEMANGLE };
	static const struct option options[] = {
		{"input", required_argument, NULL, 'i'},
		{"sort", required_argument, NULL, 's'},
		{"branch-stack", no_argument, NULL, 'b'},
		{"call-graph", no_argument, NULL, 'g'},
		{"show-nr-samples", no_argument, NULL, 'n'},
		{"percent-limit", required_argument, NULL, OPTION_LIMIT},
		{"header", no_argument, NULL, OPTION_HEADER},
		{"stdio", no_argument, NULL, OPTION_STDIO},
		{"symfs", required_argument, NULL, OPTION_SYMFS},
		{"no-demangle", no_argument, NULL, OPTION_NO_DEMANGLE},
		{"help", no_argument, NULL, 'h'},
		{0}};
	const char *input = "perf.data", *root = NULL;
	struct format_options shown = {.keys = {ROWS_BY_COMM, ROWS_BY_OBJECT, ROWS_BY_SYMBOL},
				       .key_count = ROWS_KEYS};
	bool branches = false, callers = false;
	struct profile *profile;
	char *wrong;
	int option, status;

	while ((option = getopt_long(argc, argv, ":i:s:bgnh", options, NULL)) != -1) {
		switch (option) {
		case 'i':
			input = optarg;
			break;
		case 's':
			wrong = parse_sort(&shown, optarg);
			if (wrong) {
				status = tool_usage_error("report",
							  "cannot sort by '%s': keys are comm, dso "
							  "and sym, each once",
							  wrong);
				free(wrong);
				return status;
			}
			break;
		case 'b':
			branches = true;
			break;
		case 'g':
			callers = true;
			break;
		case 'n':
			shown.show_count = true;
			break;
		case OPTION_LIMIT:
			if (!tool_percent(optarg, &shown.percent_limit))
				return tool_usage_error(
					"report", "--percent-limit must be 0 to 100, not '%s'",
					optarg);
			break;
		case OPTION_SYMFS:
			root = optarg;
			break;
		case OPTION_HEADER:
			shown.header = true;
			break;
		case OPTION_NO_DEMANGLE:
			demangle_switch_off();
			break;
		case OPTION_STDIO:
			break;
		case 'h':
			help();
			return output_finish("report", 0);
		default:
			return tool_bad_option("report", option, argv);
		}
	}
	if (branches && callers)
		return tool_usage_error("report", "-b and -g cannot be combined");
	if (optind < argc)
		return tool_usage_error("report", "unexpected argument '%s'; name the file with -i",
					argv[optind]);
	profile = profile_open(input, root);
	if (!profile)
		return 1;
	if (branches)
		shown.view = FORMAT_BRANCHES;
	if (callers)
		shown.view = FORMAT_CALLERS;
	format_write(format_find("text"), profile, &shown, stdout);
	status = profile->incomplete ? 1 : 0;
	profile_close(profile);
	return output_finish("report", status);
}
