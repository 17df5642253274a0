/* SPDX-License-Identifier: MIT */
/*
 * perf_ring.c: writes to a ring, and decides when its reader is woken (perf_event_open(2), "MMAP
 * layout" and "wakeup_events").
 */
#include "perf_ring.h"

#include <string.h>

#include "perf_record.h"

void perf_ring_begin(struct perf_ring *ring, const struct perf_event_attr *attr, uint64_t bytes,
		     bool writable)
{
	uint64_t watermark = attr->watermark ? attr->wakeup_watermark : 0;

	*ring = (struct perf_ring){
		.bytes = bytes,
		.watermark = watermark && watermark < bytes ? watermark : bytes / 2,
		.overwrite = !writable,
		.backward = attr->write_backward,
	};
	if (watermark >= bytes && watermark)
		ring->watermark = bytes;
}

bool perf_ring_has_room(const struct perf_ring *ring, uint64_t tail, uint64_t bytes)
{
	uint64_t free = ring->backward ? ring->head - (tail + 1) : tail - (ring->head + 1);

	return ring->overwrite || (free & (ring->bytes - 1)) >= bytes;
}

/* A ring that is overwritten takes records that are larger than the ring, too. */
static void put(const struct perf_ring *ring, uint8_t *data, uint64_t at, const void *from,
		size_t bytes)
{
	const uint8_t *next = from;

	while (bytes) {
		size_t offset = at & (ring->bytes - 1);
		size_t part = ring->bytes - offset < bytes ? ring->bytes - offset : bytes;

		memcpy(data + offset, next, part);
		at += part;
		next += part;
		bytes -= part;
	}
}

/* Takes room for so many bytes.  Returns where they are. */
static uint64_t advance(struct perf_ring *ring, uint64_t bytes)
{
	uint64_t at = ring->backward ? ring->head - bytes : ring->head, written;

	ring->head = ring->backward ? at : at + bytes;
	written = ring->backward ? -ring->head : ring->head;
	if ((int64_t)(written - ring->wakeup - ring->watermark) > 0)
		ring->wakeup += ring->watermark;
	return at;
}

/* A sample also counts for attr.wakeup_events. */
static void count_sample(struct perf_ring *ring, const struct perf_event_attr *attr,
			 const void *record)
{
	if (((const struct perf_event_header *)record)->type != PERF_RECORD_SAMPLE ||
	    attr->watermark || !attr->wakeup_events)
		return;
	if (++ring->samples < attr->wakeup_events)
		return;
	ring->samples -= attr->wakeup_events;
	ring->wakeup++;
}

bool perf_ring_write(struct perf_ring *ring, struct perf_ring_memory memory,
		     const struct perf_event_attr *attr, const struct perf_sample_id *of,
		     const void *record, size_t bytes, bool *wakes)
{
	uint64_t lost[PERF_RING_LOST_BYTES / sizeof(uint64_t)], before = ring->wakeup, at;
	size_t more = 0;

	*wakes = false;
	if (!ring->bytes)
		return false;
	if (ring->lost)
		more = perf_record_lost(lost, attr, of, ring->lost);
	if (ring->paused ||
	    !perf_ring_has_room(ring, __atomic_load_n(&memory.page->data_tail, __ATOMIC_ACQUIRE),
				more + bytes)) {
		ring->lost++;
		return false;
	}
	at = advance(ring, more + bytes);
	put(ring, memory.data, at, lost, more);
	put(ring, memory.data, at + more, record, bytes);
	if (more)
		ring->lost = 0;
	count_sample(ring, attr, record);
	__atomic_store_n(&memory.page->data_head, ring->head, __ATOMIC_RELEASE);
	*wakes = ring->wakeup != before;
	return true;
}
