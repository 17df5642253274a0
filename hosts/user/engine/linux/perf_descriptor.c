/* SPDX-License-Identifier: MIT */
/*
 * perf_descriptor.c: what a program has for an event: a descriptor of the kernel's, so that dup(2),
 * fork(2), execve(2), poll(2) and messages between processes do with it what they always do.
 *
 * An event that only counts has the end of a pipe that nobody writes to.  So poll(2) finds POLLHUP,
 * as for an event that is not mapped.  One that can wake somebody has a FIFO with a name
 * (opened_wake.c), and perf_poll.c does the rest.  The event is found by the inode, however the
 * descriptor came to be.  All descriptors of the event share one open file description, which has a
 * lock on the file.  The lock ends with the last of them, even if a process is killed: so it tells
 * whether the event is still open.
 */
#include "engine/linux/perf_descriptor.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>

#include "engine/count/opened_table.h"
#include "engine/count/opened_wake.h"
#include "engine/rt/engine.h"
#include "engine/rt/file.h"
#include "engine/rt/sys.h"

#define TYPE_MASK 0170000u
#define TYPE_FIFO 0010000u
#define SET_LOCK  37 /* F_OFD_SETLK */
#define GET_LOCK  36 /* F_OFD_GETLK */

/* A FIFO is open for writing, too, so that poll(2) does not find that all writers have left. */
static long open_fifo(uint32_t named, int flags)
{
	char name[LINK_PATH_MAX + 32];
	long result;

	opened_wake_name(named, name, sizeof(name));
	result = syscall4(__NR_mknodat, AT_FDCWD, (long)name, TYPE_FIFO | 0600, 0);
	return is_error(result) ? result
				: syscall4(__NR_openat, AT_FDCWD, (long)name, O_RDWR | flags, 0);
}

static long open_pipe(int flags)
{
	int ends[2];
	long result = syscall2(__NR_pipe2, (long)ends, flags);

	if (is_error(result))
		return result;
	syscall1(__NR_close, ends[1]);
	return ends[0];
}

long perf_descriptor_make(bool close_on_exec, uint32_t named, struct perf_inode *inode)
{
	int flags = O_NONBLOCK | (close_on_exec ? O_CLOEXEC : 0);
	struct flock lock = {.l_type = F_RDLCK};
	long fd = named ? open_fifo(named, flags) : open_pipe(flags), result;
	struct stat stat;

	if (is_error(fd))
		return fd;
	result = syscall3(__NR_fcntl, fd, SET_LOCK, (long)&lock);
	if (!is_error(result) && !file_stat((int)fd, &stat))
		result = -EBADF;
	if (is_error(result)) {
		syscall1(__NR_close, fd);
		return result;
	}
	*inode = (struct perf_inode){stat.st_dev, stat.st_ino};
	return fd;
}

int perf_descriptor_event(int fd)
{
	struct stat stat;

	if (!__atomic_load_n(&engine_link->open_events, __ATOMIC_ACQUIRE) ||
	    !file_stat(fd, &stat) || (stat.st_mode & TYPE_MASK) != TYPE_FIFO)
		return -1;
	return opened_find(stat.st_dev, stat.st_ino);
}

long perf_descriptor_again(int fd)
{
	char path[32];
	struct text t;

	text_start(&t, path, sizeof(path));
	text_add(&t, "/proc/self/fd/");
	text_add_number(&t, (uint64_t)fd);
	return syscall4(__NR_openat, AT_FDCWD, (long)path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
}

bool perf_descriptor_is_open(int again)
{
	struct flock lock = {.l_type = F_WRLCK};

	return is_error(syscall3(__NR_fcntl, again, GET_LOCK, (long)&lock)) ||
	       lock.l_type != F_UNLCK;
}

/* --- by the kernel's list of locks --- */

/* Reads all of /proc/locks.  Returns its size; -1: it cannot be read. */
static long read_locks(char *to, size_t most)
{
	long fd = syscall4(__NR_openat, AT_FDCWD, (long)"/proc/locks", O_RDONLY | O_CLOEXEC, 0);
	size_t bytes = 0;
	long n = 1;

	while (!is_error(fd) && n > 0 && bytes < most) {
		n = syscall3(__NR_read, fd, (long)(to + bytes), (long)(most - bytes));
		bytes += n > 0 ? (size_t)n : 0;
	}
	if (!is_error(fd))
		syscall1(__NR_close, fd);
	return is_error(fd) || is_error(n) || bytes == most ? -1 : (long)bytes;
}

/* A line is "1: OFDLCK ADVISORY  READ -1 00:0f:173318 0 EOF".  The last colon is before the
 * inode. */
static uint64_t inode_of_line(const char *at, const char *end)
{
	const char *number = at;
	uint64_t inode = 0;

	for (; at < end; at++)
		if (*at == ':')
			number = at + 1;
	for (; number < end && *number >= '0' && *number <= '9'; number++)
		inode = inode * 10 + (uint64_t)(*number - '0');
	return inode;
}

static bool is_locked(const char *locks, size_t bytes, uint64_t inode)
{
	const char *at = locks, *all = locks + bytes;

	while (at < all) {
		const char *end = at;

		while (end < all && *end != '\n')
			end++;
		if (inode_of_line(at, end) == inode)
			return true;
		at = end + 1;
	}
	return false;
}

unsigned perf_descriptors_closed(unsigned *place, unsigned most)
{
	const size_t room = 256u << 10;
	char *locks = heap_allocate(room);
	long bytes = read_locks(locks, room);
	unsigned n = 0;

	for (unsigned i = 0; bytes >= 0 && i < engine_link->open_used && n < most; i++) {
		const struct link_open *event = &engine_link->open[i];

		if (event->serial && !is_locked(locks, (size_t)bytes, event->inode))
			place[n++] = i;
	}
	heap_release(locks, room);
	return n;
}
