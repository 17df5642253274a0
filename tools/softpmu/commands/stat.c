/* SPDX-License-Identifier: MIT */
/*
 * stat.c: `softpmu stat`: counts events while a program runs.
 *
 * The output has the columns and the order of fields of perf stat, and adds the fidelity of each
 * count.  An event that nothing supplies is shown as not supported, never as 0.  The times "user"
 * and "sys" are those of the program and of the engine together.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"
#include "tools/softpmu/commands/stat_options.h"
#include "tools/softpmu/counts/baseline.h"
#include "tools/softpmu/counts/stat_regions.h"
#include "tools/softpmu/counts/stat_threads.h"
#include "tools/softpmu/run/run.h"

/* --- counting ------------------------------------------------------------------------------ */

/* Runs the program once, on this machine, and adds its counts to the table.  Returns false if there
 * are none. */
static bool run_once(struct stat_options *stat, struct stat_table *table,
		     const struct launch_program *program, const struct spmu_machine *machine,
		     struct launch_result *result)
{
	struct link_event events[LINK_EVENTS_MAX];
	struct launch_request request = {
		.model = spmu_model_describe(table->model).name,
		.machine = machine,
		.clocks = run_clocks(&stat->machine_options, LAUNCH_CLOCKS_TIMELINE),
		.threads = RUN_THREADS,
		.event = events,
		.want = stat->run.want,
		.sink = stat->per_thread ? stat_threads_take : NULL,
		.regions = stat_regions_take,
		.opaque = table,
	};

	for (size_t i = 0; i < table->events.count; i++) {
		if (table->events.event[i].fidelity == SPMU_ABSENT)
			continue;
		stat->run.control.name[request.events] = table->events.event[i].name;
		events[request.events++] = run_count(&table->events.event[i]);
	}
	request.load_threshold = stat->load_threshold;
	request.frontend = stat->frontend;
	stat->intervals.output = &stat->output;
	stat->intervals.table = table;
	stat->run.control.launch.interval = stat_intervals_take;
	stat->run.control.launch.opaque = &stat->intervals;
	request.control = control_request(&stat->run.control);
	stat_windows_request(&stat->windows, &request);
	function_regions_request(&stat->run.functions, &request);
	launch_run(program, &request, result);
	run_say_end(result);
	if (result->end == LAUNCH_DONE)
		function_regions_say(&stat->run.functions);
	if (result->end != LAUNCH_DONE && result->end != LAUNCH_LOST)
		return false;
	stat_table_add(table, result);
	if (stat->run.control.launch.interval_ms)
		stat_intervals_end(&stat->intervals, result);
	return true;
}

/* Runs a command of --pre or --post.  Returns false after a message. */
static bool run_command(const char *option, const char *command)
{
	int status = command ? system(command) : 0; /* NOLINT: the user gives a shell command */

	if (!status)
		return true;
	if (status < 0)
		tool_error("%s: cannot run '%s': %s", option, command, strerror(errno));
	else if (WIFSIGNALED(status))
		tool_error("%s: '%s' was ended by signal %d", option, command, WTERMSIG(status));
	else
		tool_error("%s: '%s' ended with status %d", option, command, WEXITSTATUS(status));
	return false;
}

static void say_details(const struct launch_result *result, FILE *file)
{
	fprintf(file,
		"units: %llu, interrupts: %llu, blocks: %llu, bytes of code: %llu, saved blocks: "
		"%llu\n",
		(unsigned long long)result->units, (unsigned long long)result->interrupts,
		(unsigned long long)result->blocks, (unsigned long long)result->cache_bytes,
		(unsigned long long)result->cached_blocks);
}

static int run_all(struct stat_options *stat, struct stat_table *table,
		   const struct launch_program *program)
{
	struct stat_sweep sweep = {
		.table = table,
		.machine = stat->machine.name,
		.key = stat->sweep.key,
		.value = stat->sweep.value,
		.values = stat->sweep.count,
	};

	uint64_t runs = stat->sweep_text ? sweep.values : stat->runs;
	int status = 0;
	bool good = true;

	stat_sweep_start(&sweep);
	for (uint64_t run = 0; run < runs && good; run++) {
		struct launch_result result;
		const struct spmu_machine *machine =
			stat->sweep_text ? &stat->sweep.machine[run] : &stat->machine;

		if (!run_command("--pre", stat->pre)) {
			sweep.values = run;
			status = EXIT_TOOL;
			break;
		}
		if (stat->sync)
			sync();
		good = run_once(stat, table, program, machine->size ? machine : NULL, &result);
		/* The first failure decides the status, even if a later run succeeds. */
		if (!good || !status)
			status = result.status;
		if (good && stat->sweep_text)
			stat_sweep_take(&sweep, run);
		/* After a signal that asks the tool to end, or without counts, no more runs. */
		if (good && (result.end == LAUNCH_LOST || result.asked)) {
			sweep.values = run + 1;
			run = runs - 1;
		}
		if (good && stat->run.verbose)
			say_details(&result, stat->output.file);
		free(result.message);
		if (good && !run_command("--post", stat->post)) {
			sweep.values = run + 1;
			status = EXIT_TOOL;
			break;
		}
	}
	if (good && table->runs && !stat->run.control.launch.interval_ms)
		stat_output_print(&stat->output, table, stat->sweep_text ? &sweep : NULL);
	if (good && !status && stat_table_changed(table))
		status = EXIT_CHANGED;
	free(sweep.count);
	return status;
}

int cmd_stat(int argc, char **argv)
{
	struct stat_options stat = {.runs = 1, .output.fd = -1};
	struct stat_table table = {0};
	struct launch_program program = {0};
	int status = stat_options_parse(&stat, &table, argc, argv);

	if (status >= 0)
		goto out;
	stat_table_start(&table);
	if (stat.per_thread)
		stat_threads_start(&table);
	table.command = run_command_text(argv + optind);
	table.label = stat.label;
	if ((stat.baseline && !baseline_read(&table, stat.baseline)) ||
	    (stat.write_baseline && !baseline_can_write(&table, stat.write_baseline))) {
		status = EXIT_TOOL;
		goto out;
	}
	if (!run_find(&program, argv + optind, &status))
		goto out;
	if (!stat_output_open(&stat.output)) {
		status = EXIT_TOOL;
		goto out;
	}
	status = run_all(&stat, &table, &program);
	if (!stat_output_close(&stat.output, table.runs) && !status)
		status = EXIT_TOOL;
	if (stat.write_baseline && table.runs && (!status || status == EXIT_CHANGED) &&
	    !baseline_write(&table, stat.write_baseline))
		status = EXIT_TOOL;
out:
	machine_options_free(&stat.machine_options);
	sweep_free(&stat.sweep);
	function_regions_free(&stat.run.functions);
	metrics_free(&stat.metrics);
	stat_table_free(&table);
	program_forget(&program);
	return status;
}
