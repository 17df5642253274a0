/* SPDX-License-Identifier: MIT */
/*
 * perf_read.c: the layouts of read_format (perf_event_open(2), "Reading results").
 */
#include <linux/perf_event.h>

#include "perf_read.h"

/* The fields of each event. */
static unsigned fields(uint64_t format)
{
	return 1u + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
}

static unsigned times(uint64_t format)
{
	return 0u + !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
	       !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
}

size_t perf_read_bytes(uint64_t format, unsigned siblings)
{
	unsigned words = fields(format) + times(format);

	if (format & PERF_FORMAT_GROUP)
		words += 1 + siblings * fields(format);
	return words * sizeof(uint64_t);
}

static uint64_t *write_times(uint64_t *to, uint64_t format, uint64_t enabled_ns,
			     uint64_t running_ns)
{
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		*to++ = enabled_ns;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		*to++ = running_ns;
	return to;
}

static uint64_t *write_marks(uint64_t *to, uint64_t format, const struct perf_value *value)
{
	if (format & PERF_FORMAT_ID)
		*to++ = value->id;
	if (format & PERF_FORMAT_LOST)
		*to++ = value->lost;
	return to;
}

void perf_read_write(uint64_t *to, uint64_t format, uint64_t enabled_ns, uint64_t running_ns,
		     const struct perf_value *value, unsigned values)
{
	if (!(format & PERF_FORMAT_GROUP)) {
		*to++ = value->count;
		to = write_times(to, format, enabled_ns, running_ns);
		write_marks(to, format, value);
		return;
	}
	*to++ = values;
	to = write_times(to, format, enabled_ns, running_ns);
	for (unsigned i = 0; i < values; i++) {
		*to++ = value[i].count;
		to = write_marks(to, format, &value[i]);
	}
}
