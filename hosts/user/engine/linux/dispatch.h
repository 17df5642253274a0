/* SPDX-License-Identifier: MIT */
/* dispatch.h: syscall user dispatch (dispatch.c). */
#ifndef SOFTPMU_ENGINE_DISPATCH_H
#define SOFTPMU_ENGINE_DISPATCH_H

#include "engine/rt/call.h"

#include <stdbool.h>

/* Executes the program's prctl(2) for it. */
long dispatch_set(const struct syscall_arguments *c);
/* Returns true if the system call raises SIGSYS instead of being made.  current->pc is after the
 * call. */
bool dispatch_takes(long nr);

#endif
