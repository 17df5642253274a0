/* SPDX-License-Identifier: MIT */
/*
 * opened_software.c: software events, as far as a task can know them of itself.
 *
 * The kernel counts software events if it lets the program.  A container, or a strict
 * perf_event_paranoid, does not.  The engine's own page faults are among those that are counted.
 */
#include "engine/count/opened_software.h"

#include <asm/unistd.h>
#include <linux/perf_event.h>
#include <linux/resource.h>

#include "engine/rt/sys.h"

uint64_t opened_software(uint32_t config, uint64_t now)
{
	struct rusage usage = {0};

	if (config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK)
		return now;
	syscall2(__NR_getrusage, RUSAGE_THREAD, (long)&usage);
	switch (config) {
	case PERF_COUNT_SW_PAGE_FAULTS:
		return (uint64_t)(usage.ru_minflt + usage.ru_majflt);
	case PERF_COUNT_SW_PAGE_FAULTS_MIN:
		return (uint64_t)usage.ru_minflt;
	case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
		return (uint64_t)usage.ru_majflt;
	case PERF_COUNT_SW_CONTEXT_SWITCHES:
		return (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
	default:
		return 0; /* the event that never happens */
	}
}
