/* SPDX-License-Identifier: MIT */
/* perf_rings.h: rings of opened events, as programs map and connect them (perf_rings.c). */
#ifndef SOFTPMU_ENGINE_PERF_RINGS_H
#define SOFTPMU_ENGINE_PERF_RINGS_H

#include "engine/rt/call.h"

#include <stdbool.h>
#include <stdint.h>

/* mmap(2).  Returns false if the descriptor is no event's. */
bool perf_rings_map(struct syscall_arguments *c, long *result);

/* PERF_EVENT_IOC_SET_OUTPUT and PERF_EVENT_IOC_PAUSE_OUTPUT. */
long perf_rings_set_output(unsigned place, uint64_t fd);
long perf_rings_pause(unsigned place, bool pause);

#endif
