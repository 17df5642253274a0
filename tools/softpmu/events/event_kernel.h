/* SPDX-License-Identifier: MIT */
/*
 * event_kernel.h: perf's software events that the kernel tells of a program that has ended
 * (wait4(2)).  They are measured, not counted by the unit, and so are other in each run.
 */
#ifndef SOFTPMU_EVENT_KERNEL_H
#define SOFTPMU_EVENT_KERNEL_H

enum event_kernel {
	EVENT_KERNEL_NONE,
	EVENT_KERNEL_TASK_CLOCK, /* ns on a processor */
	EVENT_KERNEL_FAULTS,
	EVENT_KERNEL_MINOR_FAULTS,
	EVENT_KERNEL_MAJOR_FAULTS,
	EVENT_KERNEL_SWITCHES,
	EVENT_KERNEL_MIGRATIONS, /* absent: wait4() does not tell them */
	EVENT_KERNEL_DURATION,	 /* ns from start to end */
	EVENT_KERNEL_USER,	 /* ns */
	EVENT_KERNEL_SYSTEM	 /* ns */
};

/* Returns the event of that name, which has no modifiers, or EVENT_KERNEL_NONE. */
enum event_kernel event_kernel_find(const char *name);

/* Returns the unit of the number that perf prints, "msec", "ns" or "". */
const char *event_kernel_unit(enum event_kernel event);

#endif
