/* SPDX-License-Identifier: MIT */
/* filters.h: filters of system calls that the program installs (filters.c). */
#ifndef SOFTPMU_ENGINE_FILTERS_H
#define SOFTPMU_ENGINE_FILTERS_H

#include "engine.h"

/* prctl(2) or seccomp(2) that installs a filter: it is done.  False: it is another. */
bool filters_take(const struct syscall_arguments *c, long *result);
/* In the strict mode the thread ends by such a call. */
bool filters_forbid(long nr);
/* What the trap of a filter stands for. */
enum fatal filters_fatal(const siginfo_t *info);
/* Before execve(2) or execveat(2): what filters make of it; -EFAULT: they let it through. */
long filters_ask_exec(long nr);

/* Whether the process, or one that it comes from, has installed a filter; the image that executed
 * this one says so. */
bool filters_installed(void);
void filters_were_installed(void);
/* Asks the filters about exit(2) or exit_group(2).  False: the call itself comes back. */
bool filters_allow_exit(const struct syscall_arguments *c);

#endif
