/* SPDX-License-Identifier: MIT */
/*
 * perf_calls.c: read(2), ioctl(2), close(2) and mmap(2) of events (perf_event_open(2)).
 */
#include "engine/linux/perf_calls.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/memfd.h>
#include <linux/mman.h>
#include <linux/perf_event.h>

#include <hosts/user/perf_event/perf_attr.h>
#include <hosts/user/perf_event/perf_read.h>

#include "engine/count/ask.h"
#include "engine/count/opened.h"
#include "engine/count/opened_page.h"
#include "engine/count/opened_table.h"
#include "engine/linux/mappings.h"
#include "engine/linux/perf_descriptor.h"
#include "engine/memory/access.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

/* The places of an event, or of the events of its group: first the leader, then the siblings in the
 * order of their creation. */
struct places {
	unsigned count;
	unsigned place[LINK_OPEN_MAX];
};

static struct link_open *at(unsigned place)
{
	return &engine_link->open[place];
}

/* The lock of the table is held. */
static void group_of(unsigned place, struct places *out)
{
	unsigned leader = at(place)->leader;

	out->count = 1;
	out->place[0] = leader;
	for (unsigned i = 0; i < engine_link->open_used; i++) {
		unsigned n = out->count;

		if (i == leader || !at(i)->serial || at(i)->leader != leader)
			continue;
		for (; n > 1 && at(out->place[n - 1])->serial > at(i)->serial; n--)
			out->place[n] = out->place[n - 1];
		out->place[n] = i;
		out->count++;
	}
}

static void places_of(unsigned place, bool group, struct places *out)
{
	opened_lock();
	if (group)
		group_of(place, out);
	else
		*out = (struct places){1, {place}};
	opened_unlock();
}

/* Returns whether only the running task counts the event. */
static bool is_own(unsigned place)
{
	int e;
	bool own;

	if (!current->follower)
		return false;
	opened_lock();
	e = opened_entry(&engine_link->opened[current->follower - engine_link->follower],
			 at(place)->serial);
	own = at(place)->tasks == (e >= 0);
	opened_unlock();
	return own;
}

/* What all tasks have counted until now is in the memory of the run. */
static void gather(const struct places *p)
{
	opened_publish();
	for (unsigned i = 0; i < p->count; i++)
		if (!is_own(p->place[i]))
			ask_counting(at(p->place[i])->serial);
}

/* All tasks do what their lists say. */
static void follow(const struct places *p)
{
	if (current->follower)
		opened_follow(&engine_link->opened[current->follower - engine_link->follower]);
	for (unsigned i = 0; i < p->count; i++)
		if (!is_own(p->place[i]))
			ask_counting(at(p->place[i])->serial);
}

/* --- read --- */

static struct perf_value value_of(unsigned place)
{
	return (struct perf_value){.count = at(place)->count + at(place)->ended,
				   .id = at(place)->serial};
}

static long do_read(unsigned place, uint64_t to, uint64_t bytes)
{
	uint64_t format = at(place)->read_format, words[5 + 3 * (LINK_OPENED_MAX + 1)];
	struct perf_value value[LINK_OPENED_MAX + 1];
	struct places p;
	unsigned first;
	size_t size;

	places_of(place, format & PERF_FORMAT_GROUP, &p);
	if (p.count > LINK_OPENED_MAX + 1)
		p.count = LINK_OPENED_MAX + 1;
	size = perf_read_bytes(format, p.count - 1);
	if (bytes < size)
		return -ENOSPC;
	gather(&p);
	first = p.place[0];
	opened_lock();
	for (unsigned i = 0; i < p.count; i++)
		value[i] = value_of(p.place[i]);
	perf_read_write(words, format, at(first)->enabled_ns, at(first)->running_ns, value,
			p.count);
	opened_unlock();
	if (!access_writable(to, size))
		return -EFAULT;
	memcpy((void *)to, words, size);
	return (long)size;
}

bool perf_calls_read(const struct syscall_arguments *c, long *result)
{
	int place = perf_descriptor_event((int)c->a[0]);

	if (place >= 0)
		*result = do_read((unsigned)place, c->a[1], c->a[2]);
	return place >= 0;
}

/* --- ioctl --- */

static long switch_to(unsigned place, uint64_t flags, bool on)
{
	struct places p;

	places_of(place, flags & PERF_IOC_FLAG_GROUP, &p);
	opened_lock();
	for (unsigned i = 0; i < p.count; i++)
		opened_switch(p.place[i], on);
	opened_unlock();
	follow(&p);
	return 0;
}

static long reset(unsigned place, uint64_t flags)
{
	struct places p;

	places_of(place, flags & PERF_IOC_FLAG_GROUP, &p);
	gather(&p);
	opened_lock();
	for (unsigned i = 0; i < p.count; i++) {
		at(p.place[i])->count = 0;
		at(p.place[i])->resets++;
	}
	opened_unlock();
	opened_write_pages();
	return 0;
}

static long tell_id(unsigned place, uint64_t to)
{
	if (!access_writable(to, sizeof(uint64_t)))
		return -EFAULT;
	*(uint64_t *)to = at(place)->serial;
	return 0;
}

/* There are no rings, so nothing goes anywhere. */
static long set_output(unsigned place, uint64_t fd)
{
	int other = fd == UINT64_MAX ? (int)place : perf_descriptor_event((int)fd);

	if (other < 0)
		return -EBADF;
	return at((unsigned)other)->target == at(place)->target ? 0 : -EINVAL;
}

