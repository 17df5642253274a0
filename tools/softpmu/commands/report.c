/* SPDX-License-Identifier: MIT */
/* report.c: `softpmu report`: the hot functions, call graphs or branches of a perf.data. */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"
#include "tools/softpmu/formats/format.h"
#include "tools/softpmu/formats/html.h"
#include "tools/softpmu/symbols/demangle.h"

/* perf's default: branches of a call graph with a smaller share are left out. */
#define GRAPH_PERCENT 0.5

static void help(void)
{
	puts("Usage: softpmu report [OPTIONS]\n\n"
	     "Shows the hot functions of a perf.data.\n\n"
	     "  -i, --input FILE            the file (default perf.data)\n"
	     "  -s, --sort KEY[,KEY...]     what a line is about (default comm,dso,sym): comm, "
	     "pid, "
	     "tid,\n"
	     "                              tgid, cpu, dso, sym, srcline, addr; with -b also "
	     "dso_from,\n"
	     "                              dso_to, symbol_from, symbol_to, srcline_from, "
	     "srcline_to,\n"
	     "                              addr_from, addr_to, mispredict, cycles\n"
	     "      --children              a function's line also has the samples in what it "
	     "called\n"
	     "                              (the default if the samples have call chains)\n"
	     "      --no-children           only those in the function itself\n"
	     "  -g, --call-graph [WORD,...] the call graph of each line: caller (from the "
	     "outermost\n"
	     "                              function down) or callee (from the function up), a "
	     "number\n"
	     "                              (leave out branches below N percent; default 0.5), or "
	     "none\n"
	     "  -G, --inverted              the same as -g caller\n"
	     "  -b, --branch-stack          show the branches in samples or traces, from function "
	     "to\n"
	     "                              function, instead of the samples\n" FILTER_HELP
	     "      --percentage WORD       with these: percentages are relative to what is left, "
	     "or\n"
	     "                              absolute (the default)\n"
	     "  -n, --show-nr-samples       also show the number of samples\n"
	     "      --html FILE             write a page for a browser, with flame graph, tables "
	     "and "
	     "source\n"
	     "      --percent-limit N       leave out lines, and branches of call graphs, below N "
	     "percent\n"
	     "      --header                begin with what was recorded, where and how\n"
	     "      --no-demangle           show names as the compiler wrote them\n"
	     "      --symfs DIRECTORY       look for files with symbols below it\n"
	     "  -f, --force, --stdio, --no-inline\n"
	     "                              have no effect; accepted because perf has them");
}

/* Takes "graph,0.5,caller".  Returns NULL, or the word that is wrong, to free(). */
static char *parse_graph(struct format_options *options, const char *text)
{
	char *copy = tool_copy(text), *word, *rest = copy, *wrong = NULL;

	options->graph = FORMAT_YES;
	while (!wrong && (word = strsep(&rest, ",")) != NULL) {
		if (!strcmp(word, "none"))
			options->graph = FORMAT_NO;
		else if (!strcmp(word, "caller"))
			options->order = ROWS_CALLEES;
		else if (!strcmp(word, "callee"))
			options->order = ROWS_CALLERS;
		else if (strcmp(word, "graph") && strcmp(word, "function") &&
			 strcmp(word, "percent") && !tool_percent(word, &options->graph_percent))
			wrong = tool_copy(word);
	}
	free(copy);
	return wrong;
}

/* Returns the argument of -g, which can be a word of its own, or NULL. */
static const char *graph_argument(int argc, char **argv)
{
	if (optarg || optind >= argc || argv[optind][0] == '-')
		return optarg;
	return argv[optind++];
}

enum {
	OPTION_LIMIT = 256,
	OPTION_HEADER,
	OPTION_HTML,
	OPTION_IGNORED,
	OPTION_PERCENTAGE,
	OPTION_SYMFS,
	OPTION_NO_DEMANGLE,
	OPTION_CHILDREN,
	OPTION_NO_CHILDREN
};

static const struct option options[] = {{"input", required_argument, NULL, 'i'},
					{"sort", required_argument, NULL, 's'},
					{"children", no_argument, NULL, OPTION_CHILDREN},
					{"no-children", no_argument, NULL, OPTION_NO_CHILDREN},
					{"call-graph", optional_argument, NULL, 'g'},
					{"inverted", no_argument, NULL, 'G'},
					{"branch-stack", no_argument, NULL, 'b'},
					{"show-nr-samples", no_argument, NULL, 'n'},
					{"percent-limit", required_argument, NULL, OPTION_LIMIT},
					{"header", no_argument, NULL, OPTION_HEADER},
					{"html", required_argument, NULL, OPTION_HTML},
					FILTER_OPTIONS,
					{"percentage", required_argument, NULL, OPTION_PERCENTAGE},
					{"force", no_argument, NULL, OPTION_IGNORED},
					{"stdio", no_argument, NULL, OPTION_IGNORED},
					{"no-inline", no_argument, NULL, OPTION_IGNORED},
					{"symfs", required_argument, NULL, OPTION_SYMFS},
					{"no-demangle", no_argument, NULL, OPTION_NO_DEMANGLE},
					{"help", no_argument, NULL, 'h'},
					{0}};

