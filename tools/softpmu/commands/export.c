/* SPDX-License-Identifier: MIT */
/* export.c: `softpmu export`: a perf.data as a file for another program that shows profiles. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"
#include "tools/softpmu/formats/export.h"
#include "tools/softpmu/symbols/demangle.h"

struct request {
	const char *input, *root, *event;
	const char *output; /* NULL: standard output */
	const struct exporter *exporter;
	struct filter filter;
};

static void help(void)
{
	puts("Usage: softpmu export --to FORMAT [OPTIONS] [FILE]\n\n"
	     "Writes the samples of a perf.data for another program, to FILE or to standard "
	     "output.\n\n"
	     "      --to FORMAT             folded: flamegraph.pl and many others\n"
	     "                              speedscope: speedscope\n"
	     "                              firefox: Firefox Profiler\n"
	     "                              perfetto: Perfetto (perf.data only)\n"
	     "                              pprof: go tool pprof\n"
	     "                              callgrind: KCachegrind, callgrind_annotate\n"
	     "                              cachegrind: cg_annotate, cg_diff\n"
	     "                              chrome: speedscope and other viewers of Chrome's "
	     "format;\n"
	     "                              with times, without periods\n"
	     "  -e, --event EVENT           the event (default: the first that has samples)\n"
	     "  -i, --input FILE            the perf.data (default perf.data)\n" FILTER_HELP
	     "      --no-demangle           write names as the compiler wrote them\n"
	     "      --symfs DIRECTORY       look for files with symbols below it");
}

/* Finds the event by its name, with or without its modifiers, or the first with samples.  Returns
 * false after a message. */
static bool find_event(const struct request *request, const struct aggregation *aggregation,
		       size_t *found)
{
	for (size_t i = 0; i < aggregation->event_count; i++) {
		const struct aggregation_event *event = &aggregation->events[i];
		size_t length = strcspn(event->name, ":");

		*found = i;
		if (!request->event && event->samples)
			return true;
		if (request->event && (!strcmp(request->event, event->name) ||
				       (strlen(request->event) == length &&
					!strncmp(request->event, event->name, length))))
			return true;
	}
	if (!request->event) {
		profile_say_empty(aggregation->profile);
		return false;
	}
	tool_error("%s has no event '%s'; softpmu report lists its events", request->input,
		   request->event);
	return false;
}

static int write_output(const struct request *request, const struct export_input *input)
{
	FILE *to = stdout;
	bool failed;

	if (request->output)
		to = fopen(request->output, "we");
	if (!to)
		return tool_error("%s: %s", request->output, strerror(errno));
	request->exporter->write(input, to);
	if (to == stdout)
		return output_finish("export", 0);
	failed = ferror(to);
	if (fclose(to) || failed)
		return tool_error("%s: %s", request->output, strerror(errno));
	return 0;
}

static int export(const struct request *request)
{
	struct profile *profile = profile_open(request->input, request->root);
	struct export_input input = {.profile = profile, .any_event = !request->event};
	unsigned parts = request->exporter->parts; /* NOLINT: check_request() has found it */
	int status = 1;

	if (!profile)
		return 1;
	if (request->exporter->times && profile->exact) {
		tool_error("%s is an exact profile: its instructions have no times, which %s shows",
			   request->input, request->exporter->name);
		profile_close(profile);
		return 1;
	}
	profile->filter = request->filter;
	input.aggregation = aggregation_new(profile, AGGREGATION_SAMPLES | AGGREGATION_CALLERS |
							     AGGREGATION_THREADS | parts);
	if (find_event(request, input.aggregation, &input.event))
		status = write_output(request, &input) || profile->incomplete;
	aggregation_free(input.aggregation);
	profile_close(profile);
	return status;
}

static int check_request(const struct request *request, const char *format)
{
	if (!format)
		return tool_usage_error("export", "--to is missing; the formats are %s",
					exporters_names());
	if (!request->exporter)
		return tool_usage_error("export", "there is no format '%s'; the formats are %s",
					format, exporters_names());
	if (request->exporter->binary && !request->output && isatty(STDOUT_FILENO))
		return tool_usage_error("export", "%s is not for a terminal; name a file", format);
	return 0;
}

int cmd_export(int argc, char **argv)
{
	enum { OPTION_TO = 256, OPTION_SYMFS, OPTION_NO_DEMANGLE };
	static const struct option options[] = {
		{"to", required_argument, NULL, OPTION_TO},
		{"event", required_argument, NULL, 'e'},
		{"input", required_argument, NULL, 'i'},
		FILTER_OPTIONS,
		{"symfs", required_argument, NULL, OPTION_SYMFS},
		{"no-demangle", no_argument, NULL, OPTION_NO_DEMANGLE},
		{"help", no_argument, NULL, 'h'},
		{0}};
	struct request request = {.input = "perf.data"};
	const char *format = NULL;
	int option, status;

	while ((option = getopt_long(argc, argv, ":e:i:h" FILTER_LETTERS, options, NULL)) != -1) {
		switch (option) {
		case OPTION_TO:
			format = optarg;
			request.exporter = exporters_find(format);
			break;
		case 'e':
			request.event = optarg;
			break;
		case 'i':
			request.input = optarg;
			break;
		case OPTION_SYMFS:
			request.root = optarg;
			break;
		case OPTION_NO_DEMANGLE:
			demangle_switch_off();
			break;
		case 'h':
			help();
			return output_finish("export", 0);
		default:
			if (!filter_option(&request.filter, option, optarg))
				return tool_bad_option("export", option, argv);
		}
	}
	if (optind < argc)
		request.output = argv[optind++];
	if (optind < argc)
		return tool_usage_error("export", "unexpected argument '%s'", argv[optind]);
	status = check_request(&request, format);
	return status ? status : export(&request);
}
