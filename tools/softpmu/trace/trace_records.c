/* SPDX-License-Identifier: MIT */
/*
 * trace_records.c: takes the branches of a traced program, by process and thread.
 *
 * Branches are known by their addresses, so each process has its own table.  Each thread has its
 * own stack of calls.  The lines of a thread are written a buffer at a time.  If there are several
 * threads, a heading names the thread.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/symbols/starts.h"
#include "tools/softpmu/trace/trace.h"

/* A BTS record of 64-bit mode. */
struct bts {
	uint64_t from, to, misc;
};

/* A record of LINK_WANT_SUMS, with at most one event. */
struct count {
	uint64_t from, to, times;
	int64_t left;
};

/* --- processes and threads ------------------------------------------------------------------ */

static struct trace_process *process_of(const struct trace_task *task)
{
	return (struct trace_process *)task->in.process;
}

static struct trace_process *get_process(struct trace *trace, uint32_t pid)
{
	struct trace_process *process =
		(struct trace_process *)tasks_find_process(&trace->tasks, pid);

	if (process)
		return process;
	process = tool_alloc(sizeof(*process));
	process->edges = (struct edges){.code = trace->code,
					.with_texts = trace->mode == TRACE_LIST,
					.fold = trace_sums_fold,
					.opaque = trace};
	edges_begin(&process->edges);
	tasks_add_process(&trace->tasks, &process->in, pid);
	return process;
}

static void end_process(struct trace *trace, struct trace_process *process)
{
	tasks_remove_process(&trace->tasks, &process->in);
	trace->different += process->edges.used;
	edges_fold(&process->edges);
	edges_end(&process->edges);
	code_exit(trace->code, process->in.pid);
	free(process);
}

/* Prints a heading before the first line of a thread.  With -F there may be no line. */
static void begin_line(void *opaque)
{
	struct trace *trace = opaque;

	if (trace->headed == trace->shown)
		return;
	fputs_unlocked(trace->heading, trace->to);
	trace->headed = trace->shown;
}

static struct calls *new_calls(struct trace *trace)
{
	if (trace->mode != TRACE_TREE)
		return NULL;
	return calls_new(trace->to, trace->code, (unsigned)trace->depth,
			 trace->wanted_count ? trace_sums_is_wanted : NULL, begin_line, trace);
}

static struct trace_task *find_task(struct trace *trace, uint32_t pid, uint32_t tid)
{
	return (struct trace_task *)tasks_find_thread(&trace->tasks, pid, tid);
}

static struct trace_task *get_task(struct trace *trace, uint32_t pid, uint32_t tid)
{
	struct trace_task *task = find_task(trace, pid, tid);

	if (task)
		return task;
	task = tool_alloc(sizeof(*task));
	task->calls = new_calls(trace);
	tasks_add_thread(&trace->tasks, &task->in, &get_process(trace, pid)->in, tid);
	return task;
}

/* Ends a thread.  The last thread ends its process. */
static void end_task(struct trace *trace, uint32_t pid, uint32_t tid)
{
	struct trace_task *task = find_task(trace, pid, tid);
	struct trace_process *process;

	if (!task)
		return;
	process = process_of(task);
	tasks_remove_thread(&trace->tasks, &task->in);
	calls_free(task->calls);
	if (trace->shown == task)
		trace->shown = NULL;
	if (trace->headed == task)
		trace->headed = NULL;
	if (!process->in.threads)
		end_process(trace, process);
	free(task);
}

/* Begins a thread.  The thread of a new process starts within its parent's calls, others with
 * none. */
static void begin_task(struct trace *trace, const struct link_task *link)
{
	const struct trace_task *parent = find_task(trace, link->ppid, link->ptid);
	struct trace_task *task;

	if (link->pid == link->ppid) {
		get_task(trace, link->pid, link->tid);
		return;
	}
	code_fork(trace->code, link->pid, link->ppid);
	task = get_task(trace, link->pid, link->tid);
	if (!parent)
		return;
	memcpy(process_of(task)->name, process_of(parent)->name, sizeof(process_of(task)->name));
	if (parent->calls) {
		calls_free(task->calls);
		task->calls = calls_fork(parent->calls);
	}
}

/* Takes a name.  If the process executes another program, it forgets all code and other threads. */
static void take_comm(struct trace *trace, const struct link_comm *link)
{
	struct trace_task *task = get_task(trace, link->pid, link->tid);
	struct trace_process *process = process_of(task);
	const struct tasks_thread *next;

	if (link->tid == link->pid)
		memcpy(process->name, link->comm, sizeof(process->name));
	if (!link->exec)
		return;
	edges_fold(&process->edges);
	code_exec(trace->code, link->pid);
	calls_free(task->calls);
	task->calls = new_calls(trace);
	for (const struct tasks_thread *at = task->in.next; at; at = next) {
		next = at->next;
		if (at->process == &process->in)
			end_task(trace, link->pid, at->tid);
	}
}

