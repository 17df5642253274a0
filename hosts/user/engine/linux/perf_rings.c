/* SPDX-License-Identifier: MIT */
/*
 * perf_rings.c: rings of opened events, as programs map and connect them.
 *
 * The program maps a part of the file that all processes of the run share (opened_ring.c).  So all
 * of them can write to its ring.
 */
#include "engine/linux/perf_rings.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/falloc.h>
#include <linux/mman.h>
#include <linux/perf_event.h>

#include "engine/count/opened.h"
#include "engine/count/opened_page.h"
#include "engine/count/opened_ring.h"
#include "engine/count/opened_table.h"
#include "engine/linux/descriptors.h"
#include "engine/linux/mappings.h"
#include "engine/linux/perf_descriptor.h"
#include "engine/linux/perf_poll.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

static struct link_open *at(unsigned place)
{
	return &engine_link->open[place];
}

/* --- mmap --- */

/* A page, and a ring of a power of two. */
static bool is_ring(uint64_t bytes)
{
	uint64_t pages = bytes / PAGE;

	return bytes && !(bytes % PAGE) && !((pages - 1) & (pages - 2) && pages > 1);
}

/* Returns the event's ring, or a new one for it, which has one more user; or an error. */
static long take_ring(unsigned place, uint64_t bytes, bool *new)
{
	long ring;

	opened_lock();
	*new = !at(place)->ring;
	ring = *new ? opened_ring_find(bytes) : (long)at(place)->ring - 1;
	if (ring >= 0)
		engine_link->open_ring[ring].users++;
	opened_unlock();
	if (ring < 0)
		return -ENOMEM;
	if (engine_link->open_ring[ring].bytes == bytes)
		return ring;
	__atomic_sub_fetch(&engine_link->open_ring[ring].users, 1, __ATOMIC_RELAXED);
	return -EINVAL;
}

/* Makes the ring empty.  What was there before is given back to the kernel. */
static long begin_ring(unsigned place, unsigned ring, long file, bool writable)
{
	struct link_ring *r = &engine_link->open_ring[ring];
	struct perf_event_mmap_page *page;

	syscall4(__NR_fallocate, file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (long)r->offset,
		 (long)r->bytes);
	page = opened_ring_map(ring);
	if (!page)
		return -ENOMEM;
	r->reader = current->process;
	r->stalled = 0;
	opened_page_begin(page, r->bytes);
	perf_ring_begin(&r->ring, &at(place)->attr, r->bytes - PAGE, writable);
	return 0;
}

static long map_program(unsigned ring, struct syscall_arguments *c, long file)
{
	long at_program;

	c->a[4] = (uint64_t)file;
	c->a[5] = engine_link->open_ring[ring].offset;
	at_program = mappings_call(c);
	/* A child does not have the kernel's mapping, either. */
	if (!is_error(at_program))
		syscall3(__NR_madvise, at_program, (long)c->a[1], MADV_DONTFORK);
	return at_program;
}

/* The event's records go to the ring from now on. */
static void use_ring(unsigned place, unsigned ring)
{
	opened_lock();
	if (!at(place)->ring)
		opened_set_ring(place, 1 + ring);
	at(place)->mapped = 1;
	opened_unlock();
	if (at(place)->named)
		perf_poll_drain(place);
	opened_map(at(place)->serial, opened_ring_map(ring));
	opened_write_pages();
}

static long map(unsigned place, struct syscall_arguments *c)
{
	bool new, writable = c->a[2] & PROT_WRITE;
	long ring, file, result = 0;

	if ((at(place)->attr.inherit && at(place)->cpu < 0) || !(c->a[3] & MAP_SHARED) || c->a[5] ||
	    !is_ring(c->a[1]))
		return -EINVAL;
	ring = take_ring(place, c->a[1], &new);
	if (ring < 0)
		return ring;
	file = descriptors_link();
	if (is_error(file))
		result = file;
	else if (new)
		result = begin_ring(place, (unsigned)ring, file, writable);
	if (!result)
		result = map_program((unsigned)ring, c, file);
	if (!is_error(file))
		syscall1(__NR_close, file);
	if (!is_error(result))
		use_ring(place, (unsigned)ring);
	__atomic_sub_fetch(&engine_link->open_ring[ring].users, 1, __ATOMIC_RELAXED);
	return result;
}

bool perf_rings_map(struct syscall_arguments *c, long *result)
{
	int place = c->a[3] & MAP_ANONYMOUS ? -1 : perf_descriptor_event((int)c->a[4]);

	if (place >= 0)
		*result = map((unsigned)place, c);
	return place >= 0;
}

/* --- ioctl --- */

static int clock_of(const struct perf_event_attr *attr)
{
	return attr->use_clockid ? attr->clockid : -1;
}

/* Returns whether records of both may be in one ring. */
static bool go_together(const struct link_open *one, const struct link_open *other)
{
	return one != other && one->cpu == other->cpu &&
	       (one->cpu >= 0 || one->target == other->target) &&
	       clock_of(&one->attr) == clock_of(&other->attr) &&
	       one->attr.write_backward == other->attr.write_backward;
}

long perf_rings_set_output(unsigned place, uint64_t fd)
{
	int other = fd == UINT64_MAX ? -1 : perf_descriptor_event((int)fd);
	long result = -EINVAL;
	uint32_t ring = 0;

	if (other < 0 && fd != UINT64_MAX)
		return -EBADF;
	opened_lock();
	if (other >= 0)
		ring = at((unsigned)other)->ring;
	if (!at(place)->mapped &&
	    (other < 0 || (ring && go_together(at(place), at((unsigned)other))))) {
		opened_set_ring(place, ring);
		result = 0;
	}
	opened_unlock();
	if (!result && ring && at(place)->named)
		perf_poll_drain(place);
	return result;
}

long perf_rings_pause(unsigned place, bool pause)
{
	uint32_t ring = at(place)->ring;

	if (!ring || !engine_link->open_ring[ring - 1].ring.bytes)
		return -EINVAL;
	engine_link->open_ring[ring - 1].ring.paused = pause;
	return 0;
}
