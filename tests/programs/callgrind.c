/* SPDX-License-Identifier: MIT */
/*
 * callgrind.c: a program whose functions execute the same instructions natively and under valgrind,
 * for callgrind.sh: they depend on no feature of the processor and call no library.
 */
#include <stdint.h>
#include <stdio.h>

#define ITEMS 600
#define WORDS 24
#define SIDE  20

static uint32_t list[ITEMS], table[1024], big[WORDS];
static double a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];

__attribute__((noinline)) static uint32_t next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

__attribute__((noinline)) static void fill(uint32_t seed)
{
	for (unsigned i = 0; i < ITEMS; i++)
		list[i] = next(&seed);
}

__attribute__((noinline)) static int less(uint32_t x, uint32_t y)
{
	return x < y;
}

__attribute__((noinline)) static int greater(uint32_t x, uint32_t y)
{
	return x > y;
}

/* A recursion that calls through a pointer. */
__attribute__((noinline)) static void sort(int low, int high, int (*before)(uint32_t, uint32_t))
{
	int i = low, j = high;
	uint32_t middle = list[(low + high) / 2], swap;

	while (i <= j) {
		while (before(list[i], middle))
			i++;
		while (before(middle, list[j]))
			j--;
		if (i > j)
			break;
		swap = list[i];
		list[i++] = list[j];
		list[j--] = swap;
	}
	if (low < j)
		sort(low, j, before);
	if (i < high)
		sort(i, high, before);
}

__attribute__((noinline)) static unsigned slot(uint32_t key)
{
	unsigned i = key * 2654435761u >> 22;

	while (table[i] && table[i] != key)
		i = (i + 1) % 1024;
	return i;
}

__attribute__((noinline)) static void insert_all(void)
{
	for (unsigned i = 0; i < 1024; i++) {
		table[i] = 0;
		/* Not a REP instruction, which valgrind counts otherwise. */
		__asm__ volatile("" ::: "memory");
	}
	for (unsigned i = 0; i < ITEMS; i++)
		table[slot(list[i])] = list[i];
}

__attribute__((noinline)) static void multiply_by(uint32_t factor)
{
	uint64_t carry = 0;

	for (unsigned i = 0; i < WORDS; i++) {
		carry += (uint64_t)big[i] * factor;
		big[i] = (uint32_t)carry;
		carry >>= 32;
	}
}

__attribute__((noinline)) static void factorial(uint32_t n)
{
	big[0] = 1;
	for (uint32_t i = 2; i <= n; i++)
		multiply_by(i);
}

__attribute__((noinline)) static void matrix(void)
{
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++)
			a[i][j] = i + j, b[i][j] = i - j;
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++)
			for (int k = 0; k < SIDE; k++)
				c[i][j] += a[i][k] * b[k][j];
}

__attribute__((noinline)) static uint32_t ackermann(uint32_t m, uint32_t n)
{
	if (!m)
		return n + 1;
	return ackermann(m - 1, n ? ackermann(m, n - 1) : 1);
}

__attribute__((noinline)) static uint32_t machine(const char *program)
{
	uint32_t value = 1;

	for (; *program; program++) {
		switch (*program) {
		case 'a':
			value += 3;
			break;
		case 'b':
			value = next(&value);
			break;
		case 'c':
			value ^= 0x55;
			break;
		case 'd':
			value = value << 3 | value >> 29;
			break;
		case 'e':
			value -= 7;
			break;
		default:
			value = ~value;
		}
	}
	return value;
}

/* Without a frame of its own it becomes a jump. */
__attribute__((noinline)) static uint32_t jumps(const char *program)
{
	return machine(program + 1);
}

__attribute__((noinline)) static uint32_t all(void)
{
	uint32_t sum = 0;

	for (uint32_t i = 1; i <= 5; i++) {
		fill(i * 12345);
		sort(0, ITEMS - 1, i % 2 ? less : greater);
		insert_all();
		factorial(40 + i);
		matrix();
		sum += ackermann(2, i) + jumps("abcdefabccbadeffedabc") + list[i] + big[3];
	}
	return sum + (uint32_t)c[3][4];
}

int main(void)
{
	printf("%u\n", all());
	return 0;
}
