/* SPDX-License-Identifier: MIT */
/* perf_poll.h: waiting for opened events (perf_poll.c). */
#ifndef SOFTPMU_ENGINE_PERF_POLL_H
#define SOFTPMU_ENGINE_PERF_POLL_H

#include "engine/rt/call.h"

/* After poll(2) or ppoll(2), and after another call that waits for descriptors: what the program
 * has seen of opened events is over.  Return the result. */
long perf_poll_after(const struct syscall_arguments *c, long result);
long perf_poll_after_other(long result);

/* The event is no longer readable. */
void perf_poll_drain(unsigned place);

#endif
