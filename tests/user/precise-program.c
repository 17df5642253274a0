/* SPDX-License-Identifier: MIT */
/*
 * precise-program.c: the program that precise.sh samples.  It is freestanding, at fixed addresses,
 * and its branches depend on pseudo-random numbers.  It has calls (direct, indirect, recursive),
 * jump tables, memory accesses of several widths, REP strings and system calls.  Some instructions
 * load at one address and store at another.  About 110,000 instructions.
 *
 */
static unsigned char bytes[4096];
static unsigned long words[512];
static unsigned seed = 1;

static unsigned next_random(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 8;
}

static long system_call(long number, long a)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a) : "rcx", "r11", "memory");
	return result;
}

static void fill(unsigned char *to, unsigned char value, unsigned long count)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(value) : "memory");
}

__attribute__((noinline)) static unsigned recurse(unsigned n)
{
	return n < 2 ? n : recurse(n - 1) + recurse(n - 2);
}

__attribute__((noinline)) static void op_add(unsigned a)
{
	words[a % 512] += a;
}

__attribute__((noinline)) static void op_byte(unsigned a)
{
	bytes[a % 4096] ^= (unsigned char)a;
}

__attribute__((noinline)) static void op_fill(unsigned a)
{
	fill(bytes + a % 2048, (unsigned char)a, a % 3 ? a % 50 : 0);
}

static void (*target)(void);

static void nothing(void)
{
}

/* MOVS; PUSH and POP with a memory operand, also of 16 bits; CALL through memory. */
__attribute__((noinline)) static void op_both(unsigned a)
{
	unsigned long *at = &words[a % 256];
	const unsigned char *from = bytes + a % 1024;
	unsigned char *to = bytes + 2048 + a % 1024;

	target = nothing;
	__asm__ volatile("movsq\n\tmovsb\n\tpushq (%2)\n\tpopq 8(%2)\n\tpushw 2(%2)\n\t"
			 "popw 20(%2)\n\tcall *%3"
			 : "+S"(from), "+D"(to)
			 : "r"(at), "m"(target)
			 : "memory", "cc");
}

static void (*const op[])(unsigned) = {op_add, op_byte, op_fill, op_both};

__attribute__((noinline)) static unsigned classify(unsigned a)
{
	switch (a % 11) {
	case 0:
		return bytes[a % 4096];
	case 1:
		return a * 3;
	case 2:
		return (unsigned)words[a % 512];
	case 3:
		bytes[5] = 1;
		return 4;
	case 4:
		return a ^ seed;
	case 5:
		return a >> 3;
	case 6:
		return ~a;
	case 7:
		return (unsigned)__atomic_fetch_add(&words[3], a, __ATOMIC_SEQ_CST);
	case 8:
		return a / 7;
	default:
		return 0;
	}
}

__attribute__((noreturn, used)) static void start(void)
{
	unsigned i, sum = 0;

	for (i = 0; i < 2500; i++) {
		unsigned a = next_random();

		if (a & 1)
			sum += classify(a);
		if ((a & 6) == 2)
			op[(a >> 4) & 3](a);
		if ((a & 0x1f0) == 0x30)
			sum += recurse(a % 5 + 3);
		if ((a & 0x3f00) == 0x500)
			sum += (unsigned)(system_call(24, 0) == 0);
	}
	system_call(60, sum & 0x3f);
	__builtin_unreachable();
}

/* A stack of its own, so that its addresses too are the same in every run. */
unsigned char stack[65536] __attribute__((aligned(16)));
__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov $stack + 65536, %esp\n\tcall start\n");
