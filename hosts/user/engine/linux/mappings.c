/* SPDX-License-Identifier: MIT */
/*
 * mappings.c: the program's system calls that change its memory map.  Nothing is mapped with
 * PROT_EXEC; regions.c notes what the program asked for.
 */
#include "engine/linux/mappings.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/resource.h>

#include "engine/cache/cache.h"
#include "engine/count/count.h"
#include "engine/count/opened_records.h"
#include "engine/linux/deterministic.h"
#include "engine/linux/pass_on.h"
#include "engine/memory/places.h"
#include "engine/memory/regions.h"
#include "engine/persist/persist.h"
#include "engine/rt/call.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"
#include "engine/signal/rseq.h"
#include "engine/translate/sections.h"
#include "engine/translate/translate.h"
#include "engine/watch/aliases.h"
#include "engine/watch/watch.h"

#define STACK_MOST UINT64_C(0x4000000)
#define HINTS_MAX  16 /* mappings with a hint for which the code cache moves */

void mappings_add(uint64_t start, uint64_t bytes, int protection)
{
	persist_changed(start, start + in_pages(bytes));
	regions_add(start, bytes, protection);
}

static void mappings_remove(uint64_t start, uint64_t bytes)
{
	persist_changed(start, start + in_pages(bytes));
	regions_remove(start, bytes);
	sections_unmapped(start, start + in_pages(bytes));
}

void mappings_add_stack(uint64_t start, uint64_t end)
{
	uint64_t limit[2] = {STACK_MOST, 0}, room;

	syscall4(__NR_prlimit64, 0, RLIMIT_STACK, 0, (long)limit);
	room = limit[0] < STACK_MOST ? limit[0] : STACK_MOST;
	start = (start & -PAGE) - (room & -PAGE);
	end = in_pages(end);
	persist_changed(start, end);
	regions_add_stack(start, end);
}

/* Moves the code cache and the code of precise steps out of this range, which the program is
 * about to map, unmap or protect.  Returns false if something of the engine is there that cannot
 * move. */
static bool leave(uint64_t start, uint64_t bytes)
{
	uint64_t end = start + in_pages(bytes);

	if (bytes > PROGRAM_END || start > PROGRAM_END - bytes)
		return true; /* the kernel refuses it */
	places_reserve(start, end);
	if ((uint64_t)cache_base < end && start < (uint64_t)cache_end)
		variants_move();
	step_leave(start, end);
	places_release();
	return !places_of_engine(&start, &end);
}

static int without_exec(uint64_t protection)
{
	return (int)((protection & ~(uint64_t)PROT_EXEC) |
		     (protection & PROT_EXEC ? PROT_READ : 0));
}

/* Notes that the program replaces what is mapped there. */
static void take_place(uint64_t start, uint64_t bytes)
{
	if (!leave(start, bytes))
		engine_unsupported("the program maps memory at a fixed address where softpmu has "
				   "its own; /proc/self/maps shows that without rights");
	watch_code_changes(start, bytes);
}

/* Clears a place that the program would like to have, or that must be free. */
static void ask_for_place(const struct syscall_arguments *c)
{
	static unsigned hints;

	if (c->a[3] & MAP_FIXED_NOREPLACE || (c->a[0] && hints++ < HINTS_MAX))
		leave(c->a[0] & -PAGE, c->a[1]);
}

static long do_mmap(struct syscall_arguments *c)
{
	const struct syscall_arguments asked = *c;
	uint64_t protection = c->a[2], flags = c->a[3], placed = 0;
	bool fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
	bool module = !(flags & MAP_ANONYMOUS) &&
		      flags & MAP_DENYWRITE; /* dynamic loaders map modules with this flag */
	long at;

	if (flags & MAP_FIXED)
		take_place(c->a[0], c->a[1]);
	else
		ask_for_place(c);
	if (!fixed && !c->a[0] && c->a[1] && (module || protection & PROT_EXEC))
		c->a[0] = placed = place_library(c->a[1], PAGE);
	/* A hint is not followed for a large file, because Linux would align that mapping. */
	if (placed)
		c->a[3] |= MAP_FIXED_NOREPLACE;
	c->a[2] = (uint64_t)without_exec(protection);
	at = placed ? pass_on_once(c) : -EEXIST;
	if (at == -EEXIST) {
		c->a[0] = placed ? 0 : c->a[0];
		c->a[3] = flags;
		at = deterministic_wanted() && !fixed ? deterministic_mmap(c) : pass_on_once(c);
	}
	if (is_error(at))
		return at;
	mappings_add((uint64_t)at, c->a[1], (int)protection);
	aliases_mapped((uint64_t)at, c->a[1], &asked);
	if (protection & PROT_EXEC && !(protection & PROT_WRITE) &&
	    !(flags & (MAP_ANONYMOUS | MAP_SHARED)))
		persist_mapped((uint64_t)at, c->a[1], (int)c->a[4], c->a[5]);
	if (protection & PROT_EXEC || engine_wants(LINK_WANT_DATA_MAPS) ||
	    opened_records_want_data())
		record_mmap((uint64_t)at, in_pages(c->a[1]), c->a[5], (int)protection, (int)flags,
			    flags & MAP_ANONYMOUS ? -1 : (int)c->a[4],
			    flags & MAP_ANONYMOUS ? "//anon" : NULL);
	return at;
}

