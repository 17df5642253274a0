/* SPDX-License-Identifier: MIT */
/*
 * files.c: system calls by which a file shows the program itself (proc(5)): its image,
 * /proc/self/exe, and its memory, /proc/self/mem, to which it may write whatever the pages'
 * protection.
 */
#include <asm/unistd.h>

#include "engine.h"
#include "files.h"
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

static bool memory_file_opened; /* a process's memory, as /proc/self/mem */

static bool is_memory_file(int fd)
{
	char path[64];
	size_t n;

	name_of_fd(fd, path, sizeof(path));
	n = strlen(path);
	return n > 10 && !memcmp(path, "/proc/", 6) && !memcmp(path + n - 4, "/mem", 4);
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

long files_write(const struct syscall_arguments *c, int fd)
{
	bool memory = memory_file_opened && is_memory_file(fd);
	long result;

	if (!memory && !views_have_code())
		return syscall_pass_on(c);
	engine_lock();
	if (!memory && !views_file_has_code(fd)) {
		engine_unlock();
		return syscall_pass_on(c);
	}
	threads_stop(); /* nobody meets new bytes and runs the old ones */
	result = syscall_program(c->nr, c->a);
	if (!is_error(result))
		forget_written(c, fd, memory, (uint64_t)result);
	threads_go();
	engine_unlock();
	return result;
}

/* It may wait for another thread, which has to go on. */
long files_copy(const struct syscall_arguments *c, int fd)
{
	long result = syscall_pass_on(c);

	if (is_error(result) || !views_have_code())
		return result;
	engine_lock();
	views_file_written(fd);
	engine_unlock();
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
