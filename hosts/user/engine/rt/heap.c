/* SPDX-License-Identifier: MIT */
/*
 * heap.c: memory for the engine itself, in a part of the address space where the kernel places
 * nothing of the program's.  So the amount that the engine needs (more when it translates, less
 * with the persistent code cache) changes no address of the program.
 */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

static uint64_t next_place = ENGINE_MEMORY, reserved_end = ENGINE_MEMORY;

/* One mapping for all that is small.  It ends with the page table that it begins in: each page
 * table more is copied at every fork. */
#define SMALL_MOST (256u << 10)
static uint64_t small_start, small_next, small_end;

uint64_t heap_place(size_t bytes)
{
	return __atomic_fetch_add(&next_place, in_pages(bytes), __ATOMIC_RELAXED);
}

uint64_t heap_end(void)
{
	uint64_t next = __atomic_load_n(&next_place, __ATOMIC_RELAXED);

	return next > reserved_end ? next : reserved_end;
}

int heap_place_flags(uint64_t place, size_t bytes)
{
	return place + bytes <= reserved_end ? MAP_FIXED : 0;
}

void heap_reserve(uint64_t bytes)
{
	uint64_t from = heap_end();

	if (!is_error(sys_map(from, bytes, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
			      0)))
		reserved_end = from + bytes;
}

static void *memory_at(uint64_t place, size_t bytes)
{
	long at = sys_map(place, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				  heap_place_flags(place, bytes),
			  -1, 0);

	if (is_error(at))
		engine_fail(126, "no memory for softpmu itself; a limit of the address space "
				 "(ulimit -v) may be too small");
	return (void *)at;
}

/* The first call is made before there are threads. */
static void start_small(void)
{
	size_t bytes = LARGE_PAGE - next_place % LARGE_PAGE;

	small_start = small_next = (uint64_t)memory_at(heap_place(bytes), bytes);
	small_end = small_start + bytes;
}

void *heap_allocate(size_t bytes)
{
	uint64_t at;

	if (!small_end)
		start_small();
	if (bytes < SMALL_MOST) {
		at = __atomic_fetch_add(&small_next, in_pages(bytes), __ATOMIC_RELAXED);
		if (at + bytes <= small_end)
			return (void *)at;
	}
	return memory_at(heap_place(bytes), bytes);
}

void *heap_allocate_large(size_t bytes)
{
	uint64_t place = heap_place(bytes + LARGE_PAGE);
	void *memory = memory_at((place + LARGE_PAGE - 1) & -LARGE_PAGE, bytes);

	syscall3(__NR_madvise, (long)memory, (long)bytes, MADV_HUGEPAGE);
	return memory;
}

void *heap_allocate_shared(size_t bytes)
{
	uint64_t place = heap_place(bytes);
	long at = sys_map(place, bytes, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS | heap_place_flags(place, bytes), -1, 0);

	return is_error(at) ? NULL : (void *)at;
}

void heap_populate(const void *memory, size_t bytes)
{
	uint64_t start = (uint64_t)memory & -PAGE;

	syscall3(__NR_madvise, (long)start, (long)((uint64_t)memory + bytes - start),
		 MADV_POPULATE_WRITE);
}

void heap_release(void *memory, size_t bytes)
{
	uint64_t at = (uint64_t)memory;

	if (at >= small_start && at < small_end) /* the mapping stays one */
		syscall3(__NR_madvise, (long)memory, (long)bytes, MADV_DONTNEED);
	else
		syscall2(__NR_munmap, (long)memory, (long)bytes);
}
