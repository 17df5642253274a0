/* SPDX-License-Identifier: MIT */
/*
 * costs.c: takes what instructions and calls cost on a model of the machine.
 *
 * The engine adds up what instructions cost, for each process.  Calls, returns and jumps to
 * functions come one by one, with what the thread had cost before each.  stacks.c makes calls of
 * them.  The first thread of a process in the profile has the instructions of all its threads.
 */
#include "tools/softpmu/flow/costs.h"

#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tasks.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/flow/stacks.h"
#include "tools/softpmu/symbols/starts.h"

struct process {
	struct tasks_process in; /* costs->tasks */
	struct targets *targets;
	size_t thread; /* its place in exact->threads */
};

struct task {
	struct tasks_thread in; /* costs->tasks */
	struct stacks *stacks;
	bool begun;
	uint64_t cost[LINK_COSTS]; /* before the last call */
};

struct costs {
	struct exact *exact;
	struct code *code;
	unsigned which[EXACT_EVENTS_MAX]; /* the place of each event among the costs */
	costs_dump *dump;
	void *opaque; /* of dump */
	struct link *link;
	struct tasks tasks;
	size_t threads; /* that processes have started */
};

struct costs *costs_new(struct exact *exact, const enum link_cost *which, costs_dump *dump,
			void *opaque)
{
	struct costs *costs = tool_alloc(sizeof(*costs));

	costs->exact = exact;
	for (unsigned e = 0; e < EXACT_EVENTS_MAX && e < exact->event_count; e++)
		costs->which[e] = which ? (unsigned)which[e] : e;
	costs->dump = dump;
	costs->opaque = opaque;
	costs->code = code_new();
	return costs;
}

void costs_prepare(void *opaque, struct link *link)
{
	struct costs *costs = opaque;

	costs->link = link;
}

/* --- processes and threads -------------------------------------------------------------------- */

static struct process *get_process(struct costs *costs, uint32_t pid)
{
	struct process *process = (struct process *)tasks_find_process(&costs->tasks, pid);

	if (process)
		return process;
	process = tool_alloc(sizeof(*process));
	process->targets = targets_new(costs->code, costs->exact);
	process->thread = exact_add_thread(costs->exact, pid, pid, "");
	tasks_add_process(&costs->tasks, &process->in, pid);
	return process;
}

static struct task *get_task(struct costs *costs, uint32_t pid, uint32_t tid)
{
	struct task *task = (struct task *)tasks_find_thread(&costs->tasks, pid, tid);
	struct process *process;

	if (task)
		return task;
	task = tool_alloc(sizeof(*task));
	process = get_process(costs, pid);
	task->stacks = stacks_new(process->targets, costs->exact, process->thread);
	tasks_add_thread(&costs->tasks, &task->in, &process->in, tid);
	return task;
}

/* Ends the threads of a process; NULL: of all. */
static void end_tasks(struct costs *costs, const struct process *process)
{
	struct tasks_thread *at = costs->tasks.threads, *next;

	for (; at; at = next) {
		struct task *task = (struct task *)at;

		next = at->next;
		if (process && at->process != &process->in)
			continue;
		tasks_remove_thread(&costs->tasks, at);
		stacks_free(task->stacks);
		free(task);
	}
}

/* Another program is a thread of its own in the profile. */
static void execute(struct costs *costs, struct process *process)
{
	end_tasks(costs, process);
	if (costs->exact->threads[process->thread]->insn_count)
		process->thread =
			exact_add_thread(costs->exact, process->in.pid, process->in.pid, "");
	targets_clear(process->targets);
	code_exec(costs->code, process->in.pid);
}

static void take_comm(struct costs *costs, const struct link_comm *link)
{
	struct process *process = get_process(costs, link->pid);
	char **comm;

	if (link->exec)
		execute(costs, process);
	if (link->tid != link->pid)
		return;
	comm = &costs->exact->threads[process->thread]->comm;
	free(*comm);
	*comm = tool_copy(link->comm);
}

static void take_task(struct costs *costs, const struct link_task *link)
{
	if (!link->ended && link->pid != link->ppid)
		code_fork(costs->code, link->pid, link->ppid);
	else if (!link->ended)
		costs->threads++;
}

size_t costs_threads(const struct costs *costs)
{
	return costs->threads;
}

/* --- mappings --------------------------------------------------------------------------------- */

static void take_mmap(struct costs *costs, const struct link_mmap *map)
{
	struct process *process = get_process(costs, map->pid);

	if (code_map(costs->code, map)) {
		targets_clear(process->targets);
		for (struct tasks_thread *at = costs->tasks.threads; at; at = at->next) {
			if (at->process == &process->in)
				stacks_forget(((struct task *)at)->stacks);
		}
	}
	code_enter(costs->code, map->pid);
	if (!code_is_memory(costs->code, map->start))
		starts_note_all(costs->code, map, costs->link);
}

/* --- costs ------------------------------------------------------------------------------------ */

