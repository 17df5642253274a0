/* SPDX-License-Identifier: MIT */
/*
 * vsyscall.c: the page at the same address in each process through which old programs call
 * gettimeofday(2), time(2) and getcpu(2).
 *
 * Linux has no code there.  It makes the call when the address is fetched, and returns to the
 * caller.  So does the engine.  No instruction of the page retires.
 */
#include "engine/linux/vsyscall.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <asm/vsyscall.h>
#include <linux/fcntl.h>

#include "engine/count/flow.h"
#include "engine/linux/syscalls.h"
#include "engine/memory/access.h"
#include "engine/rt/call.h"
#include "engine/rt/context.h"
#include "engine/rt/context_words.h"
#include "engine/rt/sys.h"

#define FUNCTION_STEP 1024
#define PIECE_BYTES   4096

static const char page_name[] = "[vsyscall]";

/* Returns whether the name is in the text.  Its end may be in the next piece, so the end of this
 * one is read again. */
static bool is_named(const char *text, size_t bytes)
{
	for (size_t i = 0; i + sizeof(page_name) - 1 <= bytes; i++)
		if (!memcmp(text + i, page_name, sizeof(page_name) - 1))
			return true;
	return false;
}

/* Returns whether the kernel has the page; it may be disabled (vsyscall=none). */
static bool look_for_page(void)
{
	char piece[PIECE_BYTES];
	long fd = syscall4(__NR_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	size_t kept = 0;
	bool found = false;
	long got;

	if (is_error(fd))
		return true;
	while (!found && (got = syscall3(__NR_read, fd, (long)(piece + kept),
					 (long)(sizeof(piece) - kept))) > 0) {
		found = is_named(piece, kept + (size_t)got);
		kept += (size_t)got;
		if (kept >= sizeof(page_name)) {
			memmove(piece, piece + kept - sizeof(page_name), sizeof(page_name));
			kept = sizeof(page_name);
		}
	}
	syscall1(__NR_close, fd);
	return found;
}

static bool has_page(void)
{
	static int known; /* 0: not checked yet */

	if (!known)
		known = look_for_page() ? 1 : -1;
	return known > 0;
}

bool vsyscall_run(void)
{
	static const long calls[] = {__NR_gettimeofday, __NR_time, __NR_getcpu};
	uint64_t function = current->pc - VSYSCALL_ADDR, *g = current->gpr, caller;
	struct syscall_arguments c = {0, {g[7], g[6], g[2]}};
	long result;

	if (function % FUNCTION_STEP ||
	    function / FUNCTION_STEP >= sizeof(calls) / sizeof(*calls) || !has_page() ||
	    !access_readable(g[4], sizeof(caller)))
		return false;
	c.nr = calls[function / FUNCTION_STEP];
	result = syscall_make(&c);
	if (current->call == CALL_NOT_BEGUN || current->call == CALL_AGAIN)
		return true; /* after the signal */
	if (current->call == CALL_TRAPPED)
		result = calls[function / FUNCTION_STEP];
	if (result == -EFAULT)
		return false;
	memcpy(&caller, (const void *)g[4], sizeof(caller));
	g[0] = (uint64_t)result;
	g[4] += sizeof(caller);
	flow_break(caller, 0);
	current->pc = caller;
	return true;
}
