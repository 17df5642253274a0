/* SPDX-License-Identifier: MIT */
/* limits.h: the limit of the program's address space (limits.c). */
#ifndef SOFTPMU_ENGINE_LIMITS_H
#define SOFTPMU_ENGINE_LIMITS_H

#include <stdbool.h>

struct syscall_arguments;

/* At the start, before the engine has mapped much. */
void limits_start(void);
/* Is there a limit that the engine must keep to as well, which leaves it little? */
bool limits_are_tight(void);
/* prlimit64(2), getrlimit(2), setrlimit(2). */
long limits_call(const struct syscall_arguments *c);

#endif
