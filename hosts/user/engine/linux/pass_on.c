/* SPDX-License-Identifier: MIT */
/*
 * pass_on.c: system calls of the program that the kernel makes.  A page that is write-protected
 * because its code was translated may prevent the kernel from writing.
 */
#include "engine/linux/pass_on.h"

#include <asm/errno.h>

#include "engine/count/follow.h"
#include "engine/memory/regions.h"
#include "engine/rt/call.h"
#include "engine/rt/lock.h"
#include "engine/signal/signals.h"
#include "engine/watch/watch.h"
#include "engine/x86/enter.h"

#define TRIES 8

long pass_on_once(const struct syscall_arguments *c)
{
	bool lent;
	long result;

	follow_outside();
	lock_outside();
	lent = held_lend(c->nr);
	result = syscall_program(c->nr, c->a);
	if (lent)
		result = held_lent(c->nr, result);
	lock_inside();
	follow_inside();
	return result;
}

static void unwatch(uint64_t start, uint64_t bytes)
{
	lock_take();
	watch_end(start, bytes);
	lock_release();
}

/* Makes a call that writes to memory of the program where code may have been translated. */
long pass_on_writing(const struct syscall_arguments *c, uint64_t start, uint64_t bytes)
{
	if (watch_any(start, bytes))
		unwatch(start, bytes);
	return pass_on_once(c);
}

long pass_on(const struct syscall_arguments *c)
{
	long result = pass_on_once(c);

	/* A write-protected page of code may have been the cause.  Other threads may protect
	 * another page meanwhile. */
	for (unsigned i = 0; i < TRIES && result == -EFAULT && watch_any(0, PROGRAM_END); i++) {
		unwatch(0, PROGRAM_END);
		result = pass_on_once(c);
	}
	return result;
}
