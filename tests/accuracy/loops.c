/* SPDX-License-Identifier: MIT */
/*
 * loops.c: small loops as a compiler makes them, in addition to those of kernels.c.
 *
 * bench/accuracy_pairs.py compiles this file in several ways.
 */
#include "kernels.h"

static volatile uint64_t result; /* keeps the compiler from leaving a loop out */

#define BYTES 256u

/* Prepared once: bytes by chance, and numbers in order. */
static uint8_t text[BYTES];
static uint32_t sorted[BYTES];
static float reals[BYTES];

void loops_prepare(void)
{
	uint32_t seed = 12345;

	for (unsigned i = 0; i < BYTES; i++) {
		seed = seed * 1664525u + 1013904223u;
		text[i] = (uint8_t)(seed >> 24);
		sorted[i] = i * 3;
		reals[i] = (float)i;
	}
}

static void count_bytes(uint64_t turns)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < turns; i++)
		n += text[i % BYTES] == 'e';
	result = n;
}

static void histogram(uint64_t turns)
{
	static uint32_t count[256];

	for (uint64_t i = 0; i < turns; i++)
		count[text[i % BYTES]]++;
	result = count[0];
}

static void prefix_sum(uint64_t turns)
{
	static uint32_t sum[BYTES];
	uint32_t total = 0;

	for (uint64_t i = 0; i < turns; i++)
		sum[i % BYTES] = total += text[i % BYTES];
	result = sum[0];
}

static void binary_search(uint64_t turns)
{
	uint64_t found = 0;

	for (uint64_t i = 0; i < turns; i++) {
		const uint32_t *at = sorted;
		uint32_t wanted = text[i % BYTES] * 3u;

		for (unsigned n = BYTES / 2; n; n /= 2)
			at += at[n] <= wanted ? n : 0;
		found += *at;
	}
	result = found;
}

static void collatz(uint64_t turns)
{
	uint64_t n = 27;

	for (uint64_t i = 0; i < turns; i++)
		n = n & 1 ? 3 * n + 1 : n == 2 ? 27 : n / 2;
	result = n;
}

static void mandelbrot(uint64_t turns)
{
	double x = 0, y = 0;

	for (uint64_t i = 0; i < turns; i++) {
		double next = x * x - y * y - 0.1;

		y = 2 * x * y + 0.1;
		x = next;
	}
	result = (uint64_t)(x + y);
}

static __attribute__((noinline)) uint64_t fibonacci(uint64_t n)
{
	__asm__ volatile("");
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void recursion(uint64_t turns)
{
	for (uint64_t i = 0; i < turns; i += 177) /* calls of fibonacci(10) */
		result = fibonacci(10);
}

static void table_crc(uint64_t turns)
{
	uint32_t crc = 0;

	for (uint64_t i = 0; i < turns; i++)
		crc = crc >> 8 ^ sorted[(crc ^ text[i % BYTES]) & 255];
	result = crc;
}

static void float_sum(uint64_t turns)
{
	float sum = 0;

	for (uint64_t i = 0; i < turns; i++)
		sum += reals[i % BYTES];
	result = (uint64_t)sum;
}

static void matrix_row(uint64_t turns)
{
	static float row[16];

	for (uint64_t i = 0; i < turns; i++)
		for (unsigned k = 0; k < 16; k++)
			row[k] += reals[i % 128] * reals[128 + k];
	result = (uint64_t)row[0];
}

static void lower_case(uint64_t turns)
{
	static uint8_t to[BYTES];

	for (uint64_t i = 0; i < turns; i++) {
		uint8_t byte = text[i % BYTES];

		if (byte >= 'A' && byte <= 'Z')
			byte |= 32;
		to[i % BYTES] = byte;
	}
	result = to[0];
}

static void remainders(uint64_t turns)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < turns; i++)
		sum += (i + 1000) % (text[i % BYTES] | 1u);
	result = sum;
}

const struct kernel loops[] = {
	{"count_bytes", count_bytes, 0},
	{"histogram", histogram, 0},
	{"prefix_sum", prefix_sum, 0},
	{"binary_search", binary_search, 0},
	{"collatz", collatz, 0},
	{"mandelbrot", mandelbrot, 0},
	{"recursion", recursion, 0},
	{"table_crc", table_crc, 0},
	{"float_sum", float_sum, 0},
	{"matrix_row", matrix_row, 0},
	{"lower_case", lower_case, 0},
	{"remainders", remainders, 0},
	{NULL, NULL, 0},
};
