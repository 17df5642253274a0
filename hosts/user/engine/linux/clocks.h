/* SPDX-License-Identifier: MIT */
/* clocks.h: clocks that are the same in each run (clocks.c). */
#ifndef SOFTPMU_ENGINE_CLOCKS_H
#define SOFTPMU_ENGINE_CLOCKS_H

#include "engine/rt/call.h"
#include <stdbool.h>

/* The deadline of a system call that may wait, and its result when that time is over. */
struct clocks_wait {
	uint64_t until; /* 0: no such call */
	long result;
};
struct clocks_wait clocks_wait_of(const struct syscall_arguments *c);
/* Advances the clocks after a system call: the time that it reports, and the time that it took.
 * Returns its result. */
long clocks_after(const struct syscall_arguments *c, struct clocks_wait wait, long result);
/* Sets the registers after RDTSC or RDTSCP to the clocks' time. */
void clocks_tsc(bool with_processor);
/* Resets the clocks in a new process, which counts from 0. */
void clocks_begin_again(void);

#endif
