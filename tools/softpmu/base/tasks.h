/* SPDX-License-Identifier: MIT */
/* tasks.h: the processes of a run and their threads, by number. */
#ifndef SOFTPMU_TOOL_TASKS_H
#define SOFTPMU_TOOL_TASKS_H

#include <stdint.h>

/* These come first in the structures of those who use the lists. */
struct tasks_process {
	struct tasks_process *next;
	uint32_t pid, threads;
};
struct tasks_thread {
	struct tasks_thread *next;
	struct tasks_process *process;
	uint32_t tid;
};

struct tasks {
	struct tasks_process *processes;
	struct tasks_thread *threads; /* the last one that was used comes first */
};

/* Return NULL if there is none. */
struct tasks_process *tasks_find_process(const struct tasks *tasks, uint32_t pid);
struct tasks_thread *tasks_find_thread(struct tasks *tasks, uint32_t pid, uint32_t tid);

void tasks_add_process(struct tasks *tasks, struct tasks_process *process, uint32_t pid);
/* The thread becomes the first one. */
void tasks_add_thread(struct tasks *tasks, struct tasks_thread *thread,
		      struct tasks_process *process, uint32_t tid);

/* Take out what is in the list.  The caller frees it. */
void tasks_remove_process(struct tasks *tasks, const struct tasks_process *process);
void tasks_remove_thread(struct tasks *tasks, const struct tasks_thread *thread);

#endif