/* Nothing of an event of the processor can be changed (perf_event_modify_attr()). */
static long modify(unsigned place, uint64_t from)
{
	struct perf_event_attr attr;
	long bytes, result;

	if (!access_readable(from, PERF_ATTR_SIZE_VER0))
		return -EFAULT;
	bytes = perf_attr_bytes(((const struct perf_event_attr *)from)->size);
	if (is_error(bytes))
		return bytes;
	if (!access_readable(from, (uint64_t)bytes))
		return -EFAULT;
	result = perf_attr_take(&attr, (const void *)from, (uint32_t)bytes);
	if (!result)
		result = attr.type == at(place)->type ? -EOPNOTSUPP : -EINVAL;
	return result;
}

/* No event samples, so it has no period, no limit and no ring. */
static long control(unsigned place, uint32_t request, uint64_t argument)
{
	switch (request) {
	case PERF_EVENT_IOC_ENABLE:
	case PERF_EVENT_IOC_DISABLE:
		return switch_to(place, argument, request == PERF_EVENT_IOC_ENABLE);
	case PERF_EVENT_IOC_RESET:
		return reset(place, argument);
	case PERF_EVENT_IOC_ID:
		return tell_id(place, argument);
	case PERF_EVENT_IOC_SET_OUTPUT:
		return set_output(place, argument);
	case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
		return modify(place, argument);
	case PERF_EVENT_IOC_PERIOD:
		return access_readable(argument, sizeof(uint64_t)) ? -EINVAL : -EFAULT;
	case PERF_EVENT_IOC_REFRESH:
	case PERF_EVENT_IOC_PAUSE_OUTPUT:
	case PERF_EVENT_IOC_SET_FILTER:
	case PERF_EVENT_IOC_SET_BPF:
	case PERF_EVENT_IOC_QUERY_BPF:
		return -EINVAL;
	default:
		return -ENOTTY;
	}
}

bool perf_calls_ioctl(const struct syscall_arguments *c, long *result)
{
	int place = perf_descriptor_event((int)c->a[0]);

	if (place >= 0)
		*result = control((unsigned)place, (uint32_t)c->a[1], c->a[2]);
	return place >= 0;
}

/* --- close and mmap --- */

/* No descriptor leads to it any more. */
static void forget(unsigned place)
{
	opened_lock();
	opened_forget(place);
	opened_unlock();
	if (current->follower)
		opened_follow(&engine_link->opened[current->follower - engine_link->follower]);
}

bool perf_calls_close(const struct syscall_arguments *c, long *result)
{
	int place = perf_descriptor_event((int)c->a[0]);
	uint64_t serial;
	long again;

	if (place < 0)
		return false;
	serial = at((unsigned)place)->serial;
	again = perf_descriptor_again((int)c->a[0]);
	*result = syscall1(__NR_close, (long)c->a[0]);
	if (is_error(again))
		return true;
	if (!perf_descriptor_is_open((int)again) && at((unsigned)place)->serial == serial)
		forget((unsigned)place);
	syscall1(__NR_close, again);
	return true;
}

bool perf_calls_write(const struct syscall_arguments *c, long *result)
{
	*result = -EINVAL;
	return perf_descriptor_event((int)c->a[0]) >= 0;
}

/* Maps the file for the engine, and then for the program. */
static long map_both(unsigned place, struct syscall_arguments *c, long file)
{
	uint64_t bytes = in_pages(c->a[1]), at_engine = heap_place(PAGE);
	long at_program = -ENOMEM, page = syscall2(__NR_ftruncate, file, (long)bytes);

	if (!is_error(page))
		page = sys_map(at_engine, PAGE, PROT_READ | PROT_WRITE,
			       MAP_SHARED | heap_place_flags(at_engine, PAGE), (int)file, 0);
	if (is_error(page))
		return page;
	opened_page_begin((struct perf_event_mmap_page *)page, bytes);
	c->a[4] = (uint64_t)file;
	at_program = mappings_call(c);
	if (!is_error(at_program)) {
		/* A child does not have the kernel's page, either. */
		syscall3(__NR_madvise, at_program, (long)bytes, MADV_DONTFORK);
		opened_map(at(place)->serial, (struct perf_event_mmap_page *)page);
		opened_write_pages();
	}
	return at_program;
}

/* A page, and a ring of a power of two.  Nothing goes to the ring, because no event samples. */
static bool is_ring(uint64_t bytes)
{
	uint64_t pages = bytes / PAGE;

	return bytes && !(bytes % PAGE) && !((pages - 1) & (pages - 2) && pages > 1);
}

static long map(unsigned place, struct syscall_arguments *c)
{
	long file, result;

	if (at(place)->flags & LINK_OPEN_INHERIT || !(c->a[3] & MAP_SHARED) || c->a[5] ||
	    !is_ring(c->a[1]))
		return -EINVAL;
	if (at(place)->flags & LINK_OPEN_TELLS && c->a[1] > PAGE)
		return -ENODEV;
	file = syscall2(__NR_memfd_create, (long)"softpmu-event", MFD_CLOEXEC);
	if (is_error(file))
		return file;
	result = map_both(place, c, file);
	syscall1(__NR_close, file);
	return result;
}

bool perf_calls_map(struct syscall_arguments *c, long *result)
{
	int place = c->a[3] & MAP_ANONYMOUS ? -1 : perf_descriptor_event((int)c->a[4]);

	if (place >= 0)
		*result = map((unsigned)place, c);
	return place >= 0;
}
