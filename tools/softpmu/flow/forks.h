/* SPDX-License-Identifier: MIT */
/*
 * forks.h: the calls in progress when a thread forks.
 *
 * The child says when it begins.  The parent may have gone on by then, or may have ended.  So it
 * says before that it forks, and its calls are kept until the child begins.
 */
#ifndef SOFTPMU_TOOL_FORKS_H
#define SOFTPMU_TOOL_FORKS_H

#include "hosts/user/link.h"
#include "tools/softpmu/flow/stacks.h"

struct fork;

/* Keeps the calls of the thread that forks.  The list frees them. */
void forks_add(struct fork **list, const struct link_task *link, struct stacks_copy *calls);

/* Returns what was kept for the fork of that number, which is no longer in the list.  The caller
 * frees it; NULL: there is nothing. */
struct stacks_copy *forks_take(struct fork **list, uint32_t pid, uint32_t tid, uint32_t number);

void forks_free(struct fork **list);

#endif
