/* SPDX-License-Identifier: MIT */
/* flow_task.h: what flow.c knows of a thread, and what the thread's records say. */
#ifndef SOFTPMU_TOOL_FLOW_TASK_H
#define SOFTPMU_TOOL_FLOW_TASK_H

#include <hosts/user/link.h>

#include "tools/softpmu/base/tasks.h"
#include "tools/softpmu/flow/jumps.h"
#include "tools/softpmu/flow/segments.h"
#include "tools/softpmu/flow/stacks.h"
#include "tools/softpmu/flow/straight.h"

#define IN_FILE	 1 /* task.at while code of a file runs */
#define NO_METER LINK_FLOW_METERS_MAX

struct task {
	struct tasks_thread in; /* flow->tasks */
	size_t thread;		/* its place in exact->threads */
	/* Where the last record went, if that is not code of a file; IN_FILE; 0: the task does not
	 * run. */
	uint64_t at;
	struct segments segments;
	struct jumps jumps;
	struct straight straight;
	unsigned meter[EXACT_EVENTS_MAX]; /* of each event */
	int64_t left[EXACT_EVENTS_MAX];	  /* of its headroom */
	int64_t held[LINK_FLOW_METERS_MAX];
	struct stacks *stacks;
};

/* What is counted: the signals of each event. */
struct flow_events {
	const uint64_t *signals;
	size_t count;
};

/* Takes the records of a buffer of the log.  code_enter() has been called for the thread. */
void flow_task_take(struct task *task, const struct flow_events *events, const void *records,
		    size_t count);

#endif
