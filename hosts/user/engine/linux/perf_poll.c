/* SPDX-License-Identifier: MIT */
/*
 * perf_poll.c: waiting for opened events with poll(2) and its like.
 *
 * A wake-up is a byte in the event's FIFO (opened_wake.c).  The kernel tells of a wake-up once, so
 * the byte is read when the program has been told.  An event without a ring, or whose tasks have
 * ended, is readable all the time: for poll(2) that is POLLHUP.
 *
 * Simplified: epoll and select(2) report descriptors by names of their own.  So they end the
 * wake-ups of all events of the process, and report POLLHUP as readable.
 */
#include "engine/linux/perf_poll.h"

#include <asm/poll.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>

#include "engine/count/ask.h"
#include "engine/count/opened_wake.h"
#include "engine/linux/perf_descriptor.h"
#include "engine/memory/access.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

static bool are_open(void)
{
	return __atomic_load_n(&engine_link->open_events, __ATOMIC_ACQUIRE);
}

/* Returns whether nothing more will come of the event. */
static bool is_hung(const struct link_open *event)
{
	if (!event->ring)
		return true;
	return event->target != LINK_OPEN_ALL && !event->tasks && ask_find(event->target) < 0;
}

void perf_poll_drain(unsigned place)
{
	struct link_open *event = &engine_link->open[place];
	char name[LINK_PATH_MAX + 32];
	uint8_t bytes[256];
	long fd;

	opened_wake_name(event->named, name, sizeof(name));
	fd = syscall4(__NR_openat, AT_FDCWD, (long)name, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
	if (is_error(fd))
		return;
	__atomic_store_n(&event->readable, 0, __ATOMIC_SEQ_CST);
	while (syscall3(__NR_read, fd, (long)bytes, sizeof(bytes)) == (long)sizeof(bytes))
		;
	syscall1(__NR_close, fd);
}

static void settle(struct pollfd *p)
{
	int place = p->revents & POLLIN ? perf_descriptor_event(p->fd) : -1;

	if (place < 0 || !engine_link->open[place].named)
		return;
	if (is_hung(&engine_link->open[place]))
		p->revents = POLLHUP;
	else
		perf_poll_drain((unsigned)place);
}

long perf_poll_after(const struct syscall_arguments *c, long result)
{
	struct pollfd *p = (struct pollfd *)c->a[0];

	if (result <= 0 || !are_open())
		return result;
	for (uint64_t i = 0; i < c->a[1]; i++)
		if (access_writable((uint64_t)&p[i], sizeof(p[i])))
			settle(&p[i]);
	return result;
}

long perf_poll_after_other(long result)
{
	if (result <= 0 || !are_open())
		return result;
	for (uint32_t i = 0; i < engine_link->open_used; i++) {
		const struct link_open *event = &engine_link->open[i];

		if (event->serial && event->named && event->readable &&
		    event->owner == current->process && !is_hung(event))
			perf_poll_drain(i);
	}
	return result;
}
