/* SPDX-License-Identifier: MIT */
/* event_kernel.c: the names and units of perf's software events. */
#include "tools/softpmu/events/event_kernel.h"

#include <string.h>

static const struct {
	const char *name;
	enum event_kernel event;
	const char *unit;
} events[] = {
	{"task-clock", EVENT_KERNEL_TASK_CLOCK, "msec"},
	{"cpu-clock", EVENT_KERNEL_TASK_CLOCK, "msec"},
	{"page-faults", EVENT_KERNEL_FAULTS, ""},
	{"faults", EVENT_KERNEL_FAULTS, ""},
	{"minor-faults", EVENT_KERNEL_MINOR_FAULTS, ""},
	{"major-faults", EVENT_KERNEL_MAJOR_FAULTS, ""},
	{"context-switches", EVENT_KERNEL_SWITCHES, ""},
	{"cs", EVENT_KERNEL_SWITCHES, ""},
	{"cpu-migrations", EVENT_KERNEL_MIGRATIONS, ""},
	{"migrations", EVENT_KERNEL_MIGRATIONS, ""},
	{"duration_time", EVENT_KERNEL_DURATION, "ns"},
	{"user_time", EVENT_KERNEL_USER, "ns"},
	{"system_time", EVENT_KERNEL_SYSTEM, "ns"},
};

#define COUNT (sizeof(events) / sizeof(events[0]))

enum event_kernel event_kernel_find(const char *name)
{
	for (size_t i = 0; i < COUNT; i++) {
		if (!strcmp(events[i].name, name))
			return events[i].event;
	}
	return EVENT_KERNEL_NONE;
}

const char *event_kernel_unit(enum event_kernel event)
{
	for (size_t i = 0; i < COUNT; i++) {
		if (events[i].event == event)
			return events[i].unit;
	}
	return "";
}
