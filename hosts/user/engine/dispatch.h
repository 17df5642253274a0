/* SPDX-License-Identifier: MIT */
/* dispatch.h: syscall user dispatch (dispatch.c). */
#ifndef SOFTPMU_ENGINE_DISPATCH_H
#define SOFTPMU_ENGINE_DISPATCH_H

#include <stdbool.h>

struct syscall_arguments;

/* The program's prctl(2) of it. */
long dispatch_set(const struct syscall_arguments *c);
/* The system call, current->pc being behind it, raises SIGSYS in place of being made. */
bool dispatch_takes(long nr);

#endif
