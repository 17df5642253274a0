/* SPDX-License-Identifier: MIT */
/*
 * flow.c: takes the control flow of a program, by process and thread.
 *
 * How often each instruction of a file ran follows from how often each branch was taken.  The log
 * counts branches of such code, except those that may begin or end a call.  Of other code, which
 * may be replaced by other code at the same addresses, it has all branches.  Between two of them a
 * thread ran straight on, so each ends a segment.
 *
 * What a call costs is what passed between its begin and its end.
 *
 * Simplified: a thread's records come a buffer at a time.  If another thread replaces code without
 * a file while they wait, they are taken as records of the new code.
 */
#define _GNU_SOURCE
#include "tools/softpmu/flow/flow.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/flow/flow_task.h"
#include "tools/softpmu/flow/forks.h"
#include "tools/softpmu/symbols/starts.h"

struct process {
	struct tasks_process in; /* flow->tasks */
	char name[16];
	struct targets *targets;
};

struct flow {
	struct exact *exact;
	struct code *code;
	struct flow_events events;
	struct link *link; /* NULL: not known */
	struct tasks tasks;
	struct fork *forks; /* whose child has not begun */
	struct flow_sums sums;
};

struct flow *flow_new(struct exact *exact, const uint64_t *signals)
{
	struct flow *flow = tool_alloc(sizeof(*flow));

	flow->exact = exact;
	flow->events = (struct flow_events){signals, exact->event_count};
	flow->code = code_new();
	return flow;
}

void flow_prepare(void *opaque, struct link *link)
{
	struct flow *flow = opaque;

	flow->link = link;
}

/* --- processes and threads ------------------------------------------------------------------- */

static struct process *process_of(const struct task *task)
{
	return (struct process *)task->in.process;
}

static struct process *get_process(struct flow *flow, uint32_t pid)
{
	struct process *process = (struct process *)tasks_find_process(&flow->tasks, pid);

	if (process)
		return process;
	process = tool_alloc(sizeof(*process));
	process->targets = targets_new(flow->code, flow->exact);
	tasks_add_process(&flow->tasks, &process->in, pid);
	return process;
}

static void end_process(struct flow *flow, struct process *process)
{
	tasks_remove_process(&flow->tasks, &process->in);
	targets_free(process->targets);
	code_exit(flow->code, process->in.pid);
	free(process);
}

static struct task *find_task(struct flow *flow, uint32_t pid, uint32_t tid)
{
	return (struct task *)tasks_find_thread(&flow->tasks, pid, tid);
}

static struct task *get_task(struct flow *flow, uint32_t pid, uint32_t tid)
{
	struct task *task = find_task(flow, pid, tid);
	struct process *process;

	if (task)
		return task;
	task = tool_alloc(sizeof(*task));
	process = get_process(flow, pid);
	task->thread = exact_add_thread(flow->exact, pid, tid, process->name);
	segments_begin(&task->segments, flow->code, flow->events.signals, flow->events.count);
	jumps_begin(&task->jumps, flow->code);
	for (size_t e = 0; e < EXACT_EVENTS_MAX; e++)
		task->meter[e] = NO_METER;
	task->stacks = stacks_new(process->targets, flow->exact, task->thread);
	tasks_add_thread(&flow->tasks, &task->in, &process->in, tid);
	return task;
}

static void fold(struct flow *flow, struct task *task)
{
	code_enter(flow->code, process_of(task)->in.pid);
	segments_fold(&task->segments, flow->exact, task->thread);
}

/* Adds up everything.  If the task was killed, its log ends anywhere: only complete parts count. */
static void fold_all(struct flow *flow, struct task *task)
{
	fold(flow, task);
	jumps_move(&task->jumps, &task->straight, flow->exact, !task->at);
	flow->sums.lost += straight_fold(&task->straight, flow->exact, task->thread, flow->code,
					 flow->events.signals);
}

static void end_task(struct flow *flow, uint32_t pid, uint32_t tid)
{
	struct task *task = find_task(flow, pid, tid);
	struct process *process;

	if (!task)
		return;
	process = process_of(task);
	tasks_remove_thread(&flow->tasks, &task->in);
	fold_all(flow, task);
	stacks_free(task->stacks);
	flow->sums.lost += task->segments.lost;
	segments_end(&task->segments);
	jumps_end(&task->jumps);
	if (!process->in.threads)
		end_process(flow, process);
	free(task);
}

