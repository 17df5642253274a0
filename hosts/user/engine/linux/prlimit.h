/* SPDX-License-Identifier: MIT */
/* prlimit.h: system calls on limits (prlimit.c). */
#ifndef SOFTPMU_ENGINE_PRLIMIT_H
#define SOFTPMU_ENGINE_PRLIMIT_H

#include "engine/rt/call.h"

/* Executes prlimit64(2), getrlimit(2) or setrlimit(2). */
long prlimit_call(const struct syscall_arguments *c);

#endif
