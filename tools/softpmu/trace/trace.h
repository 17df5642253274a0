/* SPDX-License-Identifier: MIT */
/*
 * trace.h: what the parts of `softpmu trace` share: commands/trace.c (options, the run),
 * trace_records.c (the branches, by process and thread) and trace_sums.c (the summary).
 */
#ifndef SOFTPMU_TOOL_TRACE_H
#define SOFTPMU_TOOL_TRACE_H

#include <stdio.h>

#include "tools/softpmu/base/numbering.h"
#include "tools/softpmu/base/tasks.h"
#include "tools/softpmu/symbols/code.h"
#include "tools/softpmu/trace/calls.h"
#include "tools/softpmu/trace/edges.h"

enum trace_mode { TRACE_TREE, TRACE_LIST, TRACE_SUMMARY };

/* A process: its threads share the code. */
struct trace_process {
	struct tasks_process in; /* trace->tasks */
	char name[16];
	struct edges edges;
};

/*
 * Who called the function that a linkage stub leads to.  The first call through a stub goes to the
 * dynamic linker, which finds the function and jumps to it.  Meanwhile it may call through stubs
 * itself.
 */
#define TRACE_LINKAGE_MAX 8
struct trace_linkage {
	uint32_t caller; /* of the stub */
	uint32_t waiting;
	struct {
		uint32_t caller, linker; /* functions */
	} at[TRACE_LINKAGE_MAX];
};

/* A thread. */
struct trace_task {
	struct tasks_thread in; /* trace->tasks */
	struct calls *calls;	/* for a tree */
	struct trace_linkage linkage;
};

struct trace {
	enum trace_mode mode;
	const char *output;
	const char **wanted; /* the patterns of -F */
	size_t wanted_count;
	bool *found; /* for each pattern: it named a function of the run */
	uint64_t depth;
	bool by_caller;
	struct link *link; /* the engine counts branches; NULL: it sends each of them */

	FILE *to;
	struct code *code;
	struct tasks tasks;
	const struct trace_task *shown;	 /* the thread of the last records */
	const struct trace_task *headed; /* the thread of the last line */
	char heading[80];		 /* before the next line */
	uint8_t *is_wanted;		 /* by function: 0 not known yet, 1 no, 2 yes */
	uint32_t is_wanted_room;
	struct trace_pair { /* calls of one function by another */
		uint64_t calls;
		uint32_t source, target;
	} * pairs;
	size_t pair_count, pair_room;
	struct numbering pair_numbers;
	size_t different; /* different branches in the tables at the end */
	uint64_t branches, all_calls, start_ns, end_ns;
	uint64_t busy_ns; /* processor time spent on records */
};

/* Takes the shared memory of a run whose branches the engine counts; `opaque` is the trace. */
void trace_records_prepare(void *opaque, struct link *link);

/* Takes a record of the engine.  This is the launch_sink. */
void trace_records_take(void *opaque, const struct link_record *link, uint64_t time_ns,
			const void *records);

/* Ends all threads that have not ended: prints the lines held back, adds up the edges. */
void trace_records_end(struct trace *trace);

/* Returns true if -F names the function, or if there is no -F. */
bool trace_sums_is_wanted(void *opaque, uint32_t function);

/* Adds an edge that will be forgotten to the sums (edges.h). */
void trace_sums_fold(void *opaque, const struct edge *edge);
/* With --caller: takes a branch to or from a stub, or a jump to another function. */
void trace_sums_link(struct trace *trace, struct trace_linkage *linkage, const struct edge *edge);

/* Names the patterns of -F that named no called function. */
void trace_sums_say_not_found(struct trace *trace);

void trace_sums_print(struct trace *trace);

#endif
