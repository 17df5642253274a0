/* SPDX-License-Identifier: MIT */
/* perf_read.h: what read(2) of an event's descriptor returns (perf_read.c). */
#ifndef SOFTPMU_PERF_READ_H
#define SOFTPMU_PERF_READ_H

#include <stddef.h>
#include <stdint.h>

struct perf_value {
	uint64_t count, id, lost;
};

/* Returns the size of what is read of an event with this read_format, whose group has `siblings`
 * siblings. */
size_t perf_read_bytes(uint64_t format, unsigned siblings);

/*
 * Writes perf_read_bytes() bytes.  `value` are the group's leader and its siblings in the order of
 * their creation, if the format has PERF_FORMAT_GROUP, otherwise the event alone.
 */
void perf_read_write(uint64_t *to, uint64_t format, uint64_t enabled_ns, uint64_t running_ns,
		     const struct perf_value *value, unsigned values);

#endif
