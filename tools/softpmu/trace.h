/* SPDX-License-Identifier: MIT */
/*
 * trace.h: what the parts of `softpmu trace` share: trace.c (options, the run), trace_take.c (what
 * comes in, by process and thread) and trace_sums.c (the summary).
 */
#ifndef SOFTPMU_TOOL_TRACE_H
#define SOFTPMU_TOOL_TRACE_H

#include <stdio.h>

#include "tools/softpmu/calls.h"
#include "tools/softpmu/code.h"
#include "tools/softpmu/edges.h"

enum trace_mode { TRACE_TREE, TRACE_LIST, TRACE_SUMMARY };

/* What threads share: the code. */
struct trace_process {
	struct trace_process *next;
	uint32_t pid, tasks;
	char name[16];
	struct edges edges;
};

/*
 * Who called what a linkage stub leads to.  The first call through a stub goes to the dynamic
 * linker, which finds the function and jumps to it; while it does, it may do the same again.
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
	struct trace_task *next;
	struct trace_process *process;
	uint32_t tid;
	struct calls *calls; /* of a tree */
	struct trace_linkage linkage;
};

struct trace {
	enum trace_mode mode;
	const char *model_name, *output;
	const char **wanted; /* -F: patterns of function names */
	size_t wanted_count;
	bool *found; /* by pattern: it has named a function of the run */
	uint64_t depth;
	bool by_caller, verbose, fixed, cold;

	FILE *to;
	struct code *code;
	struct trace_process *processes;
	struct trace_task *tasks;	 /* what was looked for last comes first */
	const struct trace_task *shown;	 /* whose records came last */
	const struct trace_task *headed; /* whose lines were the last */
	char heading[80];		 /* in front of the next line */
	uint8_t *is_wanted;		 /* by function: 0 not known yet, 1 no, 2 yes */
	uint32_t is_wanted_room;
	struct trace_pair { /* calls of one function by another; free: no calls */
		uint64_t calls;
		uint32_t source, target;
	} * pairs;
	size_t pair_count, pair_room;
	size_t different; /* branches that were known at the end */
	uint64_t branches, all_calls, start_ns, end_ns;
	uint64_t busy_ns; /* spent on records */
};

/* The launch_sink. */
void trace_take(void *opaque, const struct link_record *link, uint64_t time_ns,
		const void *records);

/* What has not ended by itself ends: lines that are held back are written, edges added up. */
void trace_end(struct trace *trace);

/* Whether -F names the function, or names none. */
bool trace_is_wanted(void *opaque, uint32_t function);

/* Edges that are about to be forgotten go into the sums (edges.h). */
void trace_fold(void *opaque, const struct edge *edge);
/* With --caller: a branch to or from a stub, or a jump to another function, as it is taken. */
void trace_link(struct trace *trace, struct trace_linkage *linkage, const struct edge *edge);

/* Say which of -F named nothing that was called. */
void trace_say_not_found(struct trace *trace);

void trace_print_sums(struct trace *trace);

#endif
