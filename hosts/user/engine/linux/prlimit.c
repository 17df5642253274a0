/* SPDX-License-Identifier: MIT */
/* prlimit.c: the program's system calls on its limits.  The engine handles RLIMIT_AS. */
#include "engine/linux/prlimit.h"

#include <asm/unistd.h>
#include <linux/resource.h>

#include "engine/linux/pass_on.h"
#include "engine/memory/access.h"
#include "engine/memory/limits.h"
#include "engine/rt/call.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"

long prlimit_call(const struct syscall_arguments *c)
{
	bool both = c->nr == __NR_prlimit64;
	uint64_t resource = both ? c->a[1] : c->a[0];
	uint64_t from = both ? c->a[2] : c->nr == __NR_setrlimit ? c->a[1] : 0;
	uint64_t to = both ? c->a[3] : c->nr == __NR_getrlimit ? c->a[1] : 0;
	struct rlimit64 new, old = {0};
	long result;

	if (!engine_link->address_room || (uint32_t)resource != RLIMIT_AS ||
	    (both && c->a[0] && c->a[0] != current->pid) ||
	    (from && !access_readable(from, sizeof(new))) ||
	    (to && !access_writable(to, sizeof(old))))
		return pass_on(c);
	if (from)
		memcpy(&new, (const void *)from, sizeof(new));
	lock_take();
	result = limits_change(from ? &new : NULL, &old);
	lock_release();
	if (!result && to)
		memcpy((void *)to, &old, sizeof(old));
	return result;
}
