/* SPDX-License-Identifier: MIT */
/*
 * profile_gate.c: compares an exact profile with that of an earlier run.  If a sum has changed too
 * much, it says in which functions.
 */
#include "tools/softpmu/commands/profile_gate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/counts/baseline.h"
#include "tools/softpmu/formats/difference.h"

#define FUNCTIONS_SHOWN 20

static bool is_same_file(const char *one, const char *other)
{
	struct stat a, b;

	return !stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Returns the number of the event of that name, or the number of events. */
static size_t find_event(const struct exact *exact, const char *name)
{
	size_t e = 0;

	while (e < exact->event_count && strcmp(exact->events[e].name, name))
		e++;
	return e;
}

/* Returns whether the profiles are of the same program, model and events. */
static bool can_compare(const char *path, const struct exact *before, const struct exact *now)
{
	if (strcmp(before->model, now->model)) {
		tool_error("%s: its counts are of the model '%s', not of %s", path, before->model,
			   now->model);
		return false;
	}
	if (!baseline_is_same_command(before->command, now->command)) {
		tool_error("%s: its counts are of the program '%s', not of '%s'", path,
			   before->command, now->command);
		return false;
	}
	for (size_t e = 0; e < now->event_count; e++) {
		if (find_event(before, now->events[e].name) < before->event_count)
			continue;
		tool_error("%s: has no count of '%s'", path, now->events[e].name);
		return false;
	}
	return true;
}

bool profile_gate_open(struct profile_gate *gate, const struct exact *now, const char *output)
{
	if (!gate->baseline)
		return true;
	if (is_same_file(gate->baseline, output)) {
		tool_error("the profile would overwrite the baseline %s; choose another file with "
			   "-o",
			   gate->baseline);
		return false;
	}
	gate->before = profile_open(gate->baseline, NULL);
	if (!gate->before || gate->before->incomplete)
		return false;
	if (!gate->before->exact) {
		tool_error("%s: a baseline is a file of softpmu profile, and this is a perf.data",
			   gate->baseline);
		return false;
	}
	return can_compare(gate->baseline, gate->before->exact, now);
}

void profile_gate_close(struct profile_gate *gate)
{
	if (gate->before)
		profile_close(gate->before);
}

static bool is_beyond(const struct profile_gate *gate, const struct exact *now, size_t e)
{
	const struct exact *before = gate->before->exact;
	double then = (double)exact_sum(before, find_event(before, now->events[e].name));
	double here = (double)exact_sum(now, e);
	double change = then != 0 ? 100 * (here - then) / then : INFINITY;

	return here != then && stat_table_is_too_far(&gate->threshold, change);
}

/* Writes the functions that changed.  Returns false after a message. */
static bool show_changes(const struct profile_gate *gate, const char *output)
{
	struct difference_options shown = {.most = FUNCTIONS_SHOWN};
	struct profile *after = profile_open(output, NULL);
	bool good = after && !after->incomplete;

	if (good) {
		free(keys_parse(&shown.keys, "dso,sym", false)); /* these keys exist */
		fprintf(stderr, "\n Baseline %s, threshold %s%g %%:\n\n", gate->baseline,
			gate->threshold.only_more ? "+" : "", gate->threshold.percent);
		difference_write(gate->before, after, &shown, stderr);
	}
	if (after)
		profile_close(after);
	return good;
}

int profile_gate_compare(const struct profile_gate *gate, const struct exact *now,
			 const char *output, bool quiet)
{
	for (size_t e = 0; e < now->event_count; e++)
		if (is_beyond(gate, now, e))
			return show_changes(gate, output) ? EXIT_CHANGED : EXIT_TOOL;
	if (!quiet)
		fprintf(stderr, "[ softpmu profile: all counts are within the threshold of %s ]\n",
			gate->baseline);
	return 0;
}
