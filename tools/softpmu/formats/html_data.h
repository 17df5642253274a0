/* SPDX-License-Identifier: MIT */
/*
 * html_data.h: what a page has of a profile's samples: their sums by thread, call chain and slice
 * of time, and by source line.
 *
 * The sums are exact.  A page stays small because slices become longer until there are few enough
 * sums.  If that does not suffice, the smallest ones lose their call chain.
 */
#ifndef SOFTPMU_TOOL_HTML_DATA_H
#define SOFTPMU_TOOL_HTML_DATA_H

#include "tools/softpmu/profile/aggregation.h"

/* The call chain of sums that are too small for the page. */
#define HTML_DATA_SMALL (UINT32_MAX - 1)

/* Equal samples in a slice of time. */
struct html_data_entry {
	uint32_t event, slice, thread;
	uint32_t frame; /* of the aggregation, or HTML_DATA_SMALL */
	uint64_t samples, period;
};

struct html_data_line {
	uint32_t event, place; /* of the aggregation */
	const char *source;
	int line;
	uint64_t samples, period;
};

struct html_data {
	struct profile *profile;
	struct aggregation *aggregation;
	bool some;
	uint64_t first_ns, last_ns; /* of the samples; equal: they have no times */
	uint32_t slices;
	struct aggregation_thread *threads;
	struct html_data_entry *entries;
	struct html_data_line *lines; /* those with the most */
	size_t thread_count, thread_room, entry_count, entry_room, line_count, line_room;
	struct numbering thread_numbers, entry_numbers, line_numbers;
};

void html_data_read(struct html_data *data, struct profile *profile);
void html_data_free(struct html_data *data);

/* Returns the number of a thread of the samples, which is added if it is new. */
uint32_t html_data_thread(struct html_data *data, const struct aggregation_thread *thread);

#endif
