/* SPDX-License-Identifier: MIT */
/* opened_software.h: software events that the kernel does not count (opened_software.c). */
#ifndef SOFTPMU_ENGINE_OPENED_SOFTWARE_H
#define SOFTPMU_ENGINE_OPENED_SOFTWARE_H

#include <stdint.h>

/* Returns how often the event (PERF_COUNT_SW_) has happened in the running task.  `now` is its
 * processor time. */
uint64_t opened_software(uint32_t config, uint64_t now);

#endif
