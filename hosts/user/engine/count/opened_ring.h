/* SPDX-License-Identifier: MIT */
/* opened_ring.h: the rings of opened events, which processes of the run share (opened_ring.c). */
#ifndef SOFTPMU_ENGINE_OPENED_RING_H
#define SOFTPMU_ENGINE_OPENED_RING_H

#include <hosts/user/perf_event/perf_sample.h>

#include "engine/count/opened.h"

/* Opens the file of the run's memory.  start.c sets it. */
extern long (*opened_ring_file)(void);

/* Returns a ring of so many bytes with its first page, which nobody uses; -1: there is none.  The
 * lock of the table is held. */
int opened_ring_find(uint64_t bytes);

/* Returns the first page of a ring in this process, before the data; NULL: it cannot be mapped. */
struct perf_event_mmap_page *opened_ring_map(unsigned ring);

/* Writes a record of the running task's event to its ring, and wakes the reader. */
void opened_ring_write(const struct opened_event *e, const struct perf_sample_id *of,
		       const void *record, size_t bytes);
/* Returns true if the event has a ring. */
bool opened_ring_has(const struct opened_event *e);

/* Returns the processor on which the task is. */
uint32_t opened_ring_processor(void);

/* Returns whose record it is, and when. */
struct perf_sample_id opened_ring_id(const struct opened_event *e);

#endif
