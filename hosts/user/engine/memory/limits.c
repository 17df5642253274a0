/* SPDX-License-Identifier: MIT */
/*
 * limits.c: a limit of the address space (RLIMIT_AS, `ulimit -v`) applies to the program's
 * memory.  The kernel's limit is larger by LINK_ROOM_BYTES, which the engine may map.  The
 * program sees the limit without them.
 *
 * Where the kernel's limit cannot be raised, the program and the engine share the space, and the
 * engine uses a small code cache.
 *
 * While there is a limit, all of the engine's share is mapped, without rights.  So the program
 * has as much as natively, whatever the engine needs.
 */
#include "engine/memory/limits.h"

#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/resource.h>

#include "engine/rt/contexts.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define TIGHT_BYTES   UINT64_C(0x40000000)
#define OUTSIDE_BYTES UINT64_C(0x4f00000) /* image, code cache, first steps, first context */

static void reserve_room(void)
{
	uint64_t used = heap_end() - ENGINE_MEMORY + OUTSIDE_BYTES + context_bytes() - THREAD_BYTES;

	if (used < LINK_ROOM_BYTES)
		heap_reserve(LINK_ROOM_BYTES - used);
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

long limits_change(const struct rlimit64 *new, struct rlimit64 *old)
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
