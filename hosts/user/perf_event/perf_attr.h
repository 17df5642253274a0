/* SPDX-License-Identifier: MIT */
/*
 * perf_attr.h: what a program asks of an event: struct perf_event_attr, checked as the kernel
 * checks it (perf_attr.c).
 *
 * The errors are the kernel's, as negative numbers.
 */
#ifndef SOFTPMU_PERF_ATTR_H
#define SOFTPMU_PERF_ATTR_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* The kernel's limits of /proc/sys/kernel, as they are at its start. */
#define PERF_ATTR_MAX_RATE  100000u /* perf_event_max_sample_rate */
#define PERF_ATTR_MAX_STACK 127u    /* perf_event_max_stack */

/*
 * Returns how many bytes a structure has whose `size` field says this, or -E2BIG.  The caller then
 * writes sizeof(struct perf_event_attr) to that field, as the kernel does.
 */
long perf_attr_bytes(uint32_t size);

/*
 * Copies a structure of `bytes` bytes, the number that perf_attr_bytes() has returned.  The fields
 * that a shorter structure does not have are 0.  -E2BIG: a field is set that is not known here; the
 * caller does as above.
 */
long perf_attr_take(struct perf_event_attr *to, const void *from, uint32_t bytes);

/*
 * Checks what does not depend on the processor.  Returns 0 or an error, and makes *attr what the
 * kernel makes of it.  The run has the rights of a user at perf_event_paranoid 2: an event that
 * would count the kernel is refused with -EACCES.
 */
long perf_attr_check(struct perf_event_attr *attr);

/* Checks the arguments of perf_event_open(2) after these. */
long perf_attr_check_call(int32_t pid, int32_t cpu, uint64_t flags);

/* Returns true if the event makes samples. */
static inline bool perf_attr_samples(const struct perf_event_attr *attr)
{
	return attr->sample_period != 0; /* the same field as sample_freq */
}

#endif