/* Unmaps everything except what the engine has mapped there, which is free memory for the
 * program. */
static long unmap_around(const struct syscall_arguments *c)
{
	uint64_t at = c->a[0], end = at + in_pages(c->a[1]);
	long result = 0;

	while (!result && at < end) {
		uint64_t from = at, to = end;
		struct syscall_arguments part = *c;

		if (!places_of_engine(&from, &to))
			from = to = end;
		part.a[0] = at;
		part.a[1] = from - at;
		if (from > at)
			result = pass_on_once(&part);
		at = to;
	}
	return result;
}

static long do_munmap(struct syscall_arguments *c)
{
	bool free = leave(c->a[0], c->a[1]);
	long result;

	watch_code_changes(c->a[0], c->a[1]);
	rseq_leave_area(c->a[0], c->a[1]);
	result = free ? pass_on_once(c) : unmap_around(c);
	if (!result) {
		mappings_remove(c->a[0], c->a[1]);
		aliases_unmapped(c->a[0], c->a[1]);
	}
	return result;
}

static long do_mprotect(struct syscall_arguments *c)
{
	uint64_t protection = c->a[2];
	bool was_code = region_code_end(c->a[0]) != 0;
	long result;

	if (!leave(c->a[0], c->a[1]))
		return -ENOMEM; /* for the program nothing is mapped there */
	watch_code_changes(c->a[0], c->a[1]);
	c->a[2] = (uint64_t)without_exec(protection);
	result = pass_on_once(c);
	if (result)
		return result;
	if (protection & PROT_EXEC && protection & PROT_GROWSDOWN)
		mappings_add_stack(c->a[0], c->a[0] + c->a[1]);
	else
		mappings_add(c->a[0], c->a[1], (int)protection);
	aliases_protected(c->a[0], c->a[1], protection);
	if (protection & PROT_EXEC && !was_code)
		record_mmap(c->a[0], in_pages(c->a[1]), 0, (int)protection, MAP_PRIVATE, -1,
			    "//anon");
	return 0;
}

static long do_mremap(struct syscall_arguments *c)
{
	bool code = region_code_end(c->a[0]) != 0;
	long at;

	if (!leave(c->a[0], c->a[1]))
		return -EFAULT; /* for the program nothing is mapped there */
	if (c->a[3] & MREMAP_FIXED)
		take_place(c->a[4], c->a[2]);
	watch_code_changes(c->a[0], c->a[1]);
	at = deterministic_wanted() ? deterministic_mremap(c) : pass_on_once(c);
	if (is_error(at))
		return at;
	mappings_remove(c->a[0], c->a[1]);
	mappings_add((uint64_t)at, c->a[2], code ? PROT_READ | PROT_WRITE | PROT_EXEC : PROT_READ);
	aliases_moved(c->a[0], c->a[1], (uint64_t)at, c->a[2],
		      !c->a[1] || c->a[3] & MREMAP_DONTUNMAP);
	return at;
}

long mappings_call(struct syscall_arguments *c)
{
	long result;

	lock_take();
	switch (c->nr) {
	case __NR_mmap:
		result = do_mmap(c);
		break;
	case __NR_munmap:
		result = do_munmap(c);
		break;
	case __NR_mremap:
		result = do_mremap(c);
		break;
	case __NR_shmat:
		result = deterministic_shmat(c);
		break;
	default:
		result = do_mprotect(c);
	}
	lock_release();
	return result;
}
