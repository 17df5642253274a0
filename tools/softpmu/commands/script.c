/* SPDX-License-Identifier: MIT */
/* script.c: `softpmu script`: each sample of a perf.data on a line. */
#include <getopt.h>
#include <stdlib.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"
#include "tools/softpmu/formats/script.h"
#include "tools/softpmu/symbols/demangle.h"

static void help(void)
{
	puts("Usage: softpmu script [OPTIONS]\n\n"
	     "Shows each sample of a perf.data on a line, in order of time.\n\n"
	     "  -i, --input FILE            the file (default perf.data)\n"
	     "  -F, --fields LIST           what a line has: comm, pid, tid, cpu, time, period, "
	     "event,\n"
	     "                              addr, data_src, weight, ip, sym, symoff, dso, "
	     "srcline,\n"
	     "                              brstack, brstacksym, brstackinsn, brstackdisasm;\n"
	     "                              or +FIELD and -FIELD to change the usual ones\n"
	     "      --ns                    times in nanoseconds\n" FILTER_HELP
	     "      --no-demangle           show names as the compiler wrote them\n"
	     "      --symfs DIRECTORY       look for files with symbols below it\n"
	     "      --max-stack N           at most the N innermost functions of a call chain\n"
	     "      --itrace                has no effect: all branches of a trace are shown\n"
	     "  -f, --force, --no-inline    have no effect; accepted because perf has them");
}

enum { OPTION_NS = 256, OPTION_NO_DEMANGLE, OPTION_SYMFS, OPTION_IGNORED, OPTION_MAX_STACK };

static const struct option options[] = {{"input", required_argument, NULL, 'i'},
					{"fields", required_argument, NULL, 'F'},
					{"ns", no_argument, NULL, OPTION_NS},
					FILTER_OPTIONS,
					{"no-demangle", no_argument, NULL, OPTION_NO_DEMANGLE},
					{"symfs", required_argument, NULL, OPTION_SYMFS},
					{"max-stack", required_argument, NULL, OPTION_MAX_STACK},
					{"itrace", optional_argument, NULL, OPTION_IGNORED},
					{"force", no_argument, NULL, OPTION_IGNORED},
					{"no-inline", no_argument, NULL, OPTION_IGNORED},
					{"help", no_argument, NULL, 'h'},
					{0}};

/* The command line. */
struct request {
	const char *input, *root;
	struct script script;
	struct filter filter;
};

static int take_fields(struct request *request)
{
	char *wrong = script_fields(&request->script, optarg);
	int status = wrong ? tool_usage_error("script", "%s", wrong) : -1;

	free(wrong);
	return status;
}

static int take_max_stack(struct script *script, const char *text)
{
	uint64_t number;

	if (!tool_number(text, &number) || !number || number > UINT16_MAX)
		return tool_usage_error("script", "--max-stack takes 1 to %d, not '%s'", UINT16_MAX,
					text);
	script->max_stack = (unsigned)number;
	return -1;
}

/* Takes an option.  Returns -1 to go on, otherwise the status to exit with. */
static int take_option(struct request *request, int option, char **argv)
{
	switch (option) {
	case 'i':
		request->input = optarg;
		return -1;
	case 'F':
		return take_fields(request);
	case OPTION_NS:
		request->script.nanoseconds = true;
		return -1;
	case OPTION_NO_DEMANGLE:
		demangle_switch_off();
		return -1;
	case OPTION_SYMFS:
		request->root = optarg;
		return -1;
	case OPTION_MAX_STACK:
		return take_max_stack(&request->script, optarg);
	case 'f':
	case OPTION_IGNORED:
		return -1;
	case 'h':
		help();
		return output_finish("script", 0);
	default:
		if (filter_option(&request->filter, option, optarg))
			return -1;
		return tool_bad_option("script", option, argv);
	}
}

int cmd_script(int argc, char **argv)
{
	struct request request = {.input = "perf.data"};
	struct profile *profile;
	int option, status = -1;

	while (status < 0 &&
	       (option = getopt_long(argc, argv, ":i:F:fh" FILTER_LETTERS, options, NULL)) != -1)
		status = take_option(&request, option, argv);
	if (status < 0 && optind < argc)
		status = tool_usage_error(
			"script", "unexpected argument '%s'; name the file with -i", argv[optind]);
	if (status >= 0)
		return status;
	profile = profile_open(request.input, request.root);
	if (!profile)
		return 1;
	profile->filter = request.filter;
	status = profile->exact || profile->incomplete;
	if (profile->exact)
		tool_error("%s is an exact profile, which has no samples; softpmu report and "
			   "annotate show it",
			   request.input);
	else
		script_write(&request.script, profile, stdout);
	profile_close(profile);
	return output_finish("script", status);
}
