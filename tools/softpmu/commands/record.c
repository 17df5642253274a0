/* SPDX-License-Identifier: MIT */
/*
 * record.c: `softpmu record`: the run and the summary.
 *
 * The engine's driver drains PEBS records.  For an event that is not precise it takes the
 * interrupted context instead.  It hands the samples over through the ring, and run/record_file.c
 * writes them to perf.data.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/softpmu/base/delayed_loading.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"
#include "tools/softpmu/commands/record_options.h"
#include "tools/softpmu/machine/machine_options.h"
#include "tools/softpmu/run/record.h"

static void run(struct record *record, const struct launch_program *program,
		struct launch_result *result)
{
	struct link_event events[LINK_EVENTS_MAX];
	struct launch_request request = {
		.model = spmu_model_describe(record->model).name,
		.machine = record->machine.size ? &record->machine : NULL,
		.branch_clocks = record->branches.clocks,
		.judges_branches = machine_options_model(&record->machine_options),
		.clocks = run_clocks(&record->machine_options, LAUNCH_CLOCKS_NONE),
		.threads = RUN_THREADS,
		.event = events,
		.events = record->counted,
		.want = (record->branches.type ? LINK_WANT_LBR : 0) |
			(record->traces ? LINK_WANT_BTS : 0) |
			(record->regs_mask ? LINK_WANT_REGS : 0) |
			(record->chains == CHAINS_FP ? LINK_WANT_CHAINS : 0) |
			(record->chains == CHAINS_DWARF ? LINK_WANT_STACKS : 0) |
			(record_tells_source(record) ? LINK_WANT_DATA_MAPS : 0) | record->run.want,
		.lbr_select = record->branches.select,
		.load_threshold = record->load_threshold,
		.frontend = record->frontend,
		.stack_bytes = record->stack_bytes,
		.sink = record_file_take,
		.opaque = record,
	};

	for (size_t i = 0; i < record->counted; i++) {
		events[i] = run_sample(&record->events.event[record->event_of[i]]);
		record_after_start(record, &events[i]);
		events[i].jitter =
			record_varies_period(record, &record->events.event[record->event_of[i]]);
		record->run.control.name[i] = record->events.event[record->event_of[i]].name;
	}
	request.control = control_request(&record->run.control);
	function_regions_request(&record->run.functions, &request);
	launch_run(program, &request, result);
	if (record->progress_shown)
		fputs("\r\033[K", stderr);
}

static void say_summary(const struct record *record, const struct launch_result *result)
{
	const struct record_switch *s = &record->switching;

	if (record->run.verbose)
		fprintf(stderr,
			"[ softpmu record: %llu units, %llu interrupts, %llu records, buffer full "
			"%llu "
			"times; %llu blocks, %.3f MB of code ]\n",
			(unsigned long long)result->units, (unsigned long long)result->interrupts,
			(unsigned long long)result->records,
			(unsigned long long)result->buffer_full, (unsigned long long)result->blocks,
			(double)result->cache_bytes / 1e6);
	if (record->quiet)
		return;
	fprintf(stderr, "[ softpmu record: Captured and wrote %.3f MB %s%s (%llu samples",
		(double)s->written / 1e6, record->output, s->on ? ".<timestamp>" : "",
		(unsigned long long)s->samples);
	if (record->traces)
		fprintf(stderr, ", %llu branches", (unsigned long long)s->traced);
	fputs(") ]\n", stderr);
}

/* Completes the file.  Returns the status to exit with. */
static int finish(struct record *record, struct launch_result *result)
{
	struct perfdata_task task = {
		.pid = (uint32_t)result->pid,
		.tid = (uint32_t)result->pid,
		.ppid = (uint32_t)getpid(),
		.ptid = (uint32_t)getpid(),
		.time_ns = result->end_ns,
	};
	uint64_t bytes;
	bool good = !record->switching.failed;

	run_say_end(result);
	if (result->end == LAUNCH_DONE)
		function_regions_say(&record->run.functions);
	if (result->end != LAUNCH_DONE && result->end != LAUNCH_LOST) {
		perfdata_abandon(record->writer);
		return result->status;
	}
	if (record->writer) {
		perfdata_add_exit(record->writer, &task);
		good &= record_file_finish(record, &bytes);
	}
	if (!good)
		return result->status ? result->status : EXIT_TOOL;
	say_summary(record, result);
	return result->status;
}

int cmd_record(int argc, char **argv)
{
	struct record record = {.output = "perf.data", .argc = argc, .argv = argv};
	struct launch_program program = {0};
	struct launch_result result = {0};
	int status = record_options_parse(&record, argc, argv);

	if (status < 0)
		status = run_options_check(&record.run, "record");
	if (status < 0)
		status = record_events_check(&record);
	if (status >= 0)
		goto out;
	if (!run_find(&program, argv + optind, &status))
		goto out;
	delayed_loading_load_all();
	for (size_t i = 0; i < record.events.count; i++)
		record.addresses |= record.events.event[i].data_address;
	if (!strcmp(record.output, "-") && !record_file_to_pipe(&record)) {
		status = EXIT_TOOL;
		goto out;
	}
	record_switch_begin(&record.switching);
	if (!record_file_create(&record)) {
		status = EXIT_TOOL;
		goto out;
	}
	run(&record, &program, &result);
	status = finish(&record, &result);
out:
	free(result.message);
	function_regions_free(&record.run.functions);
	program_forget(&program);
	for (size_t i = 0; i < record.file_count; i++)
		free(record.files[i].path);
	free(record.files);
	record_switch_free(&record.switching);
	code_free(record.code);
	events_free(&record.after);
	machine_options_free(&record.machine_options);
	events_free(&record.events);
	return status;
}
