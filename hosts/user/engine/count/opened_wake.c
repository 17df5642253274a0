/* SPDX-License-Identifier: MIT */
/*
 * opened_wake.c: wakes who waits for an opened event.
 *
 * The descriptor of an event that may wake somebody is a FIFO with a name in the folder of the run.
 * A task that makes records opens it by its name and writes a byte.  So the kernel wakes poll(2),
 * select(2) and epoll_wait(2), and sends the signal of O_ASYNC.  perf_poll.c reads the byte when
 * the program has seen it.
 */
#include "engine/count/opened_wake.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>

#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define NAME_BYTES (LINK_PATH_MAX + 32)

void opened_wake_name(uint32_t named, char *to, size_t bytes)
{
	struct text t;

	text_start(&t, to, bytes);
	text_add(&t, engine_link->tree);
	text_add(&t, "/event.");
	text_add_number(&t, named);
}

/* Opened for reading, too, so that it neither waits nor raises SIGPIPE. */
static void write_byte(uint32_t named)
{
	static const char byte;
	char name[NAME_BYTES];
	long fd;

	opened_wake_name(named, name, sizeof(name));
	fd = syscall4(__NR_openat, AT_FDCWD, (long)name, O_RDWR | O_NONBLOCK | O_CLOEXEC, 0);
	if (is_error(fd))
		return;
	syscall3(__NR_write, fd, (long)&byte, 1);
	syscall1(__NR_close, fd);
}

void opened_wake(unsigned place)
{
	struct link_open *event = &engine_link->open[place];

	if (!event->named)
		return;
	if (__atomic_exchange_n(&event->readable, 1, __ATOMIC_SEQ_CST) && !event->signals)
		return;
	write_byte(event->named);
}

void opened_wake_readers(unsigned place)
{
	uint32_t ring = engine_link->open[place].ring;

	for (uint32_t i = 0; ring && i < engine_link->open_used; i++) {
		const struct link_open *other = &engine_link->open[i];

		if (other->serial && other->ring == ring && !other->signals)
			opened_wake(i);
	}
}

void opened_wake_ended(uint32_t tid)
{
	for (uint32_t i = 0; i < engine_link->open_used; i++)
		if (engine_link->open[i].serial && engine_link->open[i].target == tid)
			opened_wake(i);
}
