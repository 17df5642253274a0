/* SPDX-License-Identifier: MIT */
/*
 * deterministic_places.c: places the mappings of a run that is the same each time: one below the
 * other, from a fixed address on.  A place that was unmapped is used again only after the end of
 * the area has been reached.
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/shm.h>

#include "engine/linux/deterministic.h"
#include "engine/memory/regions.h"
#include "engine/rt/call.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"
#include "engine/x86/enter.h"

#define TRIES_MAX 65536

#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif
#define MAP_HUGE_BITS 63

/* Places are taken from `top` down to `bottom`. */
struct area {
	uint64_t top, bottom, next;
};

/* The stack may grow by 4 GiB. */
static struct area usual = {DETERMINISTIC_STACK_END - (UINT64_C(1) << 32), UINT64_C(0x7e8000000000),
			    0};
static struct area large = {UINT64_C(0x7e0000000000), UINT64_C(0x750000000000), 0};
static struct area low = {UINT64_C(0x60000000), UINT64_C(0x40000000), 0}; /* MAP_32BIT */

static struct area *area_for(uint64_t bytes, uint64_t flags)
{
	if (flags & MAP_32BIT)
		return &low;
	return bytes > (usual.top - usual.bottom) / 8 ? &large : &usual;
}

/* Returns the next place of the area; 0: it is too small. */
static uint64_t next_place(struct area *a, uint64_t bytes, uint64_t align)
{
	if (bytes + align > a->top - a->bottom)
		return 0;
	if (!a->next || a->next - a->bottom < bytes + align)
		a->next = a->top;
	a->next = (a->next - bytes) & -align;
	return a->next;
}

static uint64_t alignment_of(uint64_t bytes, uint64_t flags)
{
	if (flags & MAP_HUGETLB && flags >> MAP_HUGE_SHIFT & MAP_HUGE_BITS)
		return UINT64_C(1) << (flags >> MAP_HUGE_SHIFT & MAP_HUGE_BITS);
	return flags & MAP_HUGETLB || bytes >= LARGE_PAGE ? LARGE_PAGE : PAGE;
}

static long call(const struct syscall_arguments *c)
{
	long result;

	lock_outside();
	result = syscall_program(c->nr, c->a);
	lock_inside();
	return result;
}

long deterministic_mmap(const struct syscall_arguments *c)
{
	uint64_t bytes = in_pages(c->a[1]), flags = c->a[3];
	struct area *area = area_for(bytes, flags);
	struct syscall_arguments placed = *c;
	long result;

	if (!bytes || bytes > PROGRAM_END)
		return call(c);
	placed.a[3] |= MAP_FIXED_NOREPLACE;
	placed.a[0] &= -PAGE;
	if (placed.a[0] && !is_error(result = call(&placed)))
		return result;
	/* A hint that cannot be followed is ignored. */
	result = -EEXIST;
	for (unsigned i = 0; i < TRIES_MAX && result == -EEXIST; i++) {
		placed.a[0] = next_place(area, bytes, alignment_of(bytes, flags));
		if (!placed.a[0])
			return call(c);
		result = call(&placed);
	}
	return result;
}

/* Returns a place that nothing else takes; 0: there is none. */
static uint64_t reserve(uint64_t bytes)
{
	for (unsigned i = 0; i < TRIES_MAX; i++) {
		uint64_t at = next_place(area_for(bytes, 0), bytes, alignment_of(bytes, 0));

		if (!at || (uint64_t)sys_map(at, bytes, PROT_NONE,
					     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
						     MAP_FIXED_NOREPLACE,
					     -1, 0) == at)
			return at;
	}
	return 0;
}

long deterministic_mremap(const struct syscall_arguments *c)
{
	struct syscall_arguments placed = *c;
	uint64_t bytes = in_pages(c->a[2]);
	long result = -ENOMEM;

	if (!(c->a[3] & MREMAP_MAYMOVE) || c->a[3] & MREMAP_FIXED || !bytes || bytes > PROGRAM_END)
		return call(c);
	if (c->a[1] && !(c->a[3] & MREMAP_DONTUNMAP)) {
		placed.a[3] &= ~(uint64_t)MREMAP_MAYMOVE;
		result = call(&placed);
	}
	if (result != -ENOMEM)
		return result;
	placed.a[3] = c->a[3] | MREMAP_FIXED;
	placed.a[4] = reserve(bytes);
	if (!placed.a[4])
		return call(c);
	result = call(&placed);
	if (is_error(result))
		syscall2(__NR_munmap, (long)placed.a[4], (long)bytes);
	return result;
}

long deterministic_shmat(const struct syscall_arguments *c)
{
	struct syscall_arguments placed = *c;
	struct shmid64_ds segment;
	uint64_t bytes;
	long result;

	if (c->a[1] || is_error(syscall3(__NR_shmctl, (long)c->a[0], IPC_STAT, (long)&segment)))
		return call(c);
	bytes = in_pages(segment.shm_segsz);
	placed.a[1] = bytes ? reserve(bytes) : 0;
	if (!placed.a[1])
		return call(c);
	placed.a[2] |= SHM_REMAP;
	result = call(&placed);
	if (is_error(result))
		syscall2(__NR_munmap, (long)placed.a[1], (long)bytes);
	return result;
}
