/* SPDX-License-Identifier: MIT */
/* filters.h: filters of system calls that the program installs (filters.c). */
#ifndef SOFTPMU_ENGINE_FILTERS_H
#define SOFTPMU_ENGINE_FILTERS_H

#include "engine/rt/call.h"
#include "engine/rt/context.h"

/* Executes prctl(2) or seccomp(2) if it installs a filter.  Returns false if it is another call. */
bool filters_take(const struct syscall_arguments *c, long *result);
/* Returns whether the call ends the thread, because it is in strict mode. */
bool filters_forbid(long nr);
/* Returns the filters' answer about execve(2) or execveat(2), before the call.  -EFAULT: they
 * let it through. */
long filters_ask_exec(long nr);

struct filter;
/* Returns the newest filter of the thread; NULL: it has none. */
const struct filter *filters_installed(void);
/* Takes over the filters of the image that executed this one. */
void filters_were_installed(struct filter *newest);
/* Gives a thread or process that the running one starts in its memory the same filters. */
void filters_inherit(struct context *c);
/* Notes that the process is new, a copy. */
void filters_begin_process(void);
/* A vfork child in the context begins with the same filters.  Returns what filters_take_back()
 * needs when the child has gone. */
struct filter *filters_lend(void);
void filters_take_back(struct filter *before);

/* Asks the filters about exit(2) or exit_group(2).  Returns false if the call itself returned. */
bool filters_allow_exit(const struct syscall_arguments *c);

#endif
