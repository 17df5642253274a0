/* SPDX-License-Identifier: MIT */
/*
 * limits.c: a limit of the address space (RLIMIT_AS, `ulimit -v`) is one of the program's memory:
 * the kernel's limit is larger by LINK_ROOM_BYTES, which the engine may have mapped.  The program
 * sees the limit without them.
 *
 * Where the kernel's limit cannot be raised, the program and the engine share what there is, and
 * the engine makes do with a small code cache.
 *
 * While there is a limit all of the room is mapped, without rights, so that the program has as much
 * as natively, whatever the engine needs.
 */
#include "limits.h"

#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/resource.h>

#include "engine.h"
#include "signals.h"
#include "sys.h"
#include "threads.h"

#define TIGHT_BYTES   UINT64_C(0x40000000)
#define OUTSIDE_BYTES UINT64_C(0x4000000) /* image, code cache, first steps, first context */

static void reserve_room(void)
{
	uint64_t used = engine_memory_end() - ENGINE_MEMORY + OUTSIDE_BYTES;

	if (used < LINK_ROOM_BYTES)
		engine_reserve(LINK_ROOM_BYTES - used);
}

static bool is_limit(uint64_t value)
{
	return value < RLIM64_INFINITY - LINK_ROOM_BYTES;
}

void limits_start(void)
{
	struct rlimit64 now = {0};

	if (engine_link->address_room && !syscall4(__NR_prlimit64, 0, RLIMIT_AS, 0, (long)&now) &&
	    is_limit(now.rlim_cur))
		reserve_room();
}

bool limits_are_tight(void)
{
	struct rlimit64 now = {0};

	return !engine_link->address_room &&
	       !syscall4(__NR_prlimit64, 0, RLIMIT_AS, 0, (long)&now) && now.rlim_cur < TIGHT_BYTES;
}

static long change(const struct rlimit64 *new, struct rlimit64 *old)
{
	struct rlimit64 with_room;
	long result;

	if (new) {
		with_room = *new;
		with_room.rlim_cur += is_limit(new->rlim_cur) ? LINK_ROOM_BYTES : 0;
		with_room.rlim_max += is_limit(new->rlim_max) ? LINK_ROOM_BYTES : 0;
		if (is_limit(new->rlim_cur))
			reserve_room();
	}
	result = syscall4(__NR_prlimit64, 0, RLIMIT_AS, new ? (long)&with_room : 0, (long)old);
	old->rlim_cur -= is_limit(old->rlim_cur) ? LINK_ROOM_BYTES : 0;
	old->rlim_max -= is_limit(old->rlim_max) ? LINK_ROOM_BYTES : 0;
	return result;
}

long limits_call(const struct syscall_arguments *c)
{
	bool both = c->nr == __NR_prlimit64;
	uint64_t resource = both ? c->a[1] : c->a[0];
	uint64_t from = both ? c->a[2] : c->nr == __NR_setrlimit ? c->a[1] : 0;
	uint64_t to = both ? c->a[3] : c->nr == __NR_getrlimit ? c->a[1] : 0;
	struct rlimit64 new, old = {0};
	long result;

	if (!engine_link->address_room || (uint32_t)resource != RLIMIT_AS ||
	    (both && c->a[0] && c->a[0] != current->pid) ||
	    (from && !memory_readable(from, sizeof(new))) ||
	    (to && !memory_writable(to, sizeof(old))))
		return syscall_pass_on(c);
	if (from)
		memcpy(&new, (const void *)from, sizeof(new));
	engine_lock();
	result = change(from ? &new : NULL, &old);
	engine_unlock();
	if (!result && to)
		memcpy((void *)to, &old, sizeof(old));
	return result;
}
