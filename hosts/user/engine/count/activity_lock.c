/* SPDX-License-Identifier: MIT */
/* activity_lock.c: the lock of what the threads of a process report to: models, and costs. */
#include <asm/unistd.h>

#include "engine/count/activity_parts.h"
#include "engine/rt/sys.h"

static uint32_t lock;

void activity_begin_report(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		syscall1(__NR_sched_yield, 0);
}

void activity_end_report(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}
