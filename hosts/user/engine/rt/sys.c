/* SPDX-License-Identifier: MIT */
/*
 * sys.c: system calls, memory helpers and text for the engine, which has no libc.
 *
 * Short copies move word by word, because string instructions take long to start.
 */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "engine/rt/context.h"
#include "engine/rt/sys.h"

bool sys_has_context;

long sys_call6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	if (sys_has_context)
		current->calls++;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

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
			__asm__ volatile(""
					 :
					 :
					 /* Keeps the compiler from making it a call of itself. */
					 : "memory");
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
		__asm__ volatile(
			""
			:
			:
			: "memory"); /* keeps the compiler from making it a call of itself */
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

long sys_map(uint64_t address, size_t bytes, int protection, int flags, int fd, uint64_t offset)
{
	return sys_call6(__NR_mmap, (long)address, (long)bytes, protection, flags, fd,
			 (long)offset);
}

void sys_unmap(uint64_t address, size_t bytes)
{
	syscall2(__NR_munmap, (long)address, (long)bytes);
}

long sys_protect(uint64_t address, size_t bytes, int protection)
{
	return syscall3(__NR_mprotect, (long)address, (long)bytes, protection);
}

uint64_t sys_clock_ns(int clock)
{
	struct {
		int64_t s, ns;
	} t = {0, 0};

	syscall2(__NR_clock_gettime, clock, (long)&t);
	return (uint64_t)t.s * 1000000000u + (uint64_t)t.ns;
}

uint64_t sys_signal_mask(int how, uint64_t set)
{
	uint64_t old = 0;

	syscall4(__NR_rt_sigprocmask, how, (long)&set, (long)&old, 8);
	return old;
}
