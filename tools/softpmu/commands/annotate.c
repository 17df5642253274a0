/* SPDX-License-Identifier: MIT */
/* annotate.c: `softpmu annotate`: the hot instructions of a perf.data, with their source lines. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"
#include "tools/softpmu/formats/annotation.h"
#include "tools/softpmu/symbols/demangle.h"

/* Without a name, functions with at least this share of an event's count are shown. */
#define SHOWN_PERCENT 10.0

static void help(void)
{
	puts("Usage: softpmu annotate [OPTIONS] [FUNCTION]\n\n"
	     "Shows the hot instructions of a perf.data: the disassembly of FUNCTION, or of the\n"
	     "hottest functions, with each instruction's share of the function's count, and "
	     "source\n"
	     "lines if there is debug information.\n\n"
	     "  -i, --input FILE            the file (default perf.data)\n"
	     "  -M, --disassembler-style S  syntax: att (the default) or intel\n"
	     "      --intel                 the same as -M intel\n" FILTER_HELP
	     "  -s, --symbol NAME           the same as FUNCTION\n"
	     "      --percent-limit N       show functions with at least N percent (default 10)\n"
	     "      --no-demangle           show names as the compiler wrote them\n"
	     "      --symfs DIRECTORY       look for files with symbols below it\n"
	     "  -f, --force, --stdio        have no effect; accepted because perf has them");
}

int cmd_annotate(int argc, char **argv)
{
	enum { OPTION_INTEL = 256, OPTION_LIMIT, OPTION_IGNORED, OPTION_SYMFS, OPTION_NO_DEMANGLE };
	static const struct option options[] = {
		{"input", required_argument, NULL, 'i'},
		{"disassembler-style", required_argument, NULL, 'M'},
		{"intel", no_argument, NULL, OPTION_INTEL},
		{"percent-limit", required_argument, NULL, OPTION_LIMIT},
		FILTER_OPTIONS,
		{"symbol", required_argument, NULL, 's'},
		{"force", no_argument, NULL, OPTION_IGNORED},
		{"stdio", no_argument, NULL, OPTION_IGNORED},
		{"symfs", required_argument, NULL, OPTION_SYMFS},
		{"no-demangle", no_argument, NULL, OPTION_NO_DEMANGLE},
		{"help", no_argument, NULL, 'h'},
		{0}};
	struct annotation_options shown = {.percent_limit = SHOWN_PERCENT};
	const char *input = "perf.data", *root = NULL;
	struct filter filter = {0};
	struct profile *profile;
	int option, status;

	while ((option = getopt_long(argc, argv, ":i:M:s:fh" FILTER_LETTERS, options, NULL)) !=
	       -1) {
		switch (option) {
		case 'i':
			input = optarg;
			break;
		case 'M':
			shown.intel = !strcmp(optarg, "intel");
			if (!shown.intel && strcmp(optarg, "att"))
				return tool_usage_error("annotate", "-M is att or intel, not '%s'",
							optarg);
			break;
		case OPTION_INTEL:
			shown.intel = true;
			break;
		case OPTION_LIMIT:
			if (!tool_percent(optarg, &shown.percent_limit))
				return tool_usage_error(
					"annotate", "--percent-limit must be 0 to 100, not '%s'",
					optarg);
			break;
		case OPTION_SYMFS:
			root = optarg;
			break;
		case OPTION_NO_DEMANGLE:
			demangle_switch_off();
			break;
		case 's':
			shown.wanted = optarg;
			break;
		case 'f':
		case OPTION_IGNORED:
			break;
		case 'h':
			help();
			return output_finish("annotate", 0);
		default:
			if (!filter_option(&filter, option, optarg))
				return tool_bad_option("annotate", option, argv);
		}
	}
	if (optind < argc && !shown.wanted)
		shown.wanted = argv[optind++];
	if (optind < argc)
		return tool_usage_error("annotate", "unexpected argument '%s'", argv[optind]);
	profile = profile_open(input, root);
	if (!profile)
		return output_finish("annotate", 1);
	profile->filter = filter;
	status = annotation_text_write(profile, &shown);
	profile_close(profile);
	return output_finish("annotate", status);
}
