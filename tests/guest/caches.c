/* SPDX-License-Identifier: MIT */
/*
 * caches.c PHASE [TIMES]: a program whose cache misses and mispredictions are known (guest.sh has
 * the numbers).
 *
 * near		LOADS loads of 64 lines: the first level has them.
 * second	LOADS loads that go round in 4096 lines: the second level has them.
 * last		LOADS loads that go round in 49152 lines: a last level of several megabytes has
 *		them.
 * memory	LOADS loads of every second line of 51 MB, once: no cache has them.
 * alias	LOADS loads that go round in 64 mappings of one page: physically they are one line,
 *		and by linear addresses they would need 64 ways of one set.
 * random	LOADS branches, each taken or not at random.
 * turns	LOADS branches, taken every second time.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOADS	 400000u
#define LINE	 64u
#define PAGE	 4096u
#define MAPPINGS 64u

static volatile uint8_t *memory(size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		    -1, 0);
}

static unsigned times = 1;

/* The loop's only load is that of `at`. */
__attribute__((noinline)) void walk(const volatile uint8_t *at, unsigned lines, unsigned stride)
{
	const volatile uint8_t *first = at, *end = at + (size_t)lines * stride;

	for (unsigned n = times * LOADS; n; n--) {
		(void)*at;
		at += stride;
		if (at == end)
			at = first;
	}
}

static void walk_aliases(void)
{
	int file = memfd_create("page", 0);
	volatile uint8_t *at = memory((size_t)MAPPINGS * PAGE);

	if (ftruncate(file, PAGE))
		_exit(1);
	for (unsigned i = 0; i < MAPPINGS; i++)
		if (mmap((void *)(uintptr_t)(at + (size_t)i * PAGE), PAGE, PROT_READ,
			 MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, 0) == MAP_FAILED)
			_exit(1);
	walk(at, MAPPINGS, PAGE);
}

__attribute__((noinline)) unsigned branch(unsigned mask, unsigned shift)
{
	uint64_t state = 1;
	unsigned taken = 0;

	for (unsigned n = LOADS; n; n--) {
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		/* No compiler makes a conditional move of it. */
		__asm__ volatile("test %1, %2\n\t"
				 "jz 1f\n\t"
				 "inc %0\n"
				 "1:"
				 : "+r"(taken)
				 : "r"(mask), "r"((unsigned)(shift ? state >> shift : n))
				 : "cc");
	}
	return taken;
}

int main(int argc, char **argv)
{
	const char *phase = argc > 1 ? argv[1] : "";

	if (argc > 2)
		times = (unsigned)atoi(argv[2]);
	if (!strcmp(phase, "near"))
		walk(memory(64 * LINE), 64, LINE);
	else if (!strcmp(phase, "second"))
		walk(memory(4096 * LINE), 4096, LINE);
	else if (!strcmp(phase, "last"))
		walk(memory(49152 * LINE), 49152, LINE);
	else if (!strcmp(phase, "memory"))
		walk(memory((size_t)2 * LOADS * LINE), LOADS, 2 * LINE);
	else if (!strcmp(phase, "alias"))
		walk_aliases();
	else if (!strcmp(phase, "random"))
		return branch(1, 40) == 0;
	else if (!strcmp(phase, "turns"))
		return branch(1, 0) == 0;
	else
		return 1;
	return 0;
}
