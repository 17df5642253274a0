/* SPDX-License-Identifier: MIT */
/*
 * event_foreign.c: events of perf that a processor core's unit does not have.  A message says what
 * is missing, and what to use instead.
 */
#include "tools/softpmu/events/event_foreign.h"

#include <fnmatch.h>
#include <stddef.h>

struct foreign {
	const char *pattern, *text;
};

static const char *find(const struct foreign *list, const char *name)
{
	for (; list->pattern; list++) {
		if (!fnmatch(list->pattern, name, 0))
			return list->text;
	}
	return NULL;
}

const char *event_foreign_unit(const char *unit)
{
	static const struct foreign units[] = {
		{"intel_pt", "Processor Trace is not modelled; intel_bts// traces every taken "
			     "branch"},
		{"uncore*", "a program's run alone does not tell what the parts outside of its "
			    "core do"},
		{"cstate*", "a program's run alone does not tell how the processor sleeps"},
		{"power", "a program's run alone does not tell how much energy it takes"},
		{"msr", "a program's run alone does not tell the time"},
		{"cpu_core", "the models have one kind of core, whose unit is cpu"},
		{"cpu_atom", "the models have one kind of core, whose unit is cpu"},
		{"ibs*", "it is AMD's; the models are Intel's"},
		{"amd*", "it is AMD's; the models are Intel's"},
		{"software", "it is the kernel's, not the processor's: perf counts its events "
			     "anywhere"},
		{"tracepoint", "it is the kernel's, not the processor's: perf counts its events "
			       "anywhere"},
		{"breakpoint", "it is the kernel's, not the processor's: perf counts its events "
			       "anywhere"},
		{"*probe", "it is the kernel's, not the processor's: perf counts its events "
			   "anywhere"},
		{NULL, NULL}};
	const char *text = find(units, unit);

	return text ? text : "there are cpu and intel_bts";
}

const char *event_foreign_kind(const char *name)
{
	static const char software[] = "is the kernel's, not the processor's: perf counts it "
				       "anywhere";
	static const char cache[] = "is not in this model's table; list --machine shows the "
				    "events of caches";
	static const struct foreign names[] = {
		{"cpu-clock", software},
		{"task-clock", software},
		{"page-faults", software},
		{"faults", software},
		{"minor-faults", software},
		{"major-faults", software},
		{"context-switches", software},
		{"cs", software},
		{"cpu-migrations", software},
		{"migrations", software},
		{"alignment-faults", software},
		{"emulation-faults", software},
		{"cgroup-switches", software},
		{"bpf-output", software},
		{"dummy", software},
		{"duration_time", software},
		{"user_time", software},
		{"system_time", software},
		{"mem:*", "is a breakpoint of the kernel's: perf has it"},
		{"L1-[di]cache-*", cache},
		{"LLC-*", cache},
		{"[di]TLB-*", cache},
		{"node-*", cache},
		{"l1-[di]cache-*", cache},
		{"branch-load*", cache},
		{NULL, NULL}};

	return find(names, name);
}
