/* SPDX-License-Identifier: MIT */
/* perf_calls.h: system calls on descriptors of events that programs have opened (perf_calls.c). */
#ifndef SOFTPMU_ENGINE_PERF_CALLS_H
#define SOFTPMU_ENGINE_PERF_CALLS_H

#include "engine/rt/call.h"

#include <stdbool.h>

/* Each returns false if the call is not on an event. */
/* read(2), readv(2), and preadv2(2) that is the same. */
bool perf_calls_read(const struct syscall_arguments *c, long *result);
bool perf_calls_write(const struct syscall_arguments *c, long *result);
bool perf_calls_ioctl(const struct syscall_arguments *c, long *result);
bool perf_calls_close(const struct syscall_arguments *c, long *result);
/* After fcntl(2) with F_SETFL. */
void perf_calls_flags(const struct syscall_arguments *c, long result);

#endif
