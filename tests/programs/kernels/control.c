/* SPDX-License-Identifier: MIT */
/*
 * control: unusual control flow in C, without signals. It has an interpreter with computed gotos, a
 * large switch, longjmp out of deep recursion, function pointers, variadic functions and alloca. It
 * also has dlopen of libm with a call through dlsym, and atexit.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf out;

static long interpret(long rounds)
{
	enum { PUSH, ADD, MUL, SWAP, MOD, LOOP, END };
	static const unsigned char program[] = {PUSH, 3,   ADD,	 PUSH, 7,    MUL, PUSH,
						101,  MOD, SWAP, SWAP, LOOP, END};
	static const void *const label[] = {&&push, &&add, &&mul, &&swap, &&mod, &&loop, &&end};
	long stack[8] = {1}, t;
	int sp = 0;
	const unsigned char *at = program;

#define NEXT goto *label[*at++]
	NEXT;
push:
	stack[++sp] = *at++;
	NEXT;
add:
	stack[sp - 1] += stack[sp];
	sp--;
	NEXT;
mul:
	stack[sp - 1] *= stack[sp];
	sp--;
	NEXT;
swap:
	t = stack[0];
	stack[0] = stack[1];
	stack[1] = t;
	NEXT;
mod:
	stack[sp - 1] %= stack[sp];
	sp--;
	NEXT;
loop:
	if (--rounds > 0)
		at = program;
	NEXT;
end:
	return stack[0];
}

static long classify(unsigned n)
{
	switch (n % 24) {
	case 0:
		return 5;
	case 1:
		return n * 2;
	case 2:
		return n ^ 77;
	case 3:
		return n >> 1;
	case 4:
		return n % 9;
	case 5:
		return ~n & 255;
	case 6:
		return n * n;
	case 7:
		return 11;
	case 8:
		return n + 8;
	case 9:
		return n / 5;
	case 10:
		return n % 31;
	case 11:
		return n | 1;
	case 12:
		return n & 60;
	case 13:
		return -3;
	case 14:
		return n * 5;
	case 15:
		return n - 4;
	case 16:
		return 0;
	default:
		return 1;
	}
}

static void descend(int depth, int limit)
{
	volatile char *room = alloca((size_t)(depth % 64) + 1);

	room[0] = (char)depth;
	if (depth == limit)
		longjmp(out, depth);
	descend(depth + 1, limit);
	room[0]++;
}

static double sum(int count, ...)
{
	va_list list;
	double total = 0;

	va_start(list, count);
	while (count--)
		total += va_arg(list, double);
	va_end(list);
	return total;
}

static int by_last_digit(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x % 10 != y % 10 ? x % 10 - y % 10 : x - y;
}

static void goodbye(void)
{
	puts("goodbye");
}

int main(void)
{
	int numbers[500], n, jumps = 0;
	long total = 0;
	void *libm;
	double (*power)(double, double);

	atexit(goodbye);
	printf("interpreter %ld\n", interpret(200000));
	for (n = 0; n < 100000; n++)
		total += classify((unsigned)n * 2654435761u >> 7);
	printf("switch %ld\n", total);
	for (n = 1; n <= 300; n++)
		if (setjmp(out) == 0)
			descend(0, n);
		else
			jumps++;
	printf("longjmp %d\n", jumps);
	for (n = 0; n < 500; n++)
		numbers[n] = n * 7919 % 1009;
	qsort(numbers, 500, sizeof(numbers[0]), by_last_digit);
	printf("qsort %d %d %d\n", numbers[0], numbers[250], numbers[499]);
	printf("variadic %.3f\n", sum(5, 1.0, 2.5, -3.25, 1e3, 0.125));
	libm = dlopen("libm.so.6", RTLD_NOW);
	if (!libm)
		return 1;
	*(void **)&power = dlsym(libm, "pow");
	for (n = 0; n < 2000; n++)
		total += (long)power(1.0 + n / 1000.0, 3.5);
	printf("dlopen %ld %.6f\n", total, power(2.0, 0.5));
	dlclose(libm);
	return 17;
}
