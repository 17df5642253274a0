/* SPDX-License-Identifier: MIT */
/*
 * perf_calls.c: read(2), ioctl(2) and close(2) of events (perf_event_open(2)).
 */
#include "engine/linux/perf_calls.h"

#include <asm/errno.h>
#include <asm/ioctls.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/perf_event.h>
#include <linux/uio.h>

#include <hosts/user/perf_event/perf_attr.h>
#include <hosts/user/perf_event/perf_read.h>

#include "engine/count/ask.h"
#include "engine/count/opened.h"
#include "engine/count/opened_table.h"
#include "engine/linux/pass_on.h"
#include "engine/linux/perf_descriptor.h"
#include "engine/linux/perf_rings.h"
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
				   .id = at(place)->serial,
				   .lost = at(place)->lost};
}

static long do_read(unsigned place, uint64_t to, uint64_t bytes)
{
	uint64_t format = at(place)->attr.read_format, words[5 + 3 * (LINK_OPENED_MAX + 1)];
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

/* The kernel reads the event once for each part, until one is larger than what was read. */
static long read_parts(unsigned place, uint64_t vector, uint64_t parts)
{
	const struct iovec *part = (const struct iovec *)vector;
	uint64_t left = 0;
	long sum = 0;

	if (parts > UIO_MAXIOV)
		return -EINVAL;
	if (parts && !access_readable(vector, parts * sizeof(*part)))
		return -EFAULT;
	for (uint64_t i = 0; i < parts; i++) {
		if (part[i].iov_len >> 63)
			return -EINVAL;
		left += part[i].iov_len;
	}
	for (uint64_t i = 0; left; i++) {
		long result = do_read(place, (uint64_t)part[i].iov_base, part[i].iov_len);

		if (is_error(result))
			return sum ? sum : result;
		sum += result;
		if ((uint64_t)result != part[i].iov_len)
			break;
		left -= part[i].iov_len;
	}
	return sum;
}

bool perf_calls_read(const struct syscall_arguments *c, long *result)
{
	int place = perf_descriptor_event((int)c->a[0]);

	if (place < 0)
		return false;
	if (c->nr == __NR_read)
		*result = do_read((unsigned)place, c->a[1], c->a[2]);
	else if (c->nr == __NR_preadv2 && c->a[5])
		*result = -EOPNOTSUPP; /* no flag is for events */
	else
		*result = read_parts((unsigned)place, c->a[1], c->a[2]);
	return true;
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
		if (at(p.place[i])->target == LINK_OPEN_ALL)
			at(p.place[i])->ended = 0;
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
		result = attr.type == at(place)->attr.type ? -EOPNOTSUPP : -EINVAL;
	return result;
}

static bool samples(unsigned place)
{
	return perf_attr_samples(&at(place)->attr);
}

/* Another period begins at once, in all tasks. */
static long set_period(unsigned place, uint64_t from)
{
	struct perf_event_attr *attr = &at(place)->attr;
	struct places p = {1, {place}};
	uint64_t value;

	if (!access_readable(from, sizeof(value)))
		return -EFAULT;
	memcpy(&value, (const void *)from, sizeof(value));
	if (!samples(place) || !value || value >> 63 || (attr->freq && value > PERF_ATTR_MAX_RATE))
		return -EINVAL;
	opened_lock();
	attr->sample_period = value; /* the same field as sample_freq */
	if (!attr->freq && !at(place)->request.software)
		at(place)->request.period = value;
	at(place)->periods++;
	opened_unlock();
	follow(&p);
	return 0;
}

/* The event is on for so many more overflows. */
static long refresh(unsigned place, uint64_t overflows)
{
	if (at(place)->attr.inherit || !samples(place))
		return -EINVAL;
	__atomic_add_fetch(&at(place)->limit, (int32_t)overflows, __ATOMIC_SEQ_CST);
	return switch_to(place, 0, true);
}

static long control_ring(unsigned place, uint32_t request, uint64_t argument)
{
	switch (request) {
	case PERF_EVENT_IOC_SET_OUTPUT:
		return perf_rings_set_output(place, argument);
	case PERF_EVENT_IOC_PAUSE_OUTPUT:
		return perf_rings_pause(place, argument);
	case PERF_EVENT_IOC_PERIOD:
		return set_period(place, argument);
	case PERF_EVENT_IOC_REFRESH:
		return refresh(place, argument);
	default:
		return -ENOTTY;
	}
}

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
	case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
		return modify(place, argument);
	case PERF_EVENT_IOC_SET_FILTER:
	case PERF_EVENT_IOC_SET_BPF:
	case PERF_EVENT_IOC_QUERY_BPF:
		return -EINVAL;
	default:
		return control_ring(place, request, argument);
	}
}

/* Whether somebody wants signals is known here, too, because others make the samples. */
static long set_signals(const struct syscall_arguments *c, unsigned place, bool on)
{
	long result = pass_on(c);

	if (!is_error(result))
		at(place)->signals = on;
	return result;
}

void perf_calls_flags(const struct syscall_arguments *c, long result)
{
	int place = is_error(result) ? -1 : perf_descriptor_event((int)c->a[0]);

	if (place >= 0)
		at((unsigned)place)->signals = (c->a[2] & FASYNC) != 0;
}

bool perf_calls_ioctl(const struct syscall_arguments *c, long *result)
{
	int place = perf_descriptor_event((int)c->a[0]);

	if (place < 0)
		return false;
	if (c->a[1] == FIOASYNC && access_readable(c->a[2], sizeof(int)))
		*result = set_signals(c, (unsigned)place, *(const int *)c->a[2] != 0);
	else
		*result = control((unsigned)place, (uint32_t)c->a[1], c->a[2]);
	return true;
}

/* --- close --- */

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
