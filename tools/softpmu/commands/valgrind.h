/* SPDX-License-Identifier: MIT */
/* valgrind.h: what the files of softpmu-valgrind share. */
#ifndef SOFTPMU_TOOL_VALGRIND_H
#define SOFTPMU_TOOL_VALGRIND_H

#include <stdbool.h>
#include <stdio.h>

#include <softpmu/uarch.h>

#include "tools/softpmu/exact/exact.h"
#include "tools/softpmu/run/function_regions.h"
#include "tools/softpmu/run/profile_front.h"

/* What a run with simulations of caches or branches needs, and what it gives. */
struct valgrind_costs {
	bool caches, branches, cachegrind; /* the last: in the order of its events */
	bool children;
	struct spmu_machine machine;
	struct function_regions functions; /* --toggle-collect */
	struct profile_front front;
	const char *file; /* for the profile */
	unsigned dumps;	  /* that the program has made: FILE.1 ... */
	size_t threads;	  /* that were started */
	uint64_t zeroed;  /* instructions that it left out */
	bool failed;	  /* a file could not be written */
	/* After the run: the events and their sums. */
	size_t events;
	const char *name[EXACT_EVENTS_MAX];
	uint64_t sum[EXACT_EVENTS_MAX];
};

/* Runs the program, and writes an exact profile of it to v->file, and of what it dumps to that name
 * with a number.  Returns the program's status, or the tool's after a message. */
int valgrind_costs_run(struct valgrind_costs *v, char **program);

/* valgrind_summary.c: Writes the summary of a run, as valgrind does. */
void valgrind_summary(const struct valgrind_costs *v, FILE *file);

#endif
