/* SPDX-License-Identifier: MIT */
/*
 * flow.c: takes the control flow of a program, by process and thread.
 *
 * Between two records a thread ran straight on.  So each record ends a segment, whose costs go to
 * its instructions and to the clock of the thread's stack of calls.
 *
 * Simplified: a thread's records come a buffer at a time.  If another thread replaces code while
 * they wait, they are taken as records of the new code.
 */
#define _GNU_SOURCE
#include "tools/softpmu/flow/flow.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/flow/segments.h"
#include "tools/softpmu/flow/stacks.h"

#define AHEAD 8 /* records */

struct record {
	uint64_t from, to, pointer;
};

struct process {
	struct process *next;
	uint32_t pid, tasks;
	char name[16];
	struct targets *targets;
};

struct task {
	struct task *next;
	struct process *process;
	uint32_t tid;
	size_t thread; /* its place in exact->threads */
	uint64_t at;   /* where the last record went; 0: the task does not run */
	struct segments segments;
	struct stacks *stacks;
};

struct flow {
	struct exact *exact;
	struct code *code;
	const uint64_t *events;
	struct process *processes;
	struct task *tasks; /* the last one that was used comes first */
	struct flow_sums sums;
};

struct flow *flow_new(struct exact *exact, const uint64_t *signals)
{
	struct flow *flow = tool_alloc(sizeof(*flow));

	flow->exact = exact;
	flow->events = signals;
	flow->code = code_new();
	return flow;
}

/* --- processes and threads ------------------------------------------------------------------- */

static struct process *get_process(struct flow *flow, uint32_t pid)
{
	struct process *process = flow->processes;

	while (process && process->pid != pid)
		process = process->next;
	if (process)
		return process;
	process = tool_alloc(sizeof(*process));
	process->pid = pid;
	process->targets = targets_new(flow->code, flow->exact);
	process->next = flow->processes;
	flow->processes = process;
	return process;
}

static void end_process(struct flow *flow, struct process *process)
{
	struct process **link = &flow->processes;

	while (*link != process)
		link = &(*link)->next;
	*link = process->next;
	targets_free(process->targets);
	code_exit(flow->code, process->pid);
	free(process);
}

static struct task *find_task(struct flow *flow, uint32_t pid, uint32_t tid)
{
	struct task **link = &flow->tasks, *task;

	while ((task = *link) && (task->tid != tid || task->process->pid != pid))
		link = &task->next;
	if (!task)
		return NULL;
	*link = task->next;
	task->next = flow->tasks;
	flow->tasks = task;
	return task;
}

static struct task *get_task(struct flow *flow, uint32_t pid, uint32_t tid)
{
	struct task *task = find_task(flow, pid, tid);

	if (task)
		return task;
	task = tool_alloc(sizeof(*task));
	task->process = get_process(flow, pid);
	task->process->tasks++;
	task->tid = tid;
	task->thread = exact_add_thread(flow->exact, pid, tid, task->process->name);
	segments_begin(&task->segments, flow->code, flow->events, flow->exact->event_count);
	task->stacks = stacks_new(task->process->targets, flow->exact, task->thread);
	task->next = flow->tasks;
	flow->tasks = task;
	return task;
}

static void fold(struct flow *flow, struct task *task)
{
	code_enter(flow->code, task->process->pid);
	segments_fold(&task->segments, flow->exact, task->thread);
}

static void end_task(struct flow *flow, uint32_t pid, uint32_t tid)
{
	struct task *task = find_task(flow, pid, tid);

	if (!task)
		return;
	flow->tasks = task->next;
	fold(flow, task);
	stacks_free(task->stacks);
	flow->sums.lost += task->segments.lost;
	segments_end(&task->segments);
	if (!--task->process->tasks)
		end_process(flow, task->process);
	free(task);
}

/* Begins a thread.  The thread of a new process starts within its parent's calls. */
static void begin_task(struct flow *flow, const struct link_task *link)
{
	const struct task *parent = find_task(flow, link->ppid, link->ptid);
	struct task *task;

	if (link->pid != link->ppid) {
		code_fork(flow->code, link->pid, link->ppid);
		if (parent)
			memcpy(get_process(flow, link->pid)->name, parent->process->name,
			       sizeof(parent->process->name));
	}
	task = get_task(flow, link->pid, link->tid);
	if (link->pid == link->ppid || !parent)
		return;
	stacks_free(task->stacks);
	task->stacks = stacks_fork(parent->stacks, task->process->targets, task->thread);
}

static void rename_thread(struct flow *flow, size_t thread, const char *name)
{
	char **comm = &flow->exact->threads[thread]->comm;

	free(*comm);
	*comm = tool_copy(name);
}

/* Returns a thread of the process that is not the first of all, or NULL. */
static struct task *other_task(const struct flow *flow, const struct process *process)
{
	struct task *task = flow->tasks->next;

	while (task && task->process != process)
		task = task->next;
	return task;
}

/* Begins another program: it forgets all code and other threads.  What the old one has cost is a
 * thread of the profile of its own. */
static void execute(struct flow *flow, struct task *task)
{
	struct process *process = task->process;

	fold(flow, task);
	stacks_free(task->stacks);
	if (flow->exact->threads[task->thread]->insn_count)
		task->thread =
			exact_add_thread(flow->exact, process->pid, task->tid, process->name);
	task->stacks = stacks_new(process->targets, flow->exact, task->thread);
	task->at = 0;
	while ((task = other_task(flow, process)) != NULL)
		end_task(flow, process->pid, task->tid);
	targets_clear(process->targets);
	code_exec(flow->code, process->pid);
}

