/* SPDX-License-Identifier: MIT */
/* diff.c: `softpmu diff`: the functions or lines whose counts changed between two perf.data. */
#include <getopt.h>
#include <stdlib.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"
#include "tools/softpmu/formats/difference.h"
#include "tools/softpmu/formats/html.h"
#include "tools/softpmu/symbols/demangle.h"

static void help(void)
{
	puts("Usage: softpmu diff [OPTIONS] [BEFORE [AFTER]]\n\n"
	     "Shows what changed between two profiles (default perf.data.old and perf.data), by "
	     "the\nnames of functions.\n\n"
	     "  -s, --sort KEY[,KEY...]     what a line is about, as in softpmu report (default\n"
	     "                              dso,sym); srcline compares source lines\n"
	     "      --children              also count the samples in what a function called\n"
	     "      --html FILE             write a page for a browser, with colored differences\n"
	     "      --percent-limit N       leave out changes below N percent of an event's count\n"
	     "      --no-demangle           show names as the compiler wrote them\n"
	     "      --symfs DIRECTORY       look for files with symbols below it");
}

/* Writes the page, or without one text to standard output. */
static int compare(const char *const paths[2], const char *root,
		   const struct difference_options *options, const char *html)
{
	struct profile *before = profile_open(paths[0], root), *after = NULL;
	int status = 1;

	if (before)
		after = profile_open(paths[1], root);
	if (after) {
		status = before->incomplete || after->incomplete;
		if (html) {
			status |= html_write_file(before, after, html);
		} else if (!difference_write(before, after, options, stdout)) {
			tool_error("%s and %s have no event in common", paths[0], paths[1]);
			status = 1;
		}
	}
	profile_close(before);
	profile_close(after);
	return output_finish("diff", status);
}

/* Reads the keys.  Returns a status. */
static int read_keys(struct difference_options *options, const char *sort)
{
	char *wrong = keys_parse(&options->keys, sort, false);
	int status = 0;

	if (wrong)
		status = tool_usage_error("diff", "%s", wrong);
	free(wrong);
	return status;
}

int cmd_diff(int argc, char **argv)
{
	enum { OPTION_CHILDREN = 256, OPTION_LIMIT, OPTION_HTML, OPTION_SYMFS, OPTION_NO_DEMANGLE };
	static const struct option options[] = {
		{"sort", required_argument, NULL, 's'},
		{"children", no_argument, NULL, OPTION_CHILDREN},
		{"html", required_argument, NULL, OPTION_HTML},
		{"percent-limit", required_argument, NULL, OPTION_LIMIT},
		{"symfs", required_argument, NULL, OPTION_SYMFS},
		{"no-demangle", no_argument, NULL, OPTION_NO_DEMANGLE},
		{"help", no_argument, NULL, 'h'},
		{0}};
	const char *paths[2] = {"perf.data.old", "perf.data"}, *root = NULL, *sort = "dso,sym",
		   *html = NULL;
	struct difference_options shown = {.percent_limit = 0};
	int option, status;

	while ((option = getopt_long(argc, argv, ":s:h", options, NULL)) != -1) {
		switch (option) {
		case 's':
			sort = optarg;
			break;
		case OPTION_CHILDREN:
			shown.children = true;
			break;
		case OPTION_LIMIT:
			if (!tool_percent(optarg, &shown.percent_limit))
				return tool_usage_error(
					"diff", "--percent-limit must be 0 to 100, not '%s'",
					optarg);
			break;
		case OPTION_HTML:
			html = optarg;
			break;
		case OPTION_SYMFS:
			root = optarg;
			break;
		case OPTION_NO_DEMANGLE:
			demangle_switch_off();
			break;
		case 'h':
			help();
			return output_finish("diff", 0);
		default:
			return tool_bad_option("diff", option, argv);
		}
	}
	for (int i = 0; i < 2 && optind < argc; i++)
		paths[i] = argv[optind++];
	if (optind < argc)
		return tool_usage_error("diff", "unexpected argument '%s'", argv[optind]);
	status = read_keys(&shown, sort);
	return status ? status : compare(paths, root, &shown, html);
}
