/* SPDX-License-Identifier: MIT */
/*
 * descriptors.c: how the next image of a process gets the engine's image and the memory of the
 * run: through /proc, while the process sees there what the tool sees.  A process that is about
 * to move (namespaces, another root, another user, fewer rights) opens both first and keeps
 * them.  The program cannot close them, and sees them only in /proc/self/fd.
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/close_range.h>
#include <linux/fcntl.h>
#include <linux/memfd.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/sched.h>

#include "engine/linux/descriptors.h"
#include "engine/linux/pass_on.h"
#include "engine/memory/access.h"
#include "engine/rt/call.h"
#include "engine/rt/context.h"
#include "engine/rt/descriptor_table.h"
#include "engine/rt/engine.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif

#define NAMESPACES (CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUSER)

static struct descriptor_table *mine(void)
{
	return current->descriptors;
}

bool descriptors_are_kept(void)
{
	return descriptor_table_is_used(mine());
}

static long open_image(void)
{
	return syscall4(__NR_openat, AT_FDCWD, (long)"/proc/self/exe", O_RDONLY | O_CLOEXEC, 0);
}

static long open_link(void)
{
	char path[64];
	struct text t;

	text_start(&t, path, sizeof(path));
	text_add(&t, "/proc/");
	text_add_number(&t, (uint64_t)engine_link->tool_pid);
	text_add(&t, "/fd/");
	text_add_number(&t, (uint64_t)engine_link->link_fd);
	return syscall4(__NR_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC, 0);
}

static long copy_of(int fd)
{
	return syscall3(__NR_fcntl, fd, F_DUPFD_CLOEXEC, 3);
}

long descriptors_image(void)
{
	return descriptors_are_kept() ? copy_of(descriptor_with(mine(), DESCRIPTOR_IMAGE))
				      : open_image();
}

long descriptors_link(void)
{
	return descriptors_are_kept() ? copy_of(descriptor_with(mine(), DESCRIPTOR_RUN))
				      : open_link();
}

static bool are_free(int fd, int count)
{
	for (int i = 0; i < count; i++)
		if (syscall2(__NR_fcntl, fd + i, F_GETFD) != -EBADF)
			return false;
	return true;
}

int descriptors_find(int count)
{
	uint64_t limit[2] = {1024, 0};
	int top, first;

	syscall4(__NR_prlimit64, 0, RLIMIT_NOFILE, 0, (long)limit);
	top = limit[0] < 1024 ? (int)limit[0] : 1024;
	first = top > 200 ? top - 100 : top - count;
	for (int fd = first; fd > 2; fd--)
		if (are_free(fd, count))
			return fd;
	for (int fd = first + 1; fd <= top - count; fd++)
		if (are_free(fd, count))
			return fd;
	return -1;
}

/* --- keeping them --- */

/* Opens both at adjacent numbers.  An error shows only when one of them is needed. */
static int open_both(void)
{
	long from[] = {descriptors_image(), descriptors_link()};
	int base = descriptors_find(2);
	bool there = base >= 0;

	for (int i = 0; i < 2; i++) {
		if (is_error(from[i]))
			there = false;
		else if (there)
			syscall3(__NR_dup3, from[i], base + i, O_CLOEXEC);
	}
	for (int i = 0; i < 2; i++)
		if (!is_error(from[i]))
			syscall1(__NR_close, from[i]);
	return there ? base : -1;
}

static void note_both(int base)
{
	descriptor_set(mine(), base, DESCRIPTOR_IMAGE);
	descriptor_set(mine(), base + LINK_FD_OFFSET, DESCRIPTOR_RUN);
}

/* Makes the kept image a memory file, which a process may execute whatever rules of Landlock say
 * of files. */
static void move_image(void)
{
	int image = descriptor_with(mine(), DESCRIPTOR_IMAGE);
	long memory = syscall2(__NR_memfd_create, (long)"softpmu", MFD_CLOEXEC | MFD_EXEC);
	long offset = 0, put;

	if (memory == -EINVAL) /* before Linux 6.3 */
		memory = syscall2(__NR_memfd_create, (long)"softpmu", MFD_CLOEXEC);
	if (is_error(memory))
		return;
	do
		put = syscall4(__NR_sendfile, memory, image, (long)&offset, 1 << 30);
	while (put > 0);
	if (!put)
		syscall3(__NR_dup3, memory, image, O_CLOEXEC);
	syscall1(__NR_close, memory);
}