static void take_comm(struct flow *flow, const struct link_comm *link)
{
	struct task *task = get_task(flow, link->pid, link->tid);

	if (link->tid == link->pid)
		memcpy(task->process->name, link->comm, sizeof(task->process->name));
	if (link->exec) {
		execute(flow, task);
		task = get_task(flow, link->pid, link->tid);
	}
	rename_thread(flow, task->thread, link->comm);
}

/* What is known of the replaced code is not valid for the new code. */
static void take_mmap(struct flow *flow, const struct link_mmap *map)
{
	struct process *process = get_task(flow, map->pid, map->tid)->process;

	if (code_is_mapped(flow->code, map)) {
		for (struct task *task = flow->tasks; task; task = task->next) {
			if (task->process != process)
				continue;
			fold(flow, task);
			stacks_forget(task->stacks);
		}
		targets_clear(process->targets);
	}
	code_map(flow->code, map);
}

/* --- records ---------------------------------------------------------------------------------- */

/* Takes the code up to the place where the program continued without a branch, instruction by
 * instruction. */
static void take_stop(struct task *task, uint64_t stop)
{
	while (task->at && task->at < stop) {
		struct segment *segment =
			segments_find(&task->segments, task->at, task->at | LINK_FLOW_BREAK, 0);

		segment->count++;
		for (size_t e = 0; e < task->segments.event_count; e++)
			stacks_clock(task->stacks)[e] += segment->cost[e];
		if (!segment->insns)
			break;
		task->at += segment->length;
	}
}

static void take_break(struct task *task, const struct record *record)
{
	take_stop(task, record->from & ~LINK_FLOW_FLAGS);
	if (record->from & LINK_FLOW_LEAVES)
		stacks_leave_handler(task->stacks);
	else if (record->to && (!task->at || record->from & LINK_FLOW_HANDLER))
		stacks_begin(task->stacks, record->to, record->pointer,
			     record->from & LINK_FLOW_HANDLER);
	task->at = record->to;
}

static void take_end(struct task *task, const struct segment *segment, const struct record *record)
{
	struct stacks *stacks = task->stacks;
	uint64_t from = record->from & ~LINK_FLOW_FLAGS;

	switch (segment->end) {
	case SEGMENT_CALL:
		stacks_call(stacks, from, record->to, record->pointer);
		break;
	case SEGMENT_RETURN:
		stacks_return(stacks, from, record->to, record->pointer);
		break;
	case SEGMENT_JUMP:
		stacks_jump(stacks, from, record->to, 0);
		break;
	case SEGMENT_INDIRECT:
		if (!segments_stays(&task->segments, segment, record->to))
			stacks_jump(stacks, from, record->to, record->pointer);
		break;
	default:
		break;
	}
}

/*
 * What ran since the clock was advanced last.  Adding to it needs no memory.  It cannot overflow: a
 * segment has fewer than 2^16 instructions, and each costs fewer than 2^4 of an event.
 */
#define SOME_SEGMENTS 4096
typedef uint32_t costs __attribute__((vector_size(4 * EXACT_EVENTS_MAX)));

static inline void advance(const struct task *task, costs *some)
{
	uint64_t *clock = stacks_clock(task->stacks);

	for (size_t e = 0; e < EXACT_EVENTS_MAX; e++)
		clock[e] += (*some)[e];
	*some = (costs){0};
}

static void take_records(struct task *task, const struct record *records, size_t count)
{
	struct segments *segments = &task->segments;
	costs some = {0};

	for (size_t i = 0; i < count; i++) {
		const struct record *record = &records[i];
		struct segment *segment;

		if (i + AHEAD < count)
			segments_prefetch(segments, record[AHEAD - 1].to, record[AHEAD].from);
		if (__builtin_expect(record->from & LINK_FLOW_BREAK, 0)) {
			advance(task, &some);
			take_break(task, record);
			continue;
		}
		segment = segments_find(segments, task->at, record->from, record->to);
		segment->count++;
		some += *(const costs *)segment->cost;
		task->at = record->to;
		if (segment->end != SEGMENT_INSIDE) {
			advance(task, &some);
			take_end(task, segment, record);
		} else if (__builtin_expect(i % SOME_SEGMENTS == 0, 0)) {
			advance(task, &some);
		}
	}
	advance(task, &some);
}

/* Returns our own processor time, which does not depend on the load of the machine. */
static uint64_t busy_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void take_trace(struct flow *flow, const struct link_trace *link, const void *records)
{
	struct task *task = get_task(flow, link->pid, link->tid);
	uint64_t begin = busy_now_ns();

	code_enter(flow->code, link->pid);
	take_records(task, records, link->count);
	flow->sums.branches += link->count;
	flow->sums.busy_ns += busy_now_ns() - begin;
}

void flow_take(void *opaque, const struct link_record *link, uint64_t time_ns, const void *records)
{
	const struct link_task *task = (const struct link_task *)link;
	struct flow *flow = opaque;

	(void)time_ns;
	if (!link)
		return;
	switch (link->type) {
	case LINK_REC_TRACE:
		take_trace(flow, (const struct link_trace *)link, records);
		break;
	case LINK_REC_MMAP:
		take_mmap(flow, (const struct link_mmap *)link);
		break;
	case LINK_REC_COMM:
		take_comm(flow, (const struct link_comm *)link);
		break;
	case LINK_REC_TASK:
		if (task->ended)
			end_task(flow, task->pid, task->tid);
		else
			begin_task(flow, task);
		break;
	default:
		break;
	}
}

void flow_end(struct flow *flow)
{
	while (flow->tasks)
		end_task(flow, flow->tasks->process->pid, flow->tasks->tid);
}

struct flow_sums flow_sums(const struct flow *flow)
{
	return flow->sums;
}

void flow_free(struct flow *flow)
{
	if (!flow)
		return;
	flow_end(flow);
	code_free(flow->code);
	free(flow);
}
