/* SPDX-License-Identifier: MIT */
/* perf_counting.h: events that count, and lines about them, for programs under test. */
#ifndef SOFTPMU_TESTS_PERF_COUNTING_H
#define SOFTPMU_TESTS_PERF_COUNTING_H

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perf_section.h"

static inline struct perf_event_attr attr_of(uint64_t config)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

static inline int open_event(struct perf_event_attr *attr, pid_t pid, int group,
			     unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, -1, group, flags);
}

static inline int instructions(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);

	return open_event(&attr, 0, -1, 0);
}

static inline uint64_t count(int fd)
{
	uint64_t value = 0;

	return read(fd, &value, sizeof(value)) == sizeof(value) ? value : UINT64_MAX;
}

static inline void say(const char *name, uint64_t value)
{
	printf("%s: %lld\n", name, (long long)value);
}

static inline void say_error(const char *name, long result)
{
	printf("%s: %s\n", name, result < 0 ? strerrorname_np(errno) : "done");
}

static inline void spin(uint64_t turns)
{
	__asm__ volatile("1:\tdecq %0\n\tjnz 1b" : "+r"(turns) : : "cc");
}

struct perf_case {
	const char *name;
	void (*run)(void);
};

/* Runs the case that has this name. */
static inline void run_case(const struct perf_case *cases, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name, cases[i].name))
			cases[i].run();
}

#endif
