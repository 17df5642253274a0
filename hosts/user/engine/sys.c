/* SPDX-License-Identifier: MIT */
/*
 * sys.c: system calls, memory helpers and text for the engine, which has no libc.
 * Short copies go word by word, since the string instructions take long to start.
 */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "engine.h"
#include "sys.h"

long syscall6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#define MEMORY_STEP 4096u
#define LARGE_PAGE  (UINT64_C(1) << 21)
#define SHORT_BYTES 512

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	void *start = to;

	if (n <= SHORT_BYTES)
		for (; n >= 8; n -= 8) {
			uint64_t word;

			__builtin_memcpy(&word, from, 8);
			__builtin_memcpy(to, &word, 8);
			from = (const uint8_t *)from + 8;
			to = (uint8_t *)to + 8;
			__asm__ volatile("" : : : "memory"); /* stays a loop: no call of itself */
		}
	if (!n)
		return start;
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	return start;
}

void *memmove(void *to, const void *from, size_t n)
{
	uint8_t *d = to;
	const uint8_t *s = from;

	if (d <= s || d >= s + n)
		return memcpy(to, from, n);
	while (n--) {
		d[n] = s[n];
		__asm__ volatile("" : : : "memory"); /* stays a loop: no call of itself */
	}
	return to;
}

void *memset(void *to, int byte, size_t n)
{
	uint64_t word = (uint8_t)byte * UINT64_C(0x0101010101010101);
	void *start = to;

	if (n <= SHORT_BYTES)
		for (; n >= 8; n -= 8) {
			__builtin_memcpy(to, &word, 8);
			to = (uint8_t *)to + 8;
			__asm__ volatile("" : : : "memory");
		}
	if (!n)
		return start;
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(byte) : "memory");
	return start;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *x = a, *y = b;

	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

size_t strlen(const char *s)
{
	const char *end = s;

	while (*end) {
		end++;
		__asm__ volatile("" : "+r"(end));
	}
	return (size_t)(end - s);
}

long map_memory(uint64_t address, size_t bytes, int protection, int flags, int fd, uint64_t offset)
{
	return syscall6(__NR_mmap, (long)address, (long)bytes, protection, flags, fd, (long)offset);
}

/* In a part of the address space where the kernel places nothing of the program's: what the engine
 * needs, more when it translates and less when translations have been kept, moves nothing there. */
static uint64_t next_place = ENGINE_MEMORY, reserved_end = ENGINE_MEMORY;

uint64_t engine_place(size_t bytes)
{
	uint64_t room = (bytes + MEMORY_STEP - 1) & -(uint64_t)MEMORY_STEP;

	return __atomic_fetch_add(&next_place, room, __ATOMIC_RELAXED);
}

uint64_t engine_memory_end(void)
{
	uint64_t next = __atomic_load_n(&next_place, __ATOMIC_RELAXED);

	return next > reserved_end ? next : reserved_end;
}

int engine_place_flags(uint64_t place, size_t bytes)
{
	return place + bytes <= reserved_end ? MAP_FIXED : 0;
}

void engine_reserve(uint64_t bytes)
{
	uint64_t from = engine_memory_end();

	if (!is_error(map_memory(from, bytes, PROT_NONE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
				 -1, 0)))
		reserved_end = from + bytes;
}

static void *memory_at(uint64_t place, size_t bytes)
{
	long at = map_memory(place, bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				     engine_place_flags(place, bytes),
			     -1, 0);

	if (is_error(at))
		engine_fail(126, "no memory for softpmu itself; a limit of the address space "
				 "(ulimit -v) may be too small");
	return (void *)at;
}

void *engine_memory(size_t bytes)
{
	return memory_at(engine_place(bytes), bytes);
}

void *engine_memory_large(size_t bytes)
{
	uint64_t place = engine_place(bytes + LARGE_PAGE);
	void *memory = memory_at((place + LARGE_PAGE - 1) & -LARGE_PAGE, bytes);

	syscall3(__NR_madvise, (long)memory, (long)bytes, MADV_HUGEPAGE);
	return memory;
}

void engine_populate(const void *memory, size_t bytes)
{
	uint64_t start = (uint64_t)memory & -(uint64_t)MEMORY_STEP;

	syscall3(__NR_madvise, (long)start, (long)((uint64_t)memory + bytes - start),
		 MADV_POPULATE_WRITE);
}

void engine_release(void *memory, size_t bytes)
{
	syscall2(__NR_munmap, (long)memory, (long)bytes);
}

void text_start(struct text *t, char *buffer, size_t bytes)
{
	t->at = buffer;
	t->end = buffer + bytes - 1;
	*t->at = 0;
}

void text_add(struct text *t, const char *s)
{
	while (*s && t->at < t->end)
		*t->at++ = *s++;
	*t->at = 0;
}

static void add_in_base(struct text *t, uint64_t n, unsigned base)
{
	char digits[24];
	char *p = digits + sizeof(digits) - 1;

	*p = 0;
	do {
		*--p = "0123456789abcdef"[n % base];
		n /= base;
	} while (n);
	text_add(t, p);
}

void text_add_number(struct text *t, uint64_t n)
{
	add_in_base(t, n, 10);
}

void text_add_hex(struct text *t, uint64_t n)
{
	text_add(t, "0x");
	add_in_base(t, n, 16);
}
