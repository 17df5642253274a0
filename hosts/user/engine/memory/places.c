/* SPDX-License-Identifier: MIT */
/*
 * places.c: chooses places for mappings.
 *
 * All code that asks for no address is in one window below 2 GiB, together with the code cache:
 * first the cache and the code of precise steps, then the program, and libraries from the top
 * down.
 *
 * Programs mostly map fixed addresses that are round, so the parts of the window are not.  If a
 * program still maps something at the place of the cache, the cache is emptied and moved.  The
 * engine's image, its memory (sys.h) and the first thread's context never move.
 */
#include "engine/memory/places.h"

#include <asm/unistd.h>
#include <linux/mman.h>

#include "engine/rt/sys.h"

#define LOWEST UINT64_C(0x10000) /* usually vm.mmap_min_addr */
#define CACHE_PLACE                                                                                \
	UINT64_C(0x0b000000) /* it ends before 0x10000000, together with the first steps */
#define PROGRAM_PLACE UINT64_C(0x15600000)
#define PROGRAM_LARGE UINT64_C(0x555555554000)
#define PLACE_STEP    UINT64_C(0x100000)
#define CACHE_STEP    UINT64_C(0x1000000)
#define RESERVED_MAX  64
#define KEPT_MAX      32

struct range {
	uint64_t start, end;
};

static struct range reserved[RESERVED_MAX], kept[KEPT_MAX];
static unsigned reserveds, kepts; /* unused entries are empty */
static uint64_t library_below;

extern const char __ehdr_start[], _end[]; /* of the engine's image */

static bool overlap(struct range r, uint64_t start, uint64_t end)
{
	return r.start < end && start < r.end;
}

void places_reserve(uint64_t start, uint64_t end)
{
	if (reserveds < RESERVED_MAX)
		reserved[reserveds++] = (struct range){start, end};
}

void places_release(void)
{
	reserveds = 0;
}

bool place_is_free(uint64_t start, uint64_t bytes)
{
	long got;

	for (unsigned i = 0; i < reserveds; i++)
		if (overlap(reserved[i], start, start + bytes))
			return false;
	got = sys_map(start, bytes, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (is_error(got))
		return false;
	syscall2(__NR_munmap, got, (long)bytes);
	return (uint64_t)got == start;
}

/* Returns the lowest free place of the range; 0: there is none. */
static uint64_t find_above(struct range in, uint64_t bytes, uint64_t step)
{
	for (uint64_t at = (in.start + step - 1) & -step; bytes <= in.end && at <= in.end - bytes;
	     at += step)
		if (place_is_free(at, bytes))
			return at;
	return 0;
}

uint64_t place_library(uint64_t bytes, uint64_t align)
{
	bytes = in_pages(bytes);
	if (!library_below)
		library_below = CONTEXT_PLACE;
	while (bytes < library_below && library_below - bytes > PROGRAM_PLACE) {
		uint64_t at = (library_below - bytes) & -align;

		if (place_is_free(at, bytes)) {
			library_below = at;
			return at;
		}
		library_below -= PLACE_STEP;
	}
	return 0;
}

uint64_t place_program(uint64_t bytes, uint64_t align)
{
	const struct range window = {PROGRAM_PLACE, CONTEXT_PLACE};
	uint64_t step = align > PLACE_STEP ? align : PLACE_STEP;
	uint64_t large = (PROGRAM_LARGE + align - 1) & -align, at;

	bytes = in_pages(bytes);
	at = find_above(window, bytes, step);
	if (!at && place_is_free(large, bytes))
		at = large;
	return at;
}

uint64_t place_anywhere(uint64_t bytes, uint64_t align)
{
	long got;

	bytes = in_pages(bytes) + align;
	got = sys_map(0, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (is_error(got))
		return 0;
	syscall2(__NR_munmap, got, (long)bytes);
	return ((uint64_t)got + align - 1) & -align;
}

uint64_t place_low(uint64_t bytes, uint64_t below, uint64_t above)
{
	uint64_t step = bytes < LOWEST ? PAGE : PLACE_STEP;
	uint64_t at = find_above((struct range){above, CONTEXT_PLACE}, bytes, step);

	return at ? at : find_above((struct range){LOWEST, below}, bytes, step);
}

uint64_t place_cache(uint64_t bytes)
{
	const struct range window = {CACHE_PLACE, CONTEXT_PLACE};
	const struct range all = {LOWEST, CONTEXT_PLACE};
	uint64_t at = find_above(window, bytes, CACHE_STEP);

	/* A small cache fits below a program that is linked for Linux's usual address. */
	return at ? at : find_above(all, bytes, bytes < CACHE_STEP ? LOWEST : PLACE_STEP);
}

/* --- places of the engine's own --- */

void places_keep(uint64_t start, uint64_t bytes)
{
	unsigned i = __atomic_fetch_add(&kepts, 1, __ATOMIC_RELAXED);

	if (i < KEPT_MAX)
		kept[i] = (struct range){start, start + bytes};
}

bool places_of_engine(uint64_t *start, uint64_t *end)
{
	const struct range fixed[] = {
		{(uint64_t)__ehdr_start, in_pages((uint64_t)_end)},
		{ENGINE_MEMORY, heap_end()},
	};
	struct range first = {*end, *end};

	for (unsigned i = 0; i < 2 + KEPT_MAX; i++) {
		struct range r = i < 2 ? fixed[i] : kept[i - 2];

		if (overlap(r, *start, *end) && r.start < first.start)
			first = r;
	}
	if (first.start == *end)
		return false;
	*start = first.start > *start ? first.start : *start;
	*end = first.end < *end ? first.end : *end;
	return true;
}
