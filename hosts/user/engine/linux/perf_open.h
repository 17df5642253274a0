/* SPDX-License-Identifier: MIT */
/* perf_open.h: perf_event_open(2) (perf_open.c). */
#ifndef SOFTPMU_ENGINE_PERF_OPEN_H
#define SOFTPMU_ENGINE_PERF_OPEN_H

#include "engine/rt/call.h"

long perf_open(const struct syscall_arguments *c);

/* Forgets events that no descriptor leads to any more. */
void perf_open_collect(void);

#endif
