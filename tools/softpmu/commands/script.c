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
	     "                              brstack, brstacksym; or +FIELD and -FIELD to "
	     "change\n"
	     "                              the usual ones\n"
	     "      --ns                    times in nanoseconds\n"
	     "  -c, --comms NAME[,NAME...]  only samples of these commands\n"
	     "      --pid ID[,ID...]        only samples of these processes\n"
	     "      --tid ID[,ID...]        only samples of these threads\n"
	     "  -S, --symbols NAME[,NAME...]\n"
	     "                              only samples in these functions\n"
	     "      --no-demangle           show names as the compiler wrote them\n"
	     "      --symfs DIRECTORY       look for files with symbols below it\n"
	     "      --itrace                has no effect: all branches of a trace are shown");
}

enum { OPTION_NS = 256, OPTION_PID, OPTION_TID, OPTION_NO_DEMANGLE, OPTION_SYMFS, OPTION_ITRACE };

static const struct option options[] = {{"input", required_argument, NULL, 'i'},
					{"fields", required_argument, NULL, 'F'},
					{"ns", no_argument, NULL, OPTION_NS},
					{"comms", required_argument, NULL, 'c'},
					{"pid", required_argument, NULL, OPTION_PID},
					{"tid", required_argument, NULL, OPTION_TID},
					{"symbols", required_argument, NULL, 'S'},
					{"no-demangle", no_argument, NULL, OPTION_NO_DEMANGLE},
					{"symfs", required_argument, NULL, OPTION_SYMFS},
					{"itrace", optional_argument, NULL, OPTION_ITRACE},
					{"help", no_argument, NULL, 'h'},
					{0}};

/* The command line. */
struct request {
	const char *input, *root;
	struct script script;
};

static int take_fields(struct request *request)
{
	char *wrong = script_fields(&request->script, optarg);
	int status = wrong ? tool_usage_error("script", "%s", wrong) : -1;

	free(wrong);
	return status;
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
	case 'c':
		request->script.comms = optarg;
		return -1;
	case OPTION_PID:
		request->script.pids = optarg;
		return -1;
	case OPTION_TID:
		request->script.tids = optarg;
		return -1;
	case 'S':
		request->script.symbols = optarg;
		return -1;
	case OPTION_NO_DEMANGLE:
		demangle_switch_off();
		return -1;
	case OPTION_SYMFS:
		request->root = optarg;
		return -1;
	case OPTION_ITRACE:
		return -1;
	case 'h':
		help();
		return output_finish("script", 0);
	default:
		return tool_bad_option("script", option, argv);
	}
}

int cmd_script(int argc, char **argv)
{
	struct request request = {.input = "perf.data"};
	struct profile *profile;
	int option, status = -1;

	while (status < 0 && (option = getopt_long(argc, argv, ":i:F:c:S:h", options, NULL)) != -1)
		status = take_option(&request, option, argv);
	if (status < 0 && optind < argc)
		status = tool_usage_error(
			"script", "unexpected argument '%s'; name the file with -i", argv[optind]);
	if (status >= 0)
		return status;
	profile = profile_open(request.input, request.root);
	if (!profile)
		return 1;
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
