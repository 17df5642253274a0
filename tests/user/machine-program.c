/* SPDX-License-Identifier: MIT */
/*
 * machine-program.c: accesses memory and branches in many ways, at addresses that are the same in
 * each run: it has no library, its stack is an array, and it has no arguments.  SUBJECT is one of
 * its functions.
 */
#include <stdint.h>

#define BIG   (24u << 20)
#define SMALL (256u << 10)
#define TURNS 2000

static uint8_t big[BIG] __attribute__((aligned(4096)));
uint8_t small[SMALL] __attribute__((aligned(4096)));
__attribute__((used)) static uint8_t stack[1u << 20] __attribute__((aligned(4096)));
static volatile uint64_t sink;

static uint64_t state = 1;
static uint32_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33);
}

/* --- data --- */

static void walk(void)
{
	uint64_t sum = 0;

	for (unsigned step = 4; step <= 4096; step *= 4)
		for (unsigned turn = 0; turn < 3; turn++)
			for (unsigned i = 0; i < SMALL; i += step)
				sum += *(volatile uint32_t *)(small + i);
	sink = sum;
}

static void chase(void)
{
	for (unsigned i = 0; i < 200000; i++) {
		uint8_t *p = big + (uint64_t)draw() % (BIG / 64) * 64;

		*(volatile uint64_t *)p += 1;
		sink = p[32];
	}
}

static void splits(void)
{
	for (unsigned i = 0; i < TURNS * 20; i++) {
		uint8_t *p = small + draw() % (SMALL - 16);

		__asm__ volatile("movups (%0), %%xmm0; movups %%xmm0, 5(%0); movq 3(%0), %%xmm1"
				 :
				 : "r"(p)
				 : "xmm0", "xmm1", "memory");
	}
}

static void strings(void)
{
	for (unsigned i = 0; i < TURNS; i++) {
		uint8_t *from = small + draw() % (SMALL / 2), *to = big + draw() % (BIG - 4096);
		uint64_t n = draw() % 700, m = n, a;
		uint8_t *f = from, *t = to;

		__asm__ volatile("rep movsb" : "+S"(f), "+D"(t), "+c"(m) : : "memory");
		m = n / 8;
		t = to;
		__asm__ volatile("rep stosq" : "+D"(t), "+c"(m) : "a"(n) : "memory");
		m = n;
		f = from + n, t = to + n;
		__asm__ volatile("std; rep movsb; cld" : "+S"(f), "+D"(t), "+c"(m) : : "memory");
		m = n, f = from, t = to;
		__asm__ volatile("repe cmpsb" : "+S"(f), "+D"(t), "+c"(m) : : "cc", "memory");
		m = n, t = to;
		__asm__ volatile("repne scasb" : "+D"(t), "+c"(m) : "a"(7) : "cc", "memory");
		f = from, t = to;
		__asm__ volatile("lodsq; stosl; movsw"
				 : "+S"(f), "+D"(t), "=a"(a)
				 :
				 : "cc", "memory");
	}
}

/* Forms of operands that compilers seldom use. */
static void forms(void)
{
	for (unsigned i = 0; i < TURNS * 4; i++) {
		uint8_t *p = big + (uint64_t)draw() % (BIG / 256) * 64 + 4096;
		uint64_t index = draw() % 1000;

		__asm__ volatile("mov %0, %%r12; mov %0, %%r13; mov %1, %%r14\n"
				 "movq (%%r12), %%rax; addq %%rax, (%%r13)\n"
				 "lock incq 64(%%r12,%%r14,8)\n"
				 "xchg %%rax, -128(%%r13)\n"
				 "cmpxchg %%rax, 8(%%r12)\n"
				 "pushq 256(%%r13); popq 320(%%r12)\n"
				 "movl small(,%%r14,4), %%eax; movb small+77(%%rip), %%al\n"
				 "movl %%eax, small+4096(%%r14)\n"
				 "lea small(%%rip), %%rbx\n"
				 "addr32 movl %%eax, (%%ebx,%%r14d)\n"
				 "movabsq small, %%rax; movabsb %%al, small+500\n"
				 "btq $5, (%%r12); sete 1000(%%r13)\n"
				 "fldt 16(%%r12); fstpt 48(%%r12); fildl (%%r12); fstpl 40(%%r12)\n"
				 "enter $16, $0; movq %%rax, -8(%%rbp); leave\n"
				 :
				 : "r"(p), "r"(index)
				 : "rax", "rbx", "r12", "r13", "r14", "cc", "memory");
	}
}

/* --- branches --- */

static uint64_t fibonacci(unsigned n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static uint64_t one(uint64_t n)
{
	return n + 1;
}
static uint64_t two(uint64_t n)
{
	return n ^ 2;
}
static uint64_t three(uint64_t n)
{
	return n * 3;
}

static void calls(void)
{
	uint64_t (*volatile functions[])(uint64_t) = {one, two, three, one};
	uint64_t n = fibonacci(20);

	for (unsigned i = 0; i < TURNS * 20; i++)
		n = functions[i % 7 == 0 ? draw() & 3 : i & 3](n);
	sink = n;
}

static void conditions(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < TURNS * 50; i++) {
		if (draw() & 1)
			n++;
		if (i % 3 == 0)
			n ^= i;
		if (draw() % 16 == 0)
			n += 5;
		__asm__ volatile("" : "+r"(n));
	}
	sink = n;
}

/* --- */

static void leave(int status)
{
	__asm__ volatile("syscall" : : "a"(231), "D"(status));
	__builtin_unreachable();
}

__attribute__((used)) static void run(void)
{
	SUBJECT();
	leave(0);
}

__asm__(".globl _start\n"
	"_start: lea stack+1048576(%rip), %rsp\n"
	"	xor %ebp, %ebp\n"
	"	call run\n");
