/* SPDX-License-Identifier: MIT */
/*
 * files.c: system calls on files that show the program itself (proc(5)): its image,
 * /proc/self/exe, and its memory, /proc/self/mem, to which it may write whatever the protection
 * of the pages is.  Calls that write to files of shared executable memory are also here.
 */
#include <asm/errno.h>
#include <asm/poll.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/resource.h>

#include "engine/linux/files.h"
#include "engine/linux/listing.h"
#include "engine/linux/pass_on.h"
#include "engine/linux/redirect.h"
#include "engine/rt/call.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/file.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"
#include "engine/watch/aliases.h"
#include "engine/watch/watch.h"
#include "engine/x86/enter.h"

bool files_names_own_image(uint64_t path)
{
	char own[32];
	struct text t;
	size_t n;

	/* Runs for each file that is opened or examined: most are elsewhere. */
	if (path < PAGE || memcmp((const void *)path, "/proc/", 6) != 0)
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
	long result = redirect_call(c, at);

	if (is_error(result) || !files_names_own_image(c->a[at]))
		return result;
	if (opens)
		syscall1(__NR_close, result);
	c->a[at] = (uint64_t)engine_program_path;
	return pass_on(c);
}

#define SPLICE_F_NONBLOCK 2

static bool memory_file_opened; /* a process's memory has been opened, such as /proc/self/mem */

static bool is_memory_file(int fd)
{
	char path[64];
	size_t n;

	file_name(fd, path, sizeof(path));
	n = strlen(path);
	return n > 10 && !memcmp(path, "/proc/", 6) && !memcmp(path + n - 4, "/mem", 4);
}

static void open_listing(int fd)
{
	char path[64];

	file_name(fd, path, sizeof(path));
	if (!listing_is(path))
		return;
	lock_take();
	listing_open(fd, path);
	lock_release();
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

/* Drops the translations of code that the call has overwritten. */
static void forget_written(const struct syscall_arguments *c, int fd, bool memory, uint64_t bytes)
{
	bool with_offset = c->nr == __NR_pwrite64 || c->nr == __NR_pwritev;
	uint64_t end = c->a[3] + bytes;

	if (!memory) {
		aliases_file_written(fd);
		return;
	}
	if (!with_offset)
		end = (uint64_t)syscall3(__NR_lseek, fd, 0, SEEK_CUR);
	watch_code_changes(end - bytes, bytes);
}

/* Makes a call that does not wait for other threads.  The lock is held, so no thread sees new
 * bytes and runs the old ones. */
static long write_while_stopped(const struct syscall_arguments *c, int fd, bool memory)
{
	long result;

	lock_stop_others();
	result = syscall_program(c->nr, c->a);
	if (!is_error(result))
		forget_written(c, fd, memory, (uint64_t)result);
	lock_resume_others();
	return result;
}

static bool try_to_write(const struct syscall_arguments *c, int fd, bool memory, long *result)
{
	bool writes;

	if (!memory && !aliases_have_code())
		return false;
	lock_take();
	writes = memory || aliases_file_has_code(fd);
	if (writes)
		*result = write_while_stopped(c, fd, memory);
	lock_release();
	return writes;
}

long files_write(const struct syscall_arguments *c, int fd)
{
	bool memory = memory_file_opened && is_memory_file(fd);
	long result;

	return try_to_write(c, fd, memory, &result) ? result : pass_on(c);
}

/* Waits until the pipe has data, which another thread of the program may write.  (A handler with
 * SA_RESTART ends this with EINTR, unlike splice.) */
static long wait_for_pipe(const struct syscall_arguments *c)
{
	struct pollfd pipe = {.fd = (int)c->a[0], .events = POLLIN};
	const struct syscall_arguments wait = {__NR_poll, {(uint64_t)&pipe, 1, UINT64_MAX}};

	return pass_on(&wait);
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
			return pass_on(c);
		if (result != -EAGAIN || !may_wait(c))
			return result;
		result = wait_for_pipe(c);
	} while (result >= 0);
	return result;
}

long files_readlink(struct syscall_arguments *c, uint64_t path, uint64_t buffer, uint64_t bytes)
{
	size_t n = strlen(engine_program_path);
	long result = redirect_call(c, c->nr == __NR_readlinkat);

	if (is_error(result) || !files_names_own_image(path))
		return result;
	if (n > bytes)
		n = bytes;
	memcpy((void *)buffer, engine_program_path, n);
	return (long)n;
}
