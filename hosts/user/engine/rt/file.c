/* SPDX-License-Identifier: MIT */
/* file.c: what the engine needs to know about the process's files. */
#include "engine/rt/file.h"

#include <asm/unistd.h>
#include <linux/resource.h>

#include "engine/rt/sys.h"

void file_name(int fd, char *path, size_t bytes)
{
	char link_name[32];
	struct text t;
	long n;

	text_start(&t, link_name, sizeof(link_name));
	text_add(&t, "/proc/self/fd/");
	text_add_number(&t, (uint64_t)fd);
	n = syscall3(__NR_readlink, (long)link_name, (long)path, (long)bytes - 1);
	path[is_error(n) ? 0 : n] = 0;
}

bool file_may_have(uint64_t bytes)
{
	uint64_t limit[2] = {0, 0};

	syscall4(__NR_prlimit64, 0, RLIMIT_FSIZE, 0, (long)limit);
	return bytes <= limit[0];
}

bool file_stat(int fd, struct stat *stat)
{
	return !is_error(syscall2(__NR_fstat, fd, (long)stat));
}
