/* SPDX-License-Identifier: MIT */
/* tracing.h: ptrace(2) of tasks in the same memory (tracing.c). */
#ifndef SOFTPMU_ENGINE_TRACING_H
#define SOFTPMU_ENGINE_TRACING_H

#include "engine/rt/call.h"

long tracing_run(const struct syscall_arguments *c);

#endif
