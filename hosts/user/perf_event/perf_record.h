/* SPDX-License-Identifier: MIT */
/*
 * perf_record.h: records of mappings, names, tasks, counts and losses (perf_record.c).
 *
 * Each function writes the record, with sample_id if the event asks for it, and returns its size;
 * `to` has room for PERF_RECORD_MOST bytes.
 */
#ifndef SOFTPMU_PERF_RECORD_H
#define SOFTPMU_PERF_RECORD_H

#include "perf_sample.h"

#define PERF_RECORD_PATH_MOST 4096u
#define PERF_RECORD_MOST      (PERF_RECORD_PATH_MOST + 256u)

struct perf_record_mapping {
	uint64_t start, bytes, offset;
	uint32_t device_major, device_minor;
	uint64_t inode;
	uint32_t protection, flags; /* as in mmap(2) */
	const char *path;
};

struct perf_record_task {
	uint32_t pid, ppid, tid, ptid;
};

/* Returns whether the event wants a record of a mapping with or without code, or of a task. */
bool perf_record_wants_mapping(const struct perf_event_attr *attr, bool executable);
bool perf_record_wants_task(const struct perf_event_attr *attr);

/* MMAP2 if the event wants that, otherwise MMAP. */
size_t perf_record_mmap(void *to, const struct perf_event_attr *attr,
			const struct perf_sample_id *of, const struct perf_record_mapping *mapping);
size_t perf_record_comm(void *to, const struct perf_event_attr *attr,
			const struct perf_sample_id *of, const char *name, bool exec);
/* FORK, or EXIT. */
size_t perf_record_task(void *to, const struct perf_event_attr *attr,
			const struct perf_sample_id *of, const struct perf_record_task *task,
			bool ended);
size_t perf_record_lost(void *to, const struct perf_event_attr *attr,
			const struct perf_sample_id *of, uint64_t lost);
/* `read` is as read(2) gives it. */
size_t perf_record_read(void *to, const struct perf_event_attr *attr,
			const struct perf_sample_id *of, const uint64_t *read, size_t words);

#endif
