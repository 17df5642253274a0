/* SPDX-License-Identifier: MIT */
/* forks.c: the calls in progress when a thread forks. */
#include "tools/softpmu/flow/forks.h"

#include <stdlib.h>

#include "tools/softpmu/base/tool.h"

struct fork {
	struct fork *next;
	uint32_t pid, tid, number;
	struct stacks_copy *calls;
};

void forks_add(struct fork **list, const struct link_task *link, struct stacks_copy *calls)
{
	struct fork *fork = tool_alloc(sizeof(*fork));

	*fork = (struct fork){*list, link->pid, link->tid, link->fork, calls};
	*list = fork;
}

struct stacks_copy *forks_take(struct fork **list, uint32_t pid, uint32_t tid, uint32_t number)
{
	for (struct fork **at = list; *at; at = &(*at)->next) {
		struct fork *fork = *at;
		struct stacks_copy *calls = fork->calls;

		if (fork->pid != pid || fork->tid != tid || fork->number != number)
			continue;
		*at = fork->next;
		free(fork);
		return calls;
	}
	return NULL;
}

void forks_free(struct fork **list)
{
	while (*list) {
		struct fork *next = (*list)->next;

		free((*list)->calls);
		free(*list);
		*list = next;
	}
}
