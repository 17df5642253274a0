/* SPDX-License-Identifier: MIT */
/*
 * opened_ring.c: the rings of opened events, which processes of the run share.
 *
 * They are in the file of the run's memory, after what all processes map.  A process maps a ring
 * when it has a record for it.  A ring keeps its place in the file, so a mapping is right for ever.
 * Tasks take turns at writing to a ring.
 */
#include "engine/count/opened_ring.h"

#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/time.h>

#include "engine/count/opened_table.h"
#include "engine/count/opened_task.h"
#include "engine/count/opened_wake.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define USER_CPU_SEGMENT 0x7b /* its limit tells the processor, by which libraries find it */
#define CPU_MASK	 0xfffu
#define WAIT_NS		 100000
#define WAITS		 1000 /* 0.1 s */

long (*opened_ring_file)(void);

static struct perf_event_mmap_page *mapped[LINK_RINGS_MAX];

/* --- places --- */

int opened_ring_find(uint64_t bytes)
{
	struct link *l = engine_link;
	uint32_t n = 0;

	while (n < l->rings && (l->open_ring[n].users || l->open_ring[n].bytes != bytes))
		n++;
	if (n < l->rings)
		return (int)n;
	if (n == LINK_RINGS_MAX || bytes > l->rings_begin + LINK_RINGS_BYTES - l->rings_end)
		return -1;
	l->open_ring[n] = (struct link_ring){.offset = l->rings_end, .bytes = bytes};
	l->rings_end += bytes;
	l->rings++;
	return (int)n;
}

struct perf_event_mmap_page *opened_ring_map(unsigned ring)
{
	const struct link_ring *r = &engine_link->open_ring[ring];
	uint64_t place;
	long file, at;

	if (mapped[ring])
		return mapped[ring];
	file = opened_ring_file();
	if (is_error(file))
		return NULL;
	place = heap_place(r->bytes);
	at = sys_map(place, r->bytes, PROT_READ | PROT_WRITE,
		     MAP_SHARED | heap_place_flags(place, r->bytes), (int)file, r->offset);
	syscall1(__NR_close, file);
	if (is_error(at))
		return NULL;
	mapped[ring] = (struct perf_event_mmap_page *)at;
	return mapped[ring];
}

/* --- records --- */

uint32_t opened_ring_processor(void)
{
	uint32_t limit = 0;

	__asm__("lsl %1, %0" : "+r"(limit) : "r"(USER_CPU_SEGMENT) : "cc");
	return limit & CPU_MASK;
}

struct perf_sample_id opened_ring_id(const struct opened_event *e)
{
	const struct link_open *event = opened_task_event(e);

	return (struct perf_sample_id){
		.pid = current->pid,
		.tid = current->tid,
		.cpu = event->cpu < 0 ? opened_ring_processor() : (uint32_t)event->cpu,
		.time_ns = sys_clock_ns(event->attr.use_clockid ? event->attr.clockid
								: CLOCK_MONOTONIC),
		.id = e->serial,
		.stream_id = opened_task_stream(e),
	};
}

bool opened_ring_has(const struct opened_event *e)
{
	return opened_task_event(e)->ring;
}

/* Writes the record in the task's turn.  Returns false if it is lost. */
static bool write(struct link_ring *r, const struct perf_ring_memory memory,
		  const struct perf_event_attr *attr, const struct perf_sample_id *of,
		  const void *record, size_t bytes, bool *wakes)
{
	bool written;

	opened_take_turn(&r->lock);
	written = perf_ring_write(&r->ring, memory, attr, of, record, bytes, wakes);
	opened_end_turn(&r->lock);
	return written;
}

/*
 * Waits until a full ring has room, if its reader is another process that goes on to read.  A
 * program is faster here than a reader can expect, because nothing limits the rate of samples.
 */
static void wait_for_reader(const struct opened_event *e, struct link_ring *r,
			    const struct perf_event_mmap_page *page, size_t bytes)
{
	const long pause[2] = {0, WAIT_NS};
	uint64_t tail = __atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE);

	if (perf_ring_has_room(&r->ring, tail, bytes) || r->ring.paused ||
	    r->reader == current->process || r->stalled == tail + 1)
		return;
	opened_wake_readers(e->place);
	for (unsigned i = 0; i < WAITS; i++) {
		tail = __atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE);
		if (perf_ring_has_room(&r->ring, tail, bytes))
			return;
		syscall2(__NR_nanosleep, (long)pause, 0);
	}
	r->stalled = tail + 1;
}

void opened_ring_write(const struct opened_event *e, const struct perf_sample_id *of,
		       const void *record, size_t bytes)
{
	struct link_open *event = opened_task_event(e);
	struct perf_ring_memory memory;
	struct link_ring *r;
	unsigned ring = event->ring;
	bool wakes = false;

	if (!ring-- || !bytes || event->serial != e->serial)
		return;
	r = &engine_link->open_ring[ring];
	opened_take_turn(&r->lock);
	memory.page = opened_ring_map(ring);
	opened_end_turn(&r->lock);
	if (!memory.page || !r->ring.bytes)
		return;
	memory.data = (uint8_t *)memory.page + PAGE;
	wait_for_reader(e, r, memory.page, bytes + PERF_RING_LOST_BYTES);
	if (!write(r, memory, &event->attr, of, record, bytes, &wakes))
		__atomic_add_fetch(&event->lost, 1, __ATOMIC_RELAXED);
	if (wakes)
		opened_wake_readers(e->place);
}
