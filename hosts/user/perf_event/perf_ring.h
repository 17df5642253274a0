/* SPDX-License-Identifier: MIT */
/*
 * perf_ring.h: the ring that a program maps to read records, as its writer sees it (perf_ring.c).
 *
 * One writer at a time uses a ring.  The reader only has the memory: the first page and the data.
 */
#ifndef SOFTPMU_PERF_RING_H
#define SOFTPMU_PERF_RING_H

#include "perf_sample.h"

struct perf_ring {
	uint64_t bytes;	    /* of the data: a power of two; 0: only the first page is mapped */
	uint64_t head;	    /* where the next record begins; it only grows, or only falls */
	uint64_t watermark; /* the reader is woken when so many bytes are new */
	uint64_t wakeup;    /* changes when the reader is to be woken */
	uint64_t lost;	    /* records since the last that was written */
	uint32_t samples;   /* since the last wake-up by attr.wakeup_events */
	uint32_t paused;    /* PERF_EVENT_IOC_PAUSE_OUTPUT */
	uint32_t overwrite; /* the reader cannot say what it has read */
	uint32_t backward;  /* attr.write_backward */
};

/* Makes an empty ring of so many bytes of data for the event that is mapped. */
void perf_ring_begin(struct perf_ring *ring, const struct perf_event_attr *attr, uint64_t bytes,
		     bool writable);

/* The first page and the data. */
struct perf_ring_memory {
	struct perf_event_mmap_page *page;
	uint8_t *data;
};

#define PERF_RING_LOST_BYTES 72u /* the longest PERF_RECORD_LOST */

/* Returns whether so many bytes have room when the reader is at `tail`. */
bool perf_ring_has_room(const struct perf_ring *ring, uint64_t tail, uint64_t bytes);

/*
 * Appends a record of the event.  If records were lost before it, PERF_RECORD_LOST says so first,
 * by *of.  Returns false if there is no room, or the ring is paused: the record is lost.  *wakes is
 * set if the reader is to be woken.
 */
bool perf_ring_write(struct perf_ring *ring, struct perf_ring_memory memory,
		     const struct perf_event_attr *attr, const struct perf_sample_id *of,
		     const void *record, size_t bytes, bool *wakes);

#endif
