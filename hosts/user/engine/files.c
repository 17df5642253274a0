/* SPDX-License-Identifier: MIT */
/*
 * files.c: system calls by which a file shows the program itself (proc(5)): its image,
 * /proc/self/exe, and its memory, /proc/self/mem, to which it may write whatever the pages'
 * protection.  Calls that write to files of shared memory that may be executed are here, too.
 */
#include <asm/errno.h>
#include <asm/poll.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/resource.h>

#include "engine.h"
#include "files.h"
#include "listing.h"
#include "sys.h"
#include "threads.h"
#include "views.h"

bool files_names_own_image(uint64_t path)
{
	char own[32];
	struct text t;
	size_t n;

	/* Of each file that is opened or looked at: most are elsewhere. */
	if (path <= 4095 || memcmp((const void *)path, "/proc/", 6) != 0)
		return false;
	text_start(&t, own, sizeof(own));
	text_add(&t, "/proc/");
	text_add_number(&t, current->pid);
	text_add(&t, "/exe");
	n = strlen(own) + 1;
	return !memcmp((const void *)path, "/proc/self/exe", 15) ||
	       !memcmp((const void *)path, own, n);
}

long files_look_up(struct syscall_arguments *c, unsigned at)
{
	bool opens = c->nr == __NR_open || c->nr == __NR_openat || c->nr == __NR_openat2;
	long result = syscall_pass_on(c);

	if (is_error(result) || !files_names_own_image(c->a[at]))
		return result;
	if (opens)
		syscall1(__NR_close, result);
	c->a[at] = (uint64_t)program_path;
	return syscall_pass_on(c);
}

bool files_may_have(uint64_t bytes)
{
	uint64_t limit[2] = {0, 0};

	syscall4(__NR_prlimit64, 0, RLIMIT_FSIZE, 0, (long)limit);
	return bytes <= limit[0];
}

#define SPLICE_F_NONBLOCK 2

static bool memory_file_opened; /* a process's memory, as /proc/self/mem */

static bool is_memory_file(int fd)
{
	char path[64];
	size_t n;

	name_of_fd(fd, path, sizeof(path));
	n = strlen(path);
	return n > 10 && !memcmp(path, "/proc/", 6) && !memcmp(path + n - 4, "/mem", 4);
}

static void open_listing(int fd)
{
	char path[64];

	name_of_fd(fd, path, sizeof(path));
	if (!listing_is(path))
		return;
	engine_lock();
	listing_open(fd, path);
	engine_unlock();
}

long files_open(struct syscall_arguments *c)
{
	const char *name = (const char *)c->a[c->nr != __NR_open];
	long result = files_look_up(c, c->nr != __NR_open);
	size_t n;

	if (is_error(result))
		return result;
	n = strlen(name);
	if (n >= 3 && !memcmp(name + n - 3, "mem", 3) && is_memory_file((int)result))
		memory_file_opened = true;
	if (n >= 4 && (!memcmp(name + n - 4, "maps", 4) || !memcmp(name + n - 4, "llup", 4)))
		open_listing((int)result);
	return result;
}

/* What was translated of the code that the call has written over. */
static void forget_written(const struct syscall_arguments *c, int fd, bool memory, uint64_t bytes)
{
	bool with_offset = c->nr == __NR_pwrite64 || c->nr == __NR_pwritev;
	uint64_t end = c->a[3] + bytes;

	if (!memory) {
		views_file_written(fd);
		return;
	}
	if (!with_offset)
		end = (uint64_t)syscall3(__NR_lseek, fd, 0, 1 /* SEEK_CUR */);
	syscall_code_changes(end - bytes, bytes);
}

/* A call that does not wait for other threads.  The lock is held: nobody meets new bytes and runs
 * the old ones. */
static long write_while_stopped(const struct syscall_arguments *c, int fd, bool memory)
{
	long result;

	threads_stop();
	result = syscall_program(c->nr, c->a);
	if (!is_error(result))
		forget_written(c, fd, memory, (uint64_t)result);
	threads_go();
	return result;
}

static bool try_to_write(const struct syscall_arguments *c, int fd, bool memory, long *result)
{
	bool writes;

	if (!memory && !views_have_code())
		return false;
	engine_lock();
	writes = memory || views_file_has_code(fd);
	if (writes)
		*result = write_while_stopped(c, fd, memory);
	engine_unlock();
	return writes;
}

long files_write(const struct syscall_arguments *c, int fd)
{
	bool memory = memory_file_opened && is_memory_file(fd);
	long result;

	return try_to_write(c, fd, memory, &result) ? result : syscall_pass_on(c);
}

/* Until the pipe has something, which may come from another thread of the program.  (A handler with
 * SA_RESTART ends this with EINTR, which it would not do to splice.) */
static long wait_for_pipe(const struct syscall_arguments *c)
{
	struct pollfd pipe = {.fd = (int)c->a[0], .events = POLLIN};
	const struct syscall_arguments wait = {__NR_poll, {(uint64_t)&pipe, 1, UINT64_MAX}};

	return syscall_pass_on(&wait);
}

static bool may_wait(const struct syscall_arguments *c)
{
	return !(c->a[5] & SPLICE_F_NONBLOCK) &&
	       !(syscall2(__NR_fcntl, (long)c->a[0], F_GETFL) & O_NONBLOCK);
}

long files_splice(const struct syscall_arguments *c)
{
	struct syscall_arguments at_once = *c;
	long result;

	at_once.a[5] |= SPLICE_F_NONBLOCK;
	do {
		if (!try_to_write(&at_once, (int)c->a[2], false, &result))
			return syscall_pass_on(c);
		if (result != -EAGAIN || !may_wait(c))
			return result;
		result = wait_for_pipe(c);
	} while (result >= 0);
	return result;
}

long files_readlink(struct syscall_arguments *c, uint64_t path, uint64_t buffer, uint64_t bytes)
{
	size_t n = strlen(program_path);
	long result = syscall_pass_on(c);

	if (is_error(result) || !files_names_own_image(path))
		return result;
	if (n > bytes)
		n = bytes;
	memcpy((void *)buffer, program_path, n);
	return (long)n;
}
