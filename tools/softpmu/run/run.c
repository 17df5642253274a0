/* SPDX-License-Identifier: MIT */
/*
 * run.c: what the subcommands that run a program share.
 */
#include <softpmu/ds.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/run/run.h"

bool run_find(struct launch_program *program, char **argv, int *status)
{
	char *error;

	*status = program_find(program, argv, &error);
	if (*status)
		tool_error("%s", error ? error : "out of memory");
	free(error);
	return !*status;
}

int run_parse_events(struct event_list *events, const struct spmu_model *model, char **lists)
{
	char *error;

	for (; *lists; lists++) {
		if (!events_parse(events, model, *lists, &error)) {
			tool_error("%s", error);
			free(error);
			return EXIT_BAD_USAGE;
		}
	}
	return -1;
}

struct link_event run_count(const struct event *event)
{
	struct link_event link = {.select = event->select,
				  .code = event->code,
				  .tagger = event->tagger,
				  .fixed = event->fixed,
				  .offcore = event->offcore};

	link.counters = event->counters;
	/* A precise event has fewer counters; to count it, any of its counters will do. */
	if (event->precise && event->row)
		link.counters = event->row->counters;
	return link;
}

bool run_stores_traces(const struct spmu_model *model)
{
	const struct spmu_ds_layout *layout = spmu_model_ds_layout(model, true);

	return layout && layout->bts_bytes;
}

enum launch_clocks run_clocks(const struct machine_options *options, enum launch_clocks clocks)
{
	return options->static_clocks ? LAUNCH_CLOCKS_STATIC : clocks;
}

int run_use_machine(const struct machine_options *options, const char *command,
		    const struct spmu_model *model, enum launch_clocks clocks,
		    struct spmu_machine *machine)
{
	int status;

	if (!machine_options_given(options))
		return -1;
	status = machine_options_make(options, command, spmu_model_describe(model).name, machine);
	if (status < 0)
		launch_use_machine(machine, run_clocks(options, clocks));
	return status;
}

int run_load_threshold(const struct event_list *events, uint64_t *threshold)
{
	*threshold = 0;
	for (size_t i = 0; i < events->count; i++) {
		const struct event *event = &events->event[i];

		if (!event->load_threshold)
			continue;
		if (*threshold && event->load_threshold != *threshold)
			return tool_error("event '%s' needs another load latency (ldlat) than an "
					  "earlier event; use one of them at a time",
					  event->name);
		*threshold = event->load_threshold;
	}
	return -1;
}

int run_frontend(const struct event_list *events, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < events->count; i++) {
		const struct event *event = &events->event[i];

		if (!event->frontend)
			continue;
		if (*value && event->frontend != *value)
			return tool_error(
				"event '%s' needs another condition of the front end than "
				"an earlier event; use one of them at a time",
				event->name);
		*value = event->frontend;
	}
	return -1;
}

struct link_event run_sample(const struct event *event)
{
	return (struct link_event){
		.select = event->select,
		.code = event->code,
		.tagger = event->tagger,
		.counters = event->counters,
		.fixed = event->fixed,
		.period = event->period,
		.frequency = event->frequency,
		.precise = event->precise > 0,
		.offcore = event->offcore,
	};
}

void run_say_end(const struct launch_result *result)
{
	if (result->missing)
		fprintf(stderr,
			"softpmu: %u process%s still ran or had been killed; what %s counted is "
			"missing\n",
			result->missing, result->missing == 1 ? "" : "es",
			result->missing == 1 ? "it" : "they");
	if (result->natives == 1)
		fprintf(stderr, "softpmu: a program ran natively and was not counted: %s\n",
			result->native);
	else if (result->natives)
		fprintf(stderr,
			"softpmu: %u programs ran natively and were not counted, the first: %s\n",
			result->natives, result->native);
	if (!result->message)
		return;
	/* A signal that ends the program is reported as a shell does. */
	if (result->signal && (result->end == LAUNCH_DONE || result->end == LAUNCH_LOST))
		fprintf(stderr, "%s\n", result->message);
	else
		tool_error("%s", result->message);
}

char *run_command_text(char **argv)
{
	char *text = tool_copy(argv[0]);

	for (char **word = argv + 1; *word; word++) {
		char *longer = tool_print("%s %s", text, *word);

		free(text);
		text = longer;
	}
	return text;
}
