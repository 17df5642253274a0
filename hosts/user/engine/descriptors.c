/* SPDX-License-Identifier: MIT */
/*
 * descriptors.c: how the next image of a process gets at the engine's image and at the memory of
 * the run: through /proc, as long as the process sees there what the tool does.  One that is going
 * to be elsewhere (namespaces, another root, another user, fewer rights) opens both before and
 * takes them along.  The program cannot close them, and does not meet them but in /proc/self/fd.
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/close_range.h>
#include <linux/fcntl.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/sched.h>

#include "descriptors.h"
#include "sys.h"
#include "threads.h"

#define NAMESPACES (CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUSER)

static int kept = -1; /* the first of the two: the image, and behind it the memory */

/* A child that borrows or shares the memory has descriptors of its own. */
static int *mine(void)
{
	return current->borrowed || current->shares ? &current->own_kept : &kept;
}

int descriptors_kept(void)
{
	return *mine();
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
	return *mine() < 0 ? open_image() : copy_of(*mine());
}

long descriptors_link(void)
{
	return *mine() < 0 ? open_link() : copy_of(*mine() + LINK_FD_OFFSET);
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

/* Two at neighbouring numbers; what cannot be had now is missed when it is wanted. */
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

void descriptors_keep(void)
{
	if (!current->observed || *mine() >= 0)
		return;
	engine_lock();
	if (*mine() < 0)
		*mine() = open_both();
	engine_unlock();
}

void descriptors_keep_these(int fd)
{
	kept = fd;
	for (int i = 0; i < 2; i++)
		syscall3(__NR_fcntl, fd + i, F_SETFD, 1 /* FD_CLOEXEC */);
}

bool descriptors_leads_elsewhere(const struct syscall_arguments *c)
{
	switch (c->nr) {
	case __NR_unshare:
		return c->a[0] & NAMESPACES;
	case __NR_clone:
		return c->a[0] & NAMESPACES;
	case __NR_clone3:
		return memory_readable(c->a[0], 8) && *(const uint64_t *)c->a[0] & NAMESPACES;
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
		return true;
	default:
		return false;
	}
}

/* --- what the program does to its descriptors --- */

static bool is_kept(uint64_t fd)
{
	return (uint32_t)fd - (uint32_t)*mine() < 2;
}

/* The program wants one of the numbers. */
static void move(void)
{
	int before = *mine();

	engine_lock();
	*mine() = open_both();
	engine_unlock();
	for (int i = 0; i < 2; i++)
		syscall1(__NR_close, before + i);
}

static long close_around(const struct syscall_arguments *c)
{
	uint32_t first = (uint32_t)c->a[0], last = (uint32_t)c->a[1], low = (uint32_t)*mine();
	long result = 0;

	if (first < low)
		result = syscall3(__NR_close_range, first, last < low ? last : low - 1,
				  (long)c->a[2]);
	if (!result && last > low + 1)
		result = syscall3(__NR_close_range, first > low + 2 ? first : low + 2, last,
				  (long)c->a[2]);
	return result;
}

bool descriptors_guard(const struct syscall_arguments *c, long *result)
{
	if (*mine() < 0)
		return false;
	switch (c->nr) {
	case __NR_close:
		*result = -EBADF;
		return is_kept(c->a[0]);
	case __NR_dup2:
	case __NR_dup3:
		if (is_kept(c->a[0])) {
			*result = -EBADF;
			return true;
		}
		if (is_kept(c->a[1]))
			move();
		return false;
	case __NR_close_range:
		if (c->a[0] > c->a[1] || c->a[2] & ~(uint64_t)CLOSE_RANGE_UNSHARE)
			return false; /* an error, or marked to be closed by exec, as they are */
		*result = close_around(c);
		return true;
	default:
		return false;
	}
}