static void take_fork(struct flow *flow, const struct link_task *link)
{
	const struct task *task = find_task(flow, link->pid, link->tid);

	if (link->ended)
		free(forks_take(&flow->forks, link->pid, link->tid, link->fork));
	else if (task)
		forks_add(&flow->forks, link, stacks_copy(task->stacks));
}

/* Returns the calls of the parent that a new process is within, NULL: none. */
static struct stacks_copy *calls_of(struct flow *flow, const struct task *parent,
				    const struct link_task *link)
{
	if (link->fork)
		return forks_take(&flow->forks, link->ppid, link->ptid, link->fork);
	return parent ? stacks_copy(parent->stacks) : NULL;
}

/* Begins a thread.  The thread of a new process starts within its parent's calls. */
static void begin_task(struct flow *flow, const struct link_task *link)
{
	const struct task *parent = find_task(flow, link->ppid, link->ptid);
	struct stacks_copy *calls;
	struct task *task;

	if (link->pid != link->ppid) {
		code_fork(flow->code, link->pid, link->ppid);
		if (parent)
			memcpy(get_process(flow, link->pid)->name, process_of(parent)->name,
			       sizeof(process_of(parent)->name));
	}
	task = get_task(flow, link->pid, link->tid);
	if (link->pid == link->ppid)
		return;
	calls = calls_of(flow, parent, link);
	stacks_free(task->stacks);
	task->stacks = stacks_fork(calls, process_of(task)->targets, flow->exact, task->thread);
	free(calls);
}

static void rename_thread(struct flow *flow, size_t thread, const char *name)
{
	char **comm = &flow->exact->threads[thread]->comm;

	free(*comm);
	*comm = tool_copy(name);
}

/* Returns a thread of the process that is not the first of all, or NULL. */
static const struct tasks_thread *other_thread(const struct flow *flow,
					       const struct process *process)
{
	const struct tasks_thread *thread = flow->tasks.threads->next;

	while (thread && thread->process != &process->in)
		thread = thread->next;
	return thread;
}

/* Begins another program: it forgets all code and other threads.  What the old one has cost is a
 * thread of the profile of its own. */
static void execute(struct flow *flow, struct task *task)
{
	struct process *process = process_of(task);
	const struct tasks_thread *other;

	fold_all(flow, task);
	stacks_free(task->stacks);
	if (flow->exact->threads[task->thread]->insn_count)
		task->thread =
			exact_add_thread(flow->exact, process->in.pid, task->in.tid, process->name);
	task->stacks = stacks_new(process->targets, flow->exact, task->thread);
	task->at = 0;
	while ((other = other_thread(flow, process)) != NULL)
		end_task(flow, process->in.pid, other->tid);
	targets_clear(process->targets);
	code_exec(flow->code, process->in.pid);
}

static void take_comm(struct flow *flow, const struct link_comm *link)
{
	struct task *task = get_task(flow, link->pid, link->tid);

	if (link->tid == link->pid)
		memcpy(process_of(task)->name, link->comm, sizeof(process_of(task)->name));
	if (link->exec) {
		execute(flow, task);
		task = get_task(flow, link->pid, link->tid);
	}
	rename_thread(flow, task->thread, link->comm);
}

/* Tells the engine what is in the mapping. */
static void tell(const struct flow *flow, const struct link_mmap *map)
{
	code_enter(flow->code, map->pid);
	if (!flow->link || code_is_memory(flow->code, map->start))
		return;
	starts_note_all(flow->code, map, flow->link);
	starts_note_readable(map, flow->link);
}

/* What is known of the replaced code is not valid for the new code. */
static void take_mmap(struct flow *flow, const struct link_mmap *map)
{
	struct process *process = process_of(get_task(flow, map->pid, map->tid));

	if (code_is_mapped(flow->code, map)) {
		for (struct tasks_thread *at = flow->tasks.threads; at; at = at->next) {
			struct task *task = (struct task *)at;

			if (at->process != &process->in)
				continue;
			fold(flow, task);
			jumps_move(&task->jumps, &task->straight, flow->exact, true);
			stacks_forget(task->stacks);
		}
		targets_clear(process->targets);
	}
	code_map(flow->code, map);
	tell(flow, map);
}

/* --- records ---------------------------------------------------------------------------------- */

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
	flow_task_take(task, &flow->events, records, link->count);
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
	case LINK_REC_FORK:
		take_fork(flow, task);
		break;
	default:
		break;
	}
}

void flow_end(struct flow *flow)
{
	while (flow->tasks.threads)
		end_task(flow, flow->tasks.threads->process->pid, flow->tasks.threads->tid);
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
	forks_free(&flow->forks);
	code_free(flow->code);
	free(flow);
}
