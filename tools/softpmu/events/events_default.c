/* SPDX-License-Identifier: MIT */
/* events_default.c: the events that stat counts without -e, and those of its -d. */
#include "tools/softpmu/events/events_default.h"

#include <stdlib.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* What is counted without -e.  A model leaves out the names that it does not know. */
static const char *const default_events[] = {
	"instructions",
	"branches",
	"br_inst_retired.conditional",
	"br_inst_retired.near_call",
	"mem_inst_retired.all_loads",
	"mem_inst_retired.all_stores",
	"br_taken_retired",
	"retired_branch_type.conditional",
	"retired_branch_type.call",
	"memory_loads",
	"memory_stores",
	"data_read",
	"data_write",
	"cycles",
	"branch-misses",
};

/* The same with a machine: perf's.  The last one needs more than static clocks. */
static const char *const machine_events[] = {"cycles", "instructions", "branches", "branch-misses"};
static const char *const detailed_events[] = {
	"L1-dcache-loads",
	"L1-dcache-load-misses",
	"LLC-loads",
	"LLC-load-misses",
	"L1-icache-load-misses",
	"dTLB-loads",
	"dTLB-load-misses",
	"iTLB-loads",
	"iTLB-load-misses",
};

/* How many of them the first -d adds. */
#define DETAILED_FIRST 4

/* Adds those of some events that the model has. */
static void add(struct event_list *events, const struct spmu_model *model, const char *const *names,
		size_t count)
{
	char *error;

	for (size_t i = 0; i < count; i++) {
		if (!events_parse(events, model, names[i], &error))
			free(error);
	}
}

void events_default_exact(struct event_list *events, const struct spmu_model *model)
{
	add(events, model, default_events, COUNT(default_events));
}

void events_default_perfs(struct event_list *events, const struct spmu_model *model, bool misses)
{
	add(events, model, machine_events, COUNT(machine_events) - !misses);
}

void events_default_detailed(struct event_list *events, const struct spmu_model *model,
			     unsigned times)
{
	add(events, model, detailed_events, times > 1 ? COUNT(detailed_events) : DETAILED_FIRST);
}