/* The command line. */
struct request {
	const char *input, *root, *sort;
	const char *html; /* the page to write; NULL: text to standard output */
	struct format_options shown;
	struct filter filter;
};

static int take_percentage(struct request *request, const char *word)
{
	request->shown.relative = !strcmp(word, "relative");
	if (request->shown.relative || !strcmp(word, "absolute"))
		return -1;
	return tool_usage_error("report", "--percentage takes relative or absolute, not '%s'",
				word);
}

/* Reads the options.  Returns a status, or -1 to go on. */
static int read_options(struct request *request, int argc, char **argv)
{
	struct format_options *shown = &request->shown;
	const char *graph;
	char *wrong;
	int option, status;

	while ((option = getopt_long(argc, argv, ":i:s:bg::Gnfh" FILTER_LETTERS, options, NULL)) !=
	       -1) {
		switch (option) {
		case 'i':
			request->input = optarg;
			break;
		case 's':
			request->sort = optarg;
			break;
		case 'b':
			shown->view = FORMAT_BRANCHES;
			break;
		case 'g':
		case 'G':
			graph = option == 'G' ? "caller" : graph_argument(argc, argv);
			wrong = parse_graph(shown, graph ? graph : "graph");
			if (wrong) {
				status = tool_usage_error("report",
							  "-g takes caller, callee, none or a "
							  "number of percent, not '%s'",
							  wrong);
				free(wrong);
				return status;
			}
			break;
		case 'n':
			shown->show_count = true;
			break;
		case OPTION_CHILDREN:
			shown->children = FORMAT_YES;
			break;
		case OPTION_NO_CHILDREN:
			shown->children = FORMAT_NO;
			break;
		case OPTION_LIMIT:
			if (!tool_percent(optarg, &shown->percent_limit))
				return tool_usage_error(
					"report", "--percent-limit must be 0 to 100, not '%s'",
					optarg);
			shown->graph_percent = shown->percent_limit;
			break;
		case OPTION_SYMFS:
			request->root = optarg;
			break;
		case OPTION_HEADER:
			shown->header = true;
			break;
		case OPTION_HTML:
			request->html = optarg;
			break;
		case OPTION_NO_DEMANGLE:
			demangle_switch_off();
			break;
		case OPTION_PERCENTAGE:
			status = take_percentage(request, optarg);
			if (status >= 0)
				return status;
			break;
		case 'f':
		case OPTION_IGNORED:
			break;
		case 'h':
			help();
			return output_finish("report", 0);
		default:
			if (!filter_option(&request->filter, option, optarg))
				return tool_bad_option("report", option, argv);
		}
	}
	if (optind < argc)
		return tool_usage_error("report", "unexpected argument '%s'; name the file with -i",
					argv[optind]);
	return -1;
}

/* Checks options that depend on each other.  Returns a status, or -1 to go on. */
static int check_options(struct request *request)
{
	struct format_options *shown = &request->shown;
	bool branches = shown->view == FORMAT_BRANCHES;
	const char *sort = request->sort;
	char *wrong;
	int status;

	if (branches && shown->graph == FORMAT_YES)
		return tool_usage_error("report", "-b and -g cannot be combined");
	if (!sort)
		sort = branches ? keys_of_branches : keys_of_samples;
	wrong = keys_parse(&shown->keys, sort, branches);
	if (!wrong)
		return -1;
	status = tool_usage_error("report", "%s", wrong);
	free(wrong);
	return status;
}

int cmd_report(int argc, char **argv)
{
	struct request request = {.input = "perf.data", .shown = {.graph_percent = GRAPH_PERCENT}};
	int status = read_options(&request, argc, argv);
	struct profile *profile;

	if (status < 0)
		status = check_options(&request);
	if (status >= 0)
		return status;
	profile = profile_open(request.input, request.root);
	if (!profile)
		return 1;
	profile->filter = request.filter;
	status = 0;
	if (request.html)
		status = html_write_file(profile, NULL, request.html);
	else
		format_write(format_find("text"), profile, &request.shown, stdout);
	if (profile->incomplete)
		status = 1;
	profile_close(profile);
	return output_finish("report", status);
}