/* Makes a thread the current one, and prepares its heading if it is not the first. */
static void show(struct trace *trace, const struct trace_task *task)
{
	const struct trace_process *process = process_of(task);
	bool first = !trace->branches;

	if (trace->shown == task)
		return;
	if (trace->shown && trace->shown->calls)
		calls_flush(trace->shown->calls);
	trace->shown = task;
	trace->heading[0] = 0;
	if (first)
		return;
	if (task->in.tid == process->in.pid)
		snprintf(trace->heading, sizeof(trace->heading), "# %s, process %u\n",
			 process->name, process->in.pid);
	else
		snprintf(trace->heading, sizeof(trace->heading), "# %s, thread %u of process %u\n",
			 process->name, task->in.tid, process->in.pid);
}

/* --- a buffer of records: O(1) for each ----------------------------------------------------- */

/* Takes branches that the engine has counted, and single ones. */
static void add_counts(struct trace *trace, struct edges *edges, const struct count *records,
		       size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct count *record = &records[i];
		uint64_t flags = record->from & LINK_FLOW_FLAGS;
		uint64_t times = flags & LINK_FLOW_COUNTED ? record->times : 1;

		if (flags & ~LINK_FLOW_COUNTED)
			continue;
		edges_find(edges, record->from & ~flags, record->to)->count += times;
		trace->branches += times;
	}
}

static void count_callers(struct trace *trace, struct trace_task *task, const struct bts *records,
			  size_t count)
{
	struct edges *edges = &process_of(task)->edges;

	for (size_t i = 0; i < count; i++) {
		struct edge *edge = edges_find(edges, records[i].from, records[i].to);

		edge->count++;
		if (edge->kind == EDGE_TAIL || edge->to_stub || edge->from_stub)
			trace_sums_link(trace, &task->linkage, edge);
	}
}

static void list_records(struct trace *trace, struct edges *edges, const struct bts *records,
			 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct edge *edge = edges_find(edges, records[i].from, records[i].to);

		edge->count++;
		if (!trace->wanted_count || trace_sums_is_wanted(trace, edge->source) ||
		    trace_sums_is_wanted(trace, edge->target)) {
			begin_line(trace);
			fputs_unlocked(edges_text(edges, edge), trace->to);
		}
	}
}

static void follow_records(struct calls *calls, struct edges *edges, const struct bts *records,
			   size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct edge *edge = edges_find(edges, records[i].from, records[i].to);

		edge->count++;
		if (edge->kind != EDGE_INSIDE)
			calls_take(calls, edge);
	}
}

/* Returns our own processor time, which does not depend on the load of the machine. */
static uint64_t busy_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void take_trace(struct trace *trace, const struct link_trace *link, uint64_t time_ns,
		       const void *records)
{
	struct trace_task *task = get_task(trace, link->pid, link->tid);
	struct edges *edges = &process_of(task)->edges;
	uint64_t begin = busy_now_ns();

	code_enter(trace->code, link->pid);
	show(trace, task);
	trace->branches += trace->link ? 0 : link->count;
	trace->end_ns = time_ns;
	switch (trace->mode) {
	case TRACE_TREE:
		calls_time(task->calls, time_ns - trace->start_ns);
		follow_records(task->calls, edges, records, link->count);
		break;
	case TRACE_LIST:
		list_records(trace, edges, records, link->count);
		break;
	case TRACE_SUMMARY:
		if (trace->link)
			add_counts(trace, edges, records, link->count);
		else
			count_callers(trace, task, records, link->count);
		break;
	}
	trace->busy_ns += busy_now_ns() - begin;
}

/* What the table knows of replaced code is not valid for the new code. */
static void take_mmap(struct trace *trace, const struct link_mmap *map)
{
	if (code_map(trace->code, map))
		edges_fold(&process_of(get_task(trace, map->pid, map->tid))->edges);
	code_enter(trace->code, map->pid);
	if (trace->link && !code_is_memory(trace->code, map->start))
		starts_note_readable(map, trace->link);
}

void trace_records_prepare(void *opaque, struct link *link)
{
	struct trace *trace = opaque;

	trace->link = link;
}

void trace_records_take(void *opaque, const struct link_record *link, uint64_t time_ns,
			const void *records)
{
	const struct link_task *task = (const struct link_task *)link;
	struct trace *trace = opaque;

	if (!link)
		return;
	if (!trace->start_ns)
		trace->start_ns = time_ns;
	switch (link->type) {
	case LINK_REC_TRACE:
		take_trace(trace, (const struct link_trace *)link, time_ns, records);
		break;
	case LINK_REC_MMAP:
		take_mmap(trace, (const struct link_mmap *)link);
		break;
	case LINK_REC_COMM:
		take_comm(trace, (const struct link_comm *)link);
		break;
	case LINK_REC_TASK:
		if (task->ended)
			end_task(trace, task->pid, task->tid);
		else
			begin_task(trace, task);
		break;
	default:
		break;
	}
}

void trace_records_end(struct trace *trace)
{
	while (trace->tasks.threads)
		end_task(trace, trace->tasks.threads->process->pid, trace->tasks.threads->tid);
}