static void take_insns(struct costs *costs, const struct link_costs *link)
{
	struct process *process = get_process(costs, link->pid);
	struct exact *exact = costs->exact;
	size_t count = (link->header.bytes - sizeof(*link)) / sizeof(link->insn[0]);

	code_enter(costs->code, link->pid);
	for (size_t i = 0; i < count; i++) {
		const struct link_insn_cost *from = &link->insn[i];
		struct exact_insn *insn = exact_insn(exact->threads[process->thread],
						     targets_place(process->targets, from->pc));

		insn->times += from->times;
		for (size_t e = 0; e < exact->event_count; e++)
			insn->cost[e] += from->cost[costs->which[e]];
	}
}

static void advance(const struct costs *costs, struct task *task, const uint64_t *cost)
{
	uint64_t *clock = stacks_clock(task->stacks);

	for (size_t e = 0; e < costs->exact->event_count; e++)
		clock[e] += cost[costs->which[e]] - task->cost[costs->which[e]];
	memcpy(task->cost, cost, sizeof(task->cost));
}

static void take_call(const struct costs *costs, struct task *task, const struct link_call *call)
{
	if (!task->begun && call->kind != LINK_CALL_END) {
		stacks_begin(task->stacks, call->from, call->pointer, false);
		task->begun = true;
	}
	advance(costs, task, call->cost);
	switch (call->kind) {
	case LINK_CALL:
		stacks_call(task->stacks, call->from, call->to, call->pointer);
		break;
	case LINK_CALL_RETURN:
		stacks_return(task->stacks, call->from, call->to, call->pointer);
		break;
	case LINK_CALL_JUMP:
		stacks_jump(task->stacks, call->from, call->to, call->pointer);
		break;
	default:
		break;
	}
}

static void take_calls(struct costs *costs, const struct link_calls *link)
{
	struct task *task = get_task(costs, link->pid, link->tid);
	size_t count = (link->header.bytes - sizeof(*link)) / sizeof(link->call[0]);

	code_enter(costs->code, link->pid);
	for (size_t i = 0; i < count; i++)
		take_call(costs, task, &link->call[i]);
}

/* --- dumps ------------------------------------------------------------------------------------ */

/* Begins all threads anew.  The calls in progress go on. */
static void begin_again(struct costs *costs)
{
	for (struct tasks_process *at = costs->tasks.processes; at; at = at->next) {
		struct process *process = (struct process *)at;

		process->thread = exact_add_thread(costs->exact, at->pid, at->pid,
						   costs->exact->threads[process->thread]->comm);
	}
	for (struct tasks_thread *at = costs->tasks.threads; at; at = at->next) {
		struct task *task = (struct task *)at;
		const struct process *process = (struct process *)at->process;
		struct stacks_copy *calls = stacks_copy(task->stacks);

		stacks_free(task->stacks);
		task->stacks = stacks_fork(calls, process->targets, costs->exact, process->thread);
		free(calls);
	}
}

/* Takes all threads out of the profile, and makes a profile of them. */
static struct exact *take_threads(struct exact *exact, size_t count)
{
	struct exact *part = exact_new();

	part->command = tool_copy(exact->command);
	part->model = tool_copy(exact->model);
	part->event_count = exact->event_count;
	for (size_t e = 0; e < exact->event_count; e++)
		part->events[e].name = tool_copy(exact->events[e].name);
	for (size_t i = 0; i < exact->object_count; i++)
		exact_object(part, exact->objects[i].path);
	for (size_t i = 0; i < count; i++) {
		part->threads = tool_room(part->threads, &part->thread_room, part->thread_count,
					  sizeof(struct exact_thread *));
		part->threads[part->thread_count++] = exact->threads[i];
	}
	exact->thread_count -= count;
	memmove(exact->threads, exact->threads + count,
		exact->thread_count * sizeof(struct exact_thread *));
	return part;
}

static void take_dump(struct costs *costs, const struct link_dump *link)
{
	size_t count = costs->exact->thread_count;
	struct exact *part;

	code_enter(costs->code, link->pid);
	begin_again(costs);
	part = take_threads(costs->exact, count);
	for (struct tasks_process *at = costs->tasks.processes; at; at = at->next)
		((struct process *)at)->thread -= count;
	costs->dump(costs->opaque, part, link->zero);
}

void costs_take(void *opaque, const struct link_record *link, uint64_t time_ns, const void *trace)
{
	struct costs *costs = opaque;

	(void)time_ns;
	(void)trace;
	if (!link)
		return;
	switch (link->type) {
	case LINK_REC_MMAP:
		take_mmap(costs, (const struct link_mmap *)link);
		break;
	case LINK_REC_COMM:
		take_comm(costs, (const struct link_comm *)link);
		break;
	case LINK_REC_TASK:
		take_task(costs, (const struct link_task *)link);
		break;
	case LINK_REC_COSTS:
		take_insns(costs, (const struct link_costs *)link);
		break;
	case LINK_REC_CALLS:
		take_calls(costs, (const struct link_calls *)link);
		break;
	case LINK_REC_DUMP:
		take_dump(costs, (const struct link_dump *)link);
		break;
	default:
		break;
	}
}

void costs_free(struct costs *costs)
{
	end_tasks(costs, NULL);
	while (costs->tasks.processes) {
		struct process *process = (struct process *)costs->tasks.processes;

		tasks_remove_process(&costs->tasks, &process->in);
		targets_free(process->targets);
		free(process);
	}
	code_free(costs->code);
	free(costs);
}
