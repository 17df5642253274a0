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

#include "tools/softpmu/base/tasks.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/flow/jumps.h"
#include "tools/softpmu/flow/segments.h"
#include "tools/softpmu/flow/forks.h"
#include "tools/softpmu/flow/stacks.h"
#include "tools/softpmu/flow/starts.h"
#include "tools/softpmu/flow/straight.h"

#define AHEAD 8 /* records */

struct record {
	uint64_t from, to, third;
	int64_t left[]; /* of the headroom of each meter */
};

/* task.at while code of a file runs. */
#define IN_FILE	 1
#define NO_METER LINK_FLOW_METERS_MAX

struct process {
	struct tasks_process in; /* flow->tasks */
	char name[16];
	struct targets *targets;
};

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

struct flow {
	struct exact *exact;
	struct code *code;
	const uint64_t *events;
	struct link *link; /* NULL: not known */
	struct tasks tasks;
	struct fork *forks; /* whose child has not begun */
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
	segments_begin(&task->segments, flow->code, flow->events, flow->exact->event_count);
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
	flow->sums.lost +=
		straight_fold(&task->straight, flow->exact, task->thread, flow->code, flow->events);
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
	for (unsigned i = 0; i < LINK_FLOW_READABLE; i++)
		starts_note(flow->link, link_flow_readable(map) + 4 * i);
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

/* Takes the code up to the place where the program continued without a branch, instruction by
 * instruction. */
static void take_stop(struct task *task, uint64_t stop)
{
	while (task->at > IN_FILE && task->at < stop) {
		struct segment *segment =
			segments_find(&task->segments, task->at, task->at | LINK_FLOW_BREAK);

		segment->count++;
		if (!segment->insns)
			break;
		task->at += segment->length;
	}
}

static const struct record *record_at(const struct flow *flow, const void *records, size_t i)
{
	size_t bytes = link_flow_bytes((unsigned)flow->exact->event_count);

	return (const struct record *)((const char *)records + i * bytes);
}

/* Begins with what is left of the headroom now. */
static void begin_clock(const struct flow *flow, struct task *task, const struct record *record)
{
	for (size_t e = 0; e < flow->exact->event_count; e++) {
		if (task->meter[e] != NO_METER)
			task->left[e] = record->left[task->meter[e]] + task->held[task->meter[e]];
	}
}

/* Advances the clock of the current stack by what was used of the headroom. */
static inline void advance(const struct flow *flow, struct task *task, const struct record *record)
{
	uint64_t *clock = stacks_clock(task->stacks);
	size_t events = flow->exact->event_count;

	for (size_t e = 0; e < events; e++) {
		unsigned m = task->meter[e];
		int64_t left;

		if (m == NO_METER)
			continue;
		left = record->left[m] + task->held[m];
		clock[e] += (uint64_t)(task->left[e] - left);
		task->left[e] = left;
	}
}

static void take_meter(const struct flow *flow, struct task *task, const struct record *record)
{
	uint64_t m = record->from & ~LINK_FLOW_FLAGS;

	if (m >= LINK_FLOW_METERS_MAX)
		return;
	task->held[m] = (int64_t)record->third;
	for (size_t e = 0; e < flow->exact->event_count; e++) {
		if (flow->events[e] == record->to)
			task->meter[e] = (unsigned)m;
	}
}

static void take_break(const struct flow *flow, struct task *task, const struct record *record)
{
	const struct jump *jump;
	uint64_t stop = record->from & ~LINK_FLOW_FLAGS;

	if (stop)
		advance(flow, task, record);
	else
		begin_clock(flow, task, record);
	take_stop(task, stop);
	if (stop == record->to) { /* what is here already was left, and comes back */
		jumps_count(&task->jumps, LINK_FLOW_BREAK | stop, 0, 1);
		jumps_complete(&task->jumps);
		jump = jumps_count(&task->jumps, LINK_FLOW_BREAK, stop, 1);
	} else {
		jump = jumps_count(&task->jumps, LINK_FLOW_BREAK | stop, record->to, 1);
	}
	if (record->from & LINK_FLOW_LEAVES)
		stacks_leave_handler(task->stacks);
	else if (record->to && (!task->at || record->from & LINK_FLOW_HANDLER))
		stacks_begin(task->stacks, record->to, record->third,
			     record->from & LINK_FLOW_HANDLER);
	task->at = jump->to_memory ? record->to : record->to ? IN_FILE : 0;
}

static void take_end(struct task *task, enum jump_end end, const struct record *record)
{
	struct stacks *stacks = task->stacks;

	switch (end) {
	case JUMP_CALL:
		stacks_call(stacks, record->from, record->to, record->third);
		break;
	case JUMP_RETURN:
		stacks_return(stacks, record->from, record->to, record->third);
		break;
	case JUMP_DIRECT:
		stacks_jump(stacks, record->from, record->to, 0);
		break;
	case JUMP_INDIRECT:
		stacks_jump(stacks, record->from, record->to, record->third);
		break;
	default:
		break;
	}
}

/* Takes a jump of code that is not, or goes to code that is not, that of a file. */
static void take_in_memory(struct task *task, const struct jump *jump)
{
	if (jump->from_memory && task->at > IN_FILE)
		segments_find(&task->segments, task->at, jump->from)->count++;
	task->at = jump->to_memory ? jump->to : IN_FILE;
}

static void take_special(const struct flow *flow, struct task *task, const struct record *record)
{
	uint64_t from = record->from & ~LINK_FLOW_COUNTED;
	struct jump *jump;

	if (from & LINK_FLOW_BREAK) {
		take_break(flow, task, record);
	} else if (from & LINK_FLOW_METER) {
		take_meter(flow, task, record);
	} else if (from != record->from) {
		jumps_count(&task->jumps, from, record->to, record->third);
	} else {
		jump = jumps_count(&task->jumps, from, record->to, 1);
		if (jump->from_memory || jump->to_memory)
			take_in_memory(task, jump);
	}
}

static void take_records(const struct flow *flow, struct task *task, const void *records,
			 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct record *record = record_at(flow, records, i);
		const struct jump *jump;

		if (i + AHEAD < count)
			jumps_prefetch(&task->jumps, record_at(flow, records, i + AHEAD)->from,
				       record_at(flow, records, i + AHEAD)->to);
		if (__builtin_expect((record->from & LINK_FLOW_FLAGS) != 0, 0)) {
			take_special(flow, task, record);
			continue;
		}
		jump = jumps_count(&task->jumps, record->from, record->to, 1);
		if (__builtin_expect(jump->from_memory | jump->to_memory, 0))
			take_in_memory(task, jump);
		if (jump->end != JUMP_INSIDE) {
			advance(flow, task, record);
			take_end(task, jump->end, record);
		}
	}
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
	take_records(flow, task, records, link->count);
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
