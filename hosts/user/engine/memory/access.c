/* SPDX-License-Identifier: MIT */
/*
 * access.c: checks whether the program's memory can be read or written, before the engine does
 * so for the program.
 */
#include "engine/memory/access.h"

#include <asm/errno.h>
#include <asm/unistd.h>

#include "engine/rt/sys.h"
#include "engine/x86/enter.h"

#define SEEN 64 /* pages that could be read */

bool access_readable(uint64_t start, uint64_t bytes)
{
	for (uint64_t at = start; at < start + bytes; at = (at & -PAGE) + PAGE)
		if (!probe_read(at))
			return false;
	return start + bytes >= start && (!bytes || probe_read(start + bytes - 1));
}

/* The kernel reads the mask before it refuses to change it that way. */
static bool kernel_can_read(uint64_t at)
{
	return syscall4(__NR_rt_sigprocmask, -1, (long)at, 0, sizeof(uint64_t)) != -EFAULT;
}

bool access_guess_readable(uint64_t start, uint64_t bytes)
{
	static uint32_t seen[SEEN]; /* shared by all threads; a lost update does not matter */
	uint32_t page = (uint32_t)(start / PAGE), *known = &seen[page % SEEN];

	if (__atomic_load_n(known, __ATOMIC_RELAXED) != page) {
		if (!kernel_can_read(start))
			return false;
		__atomic_store_n(known, page, __ATOMIC_RELAXED);
	}
	return access_readable(start, bytes);
}

bool access_writable(uint64_t start, uint64_t bytes)
{
	for (uint64_t at = start; at < start + bytes; at = (at & -PAGE) + PAGE)
		if (!probe_write(at))
			return false;
	return start + bytes >= start && (!bytes || probe_write(start + bytes - 1));
}
