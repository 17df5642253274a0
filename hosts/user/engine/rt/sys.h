/* SPDX-License-Identifier: MIT */
/*
 * sys.h: the engine's replacement of a libc: system calls, memory and string helpers, one-line
 * messages.
 */
#ifndef SOFTPMU_ENGINE_SYS_H
#define SOFTPMU_ENGINE_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE	   UINT64_C(4096)
#define LARGE_PAGE (UINT64_C(1) << 21)

/* Rounds a size or an address up to whole pages. */
static inline uint64_t in_pages(uint64_t bytes)
{
	return (bytes + PAGE - 1) & -PAGE;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);

/* GS holds a context, which counts the calls. */
extern bool sys_has_context;
long sys_call6(long nr, long a, long b, long c, long d, long e, long f);

static inline long syscall1(long nr, long a)
{
	return sys_call6(nr, a, 0, 0, 0, 0, 0);
}
static inline long syscall2(long nr, long a, long b)
{
	return sys_call6(nr, a, b, 0, 0, 0, 0);
}
static inline long syscall3(long nr, long a, long b, long c)
{
	return sys_call6(nr, a, b, c, 0, 0, 0);
}
static inline long syscall4(long nr, long a, long b, long c, long d)
{
	return sys_call6(nr, a, b, c, d, 0, 0);
}

static inline bool is_error(long result)
{
	return (unsigned long)result >= (unsigned long)-4095L;
}

/* mmap(2).  Test the result with is_error(). */
long sys_map(uint64_t address, size_t bytes, int protection, int flags, int fd, uint64_t offset);

/*
 * The place of the engine's own mappings, one after the other.  They and the engine's image
 * (mk/engine.mk) are between 0x550000000000 and 0x555555554000.  Sanitizers leave that memory to
 * programs, and Linux maps position-independent programs above it.  AddressSanitizer,
 * ThreadSanitizer, MemorySanitizer, DataFlowSanitizer and Go's race detector have their shadows
 * elsewhere.
 */
#define ENGINE_MEMORY UINT64_C(0x553000000000) /* the heap is between the image's end and this */
/* Returns the place of the next mapping. */
uint64_t heap_place(size_t bytes);
/* Returns the end of all mappings, including what is reserved. */
uint64_t heap_end(void);
/* Returns the additional flags of a mapping at such a place: MAP_FIXED where memory is reserved. */
int heap_place_flags(uint64_t place, size_t bytes);
/* Reserves memory without rights, from which the next mappings are taken. */
void heap_reserve(uint64_t bytes);
/* Returns anonymous memory for the engine itself.  Ends the run if there is none. */
void *heap_allocate(size_t bytes);
/* The same in pages of 2 MB, if possible: for memory that is accessed at random. */
void *heap_allocate_large(size_t bytes);
/* The same shared with processes that are forked later; NULL: there is none. */
void *heap_allocate_shared(size_t bytes);
void heap_release(void *memory, size_t bytes);
/* Populates memory that is going to be written completely.  That is cheaper than page by page. */
void heap_populate(const void *memory, size_t bytes);

/* munmap(2), mprotect(2). */
void sys_unmap(uint64_t address, size_t bytes);
long sys_protect(uint64_t address, size_t bytes, int protection);

/* The time of a clock in nanoseconds. */
uint64_t sys_clock_ns(int clock);

/* The kernel's mask of signals; what it was. */
uint64_t sys_signal_mask(int how, uint64_t set);

static inline uint64_t read_tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* Text of bounded size, always terminated. */
struct text {
	char *at, *end;
};
void text_start(struct text *t, char *buffer, size_t bytes);
void text_add(struct text *t, const char *s);
void text_add_number(struct text *t, uint64_t n);
void text_add_hex(struct text *t, uint64_t n);

#endif
