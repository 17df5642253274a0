/* SPDX-License-Identifier: MIT */
/*
 * sys.h: what the engine has in place of a libc: system calls, memory and string
 * helpers, one-line messages.
 */
#ifndef SOFTPMU_ENGINE_SYS_H
#define SOFTPMU_ENGINE_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);

long syscall6(long nr, long a, long b, long c, long d, long e, long f);

static inline long syscall1(long nr, long a)
{
	return syscall6(nr, a, 0, 0, 0, 0, 0);
}
static inline long syscall2(long nr, long a, long b)
{
	return syscall6(nr, a, b, 0, 0, 0, 0);
}
static inline long syscall3(long nr, long a, long b, long c)
{
	return syscall6(nr, a, b, c, 0, 0, 0);
}
static inline long syscall4(long nr, long a, long b, long c, long d)
{
	return syscall6(nr, a, b, c, d, 0, 0);
}

static inline bool is_error(long result)
{
	return (unsigned long)result >= (unsigned long)-4095L;
}

/* mmap(2); the result is tested with is_error(). */
long map_memory(uint64_t address, size_t bytes, int protection, int flags, int fd, uint64_t offset);

/*
 * Where the engine's own mappings go, one after the other.  They and the engine's image
 * (mk/engine.mk) are between 0x550000000000 and 0x555555554000: the memory that sanitizers leave to
 * programs, below where Linux maps a position-independent program.  AddressSanitizer,
 * ThreadSanitizer, MemorySanitizer and DataFlowSanitizer have their shadows elsewhere, and the race
 * detector of Go has, too.
 */
#define ENGINE_MEMORY UINT64_C(0x553000000000) /* the heap is between the image's end and this */
/* The place of the next mapping. */
uint64_t engine_place(size_t bytes);
/* The end of all of them, and of what is reserved. */
uint64_t engine_memory_end(void);
/* What a mapping at such a place needs besides: MAP_FIXED where it is reserved. */
int engine_place_flags(uint64_t place, size_t bytes);
/* Maps so much more without rights: the next mappings take it from there. */
void engine_reserve(uint64_t bytes);
/* Anonymous memory for the engine itself; ends the run when there is none. */
void *engine_memory(size_t bytes);
/* The same in pages of 2 MB, where there are any: for what is looked at all over. */
void *engine_memory_large(size_t bytes);
void engine_release(void *memory, size_t bytes);
/* All of this memory is going to be written to: at once that costs less than page by page. */
void engine_populate(const void *memory, size_t bytes);

static inline uint64_t read_tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* Text of bounded size; always terminated. */
struct text {
	char *at, *end;
};
void text_start(struct text *t, char *buffer, size_t bytes);
void text_add(struct text *t, const char *s);
void text_add_number(struct text *t, uint64_t n);
void text_add_hex(struct text *t, uint64_t n);

#endif
