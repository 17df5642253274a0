/* SPDX-License-Identifier: MIT */
/* tasks.c: the processes of a run and their threads, as lists. */
#include "tools/softpmu/base/tasks.h"

#include <stddef.h>

struct tasks_process *tasks_find_process(const struct tasks *tasks, uint32_t pid)
{
	struct tasks_process *process = tasks->processes;

	while (process && process->pid != pid)
		process = process->next;
	return process;
}

struct tasks_thread *tasks_find_thread(struct tasks *tasks, uint32_t pid, uint32_t tid)
{
	struct tasks_thread **link = &tasks->threads, *thread;

	while ((thread = *link) && (thread->tid != tid || thread->process->pid != pid))
		link = &thread->next;
	if (!thread)
		return NULL;
	*link = thread->next;
	thread->next = tasks->threads;
	tasks->threads = thread;
	return thread;
}

void tasks_add_process(struct tasks *tasks, struct tasks_process *process, uint32_t pid)
{
	process->pid = pid;
	process->threads = 0;
	process->next = tasks->processes;
	tasks->processes = process;
}

void tasks_add_thread(struct tasks *tasks, struct tasks_thread *thread,
		      struct tasks_process *process, uint32_t tid)
{
	thread->tid = tid;
	thread->process = process;
	process->threads++;
	thread->next = tasks->threads;
	tasks->threads = thread;
}

void tasks_remove_process(struct tasks *tasks, const struct tasks_process *process)
{
	struct tasks_process **link = &tasks->processes;

	while (*link != process)
		link = &(*link)->next;
	*link = process->next;
}

void tasks_remove_thread(struct tasks *tasks, const struct tasks_thread *thread)
{
	struct tasks_thread **link = &tasks->threads;

	while (*link != thread)
		link = &(*link)->next;
	*link = thread->next;
	thread->process->threads--;
}