void descriptors_keep(bool confined)
{
	int base;

	if (!current->observed || (descriptors_are_kept() && !confined))
		return;
	lock_take();
	base = descriptors_are_kept() ? -1 : open_both();
	if (base >= 0)
		note_both(base);
	if (confined && descriptors_are_kept())
		move_image();
	lock_release();
}

void descriptors_start(int base)
{
	current->descriptors = descriptor_table_new();
	if (base < 0)
		return;
	for (int i = 0; i < 2; i++)
		syscall3(__NR_fcntl, base + i, F_SETFD, FD_CLOEXEC);
	note_both(base);
}

bool descriptors_leads_elsewhere(const struct syscall_arguments *c)
{
	switch (c->nr) {
	case __NR_unshare:
		return c->a[0] & NAMESPACES;
	case __NR_clone:
		return c->a[0] & NAMESPACES;
	case __NR_clone3:
		return access_readable(c->a[0], 8) && *(const uint64_t *)c->a[0] & NAMESPACES;
	case __NR_prctl:
		return c->a[0] == PR_CAPBSET_DROP;
	case __NR_setns:
	case __NR_chroot:
	case __NR_pivot_root:
	case __NR_mount:
	case __NR_umount2:
	case __NR_move_mount:
	case __NR_setuid:
	case __NR_setgid:
	case __NR_setreuid:
	case __NR_setregid:
	case __NR_setresuid:
	case __NR_setresgid:
	case __NR_setfsuid:
	case __NR_capset:
	case __NR_landlock_restrict_self:
		return true;
	default:
		return false;
	}
}

/* --- what the program does to its descriptors --- */

void descriptors_inherit(struct context *c, bool shares)
{
	c->descriptors = shares ? descriptor_table_share(current->descriptors)
				: descriptor_table_copy(current->descriptors);
}

/* The program wants the number of a descriptor of the engine's: the engine takes others. */
static void make_way(void)
{
	const int before[] = {descriptor_with(mine(), DESCRIPTOR_IMAGE),
			      descriptor_with(mine(), DESCRIPTOR_RUN)};
	int base;

	lock_take();
	base = open_both();
	for (int i = 0; i < 2; i++) {
		descriptor_set(mine(), before[i], DESCRIPTOR_OF_PROGRAM);
		syscall1(__NR_close, before[i]);
	}
	if (base >= 0)
		note_both(base);
	lock_release();
}

/* Closes what is the program's, in pieces between what is not. */
static long close_pieces(const struct syscall_arguments *c)
{
	uint32_t first = (uint32_t)c->a[0], last = (uint32_t)c->a[1];
	long result = 0;
	int fd;

	while (!result && (fd = descriptor_between(mine(), first, last)) >= 0) {
		if ((uint32_t)fd > first)
			result = syscall3(__NR_close_range, first, fd - 1, (long)c->a[2]);
		first = (uint32_t)fd + 1;
	}
	if (!result && first <= last)
		result = syscall3(__NR_close_range, first, last, (long)c->a[2]);
	return result;
}

/* The running task does not share its descriptors any more. */
static void part(void)
{
	struct descriptor_table *shared = mine();

	lock_take();
	if (shared->users > 1) {
		current->descriptors = descriptor_table_copy(shared);
		descriptor_table_leave(shared);
	}
	lock_release();
}

static long unshare_first(const struct syscall_arguments *c)
{
	long result = pass_on(c);

	if (!result)
		part();
	return result;
}

static long close_range(const struct syscall_arguments *c)
{
	struct syscall_arguments unshare = {__NR_unshare, {CLONE_FILES}};
	long result;

	/* An error, or marked to be closed by execve(2), as the engine's are. */
	if (c->a[0] > c->a[1] || c->a[2] & ~(uint64_t)CLOSE_RANGE_UNSHARE)
		return pass_on(c);
	if (c->a[2]) {
		result = unshare_first(&unshare);
		if (result)
			return result;
	}
	return close_pieces(c);
}

static bool is_of_engine(uint64_t fd)
{
	return descriptor_role(mine(), (int)fd) != DESCRIPTOR_OF_PROGRAM;
}

long descriptors_call(const struct syscall_arguments *c)
{
	if (c->nr == __NR_unshare)
		return c->a[0] & CLONE_FILES ? unshare_first(c) : pass_on(c);
	if (!descriptor_table_is_used(mine()))
		return pass_on(c);
	if (c->nr == __NR_close_range)
		return close_range(c);
	if (is_of_engine(c->a[0]))
		return -EBADF;
	if ((c->nr == __NR_dup2 || c->nr == __NR_dup3) && is_of_engine(c->a[1]))
		make_way();
	return pass_on(c);
}
