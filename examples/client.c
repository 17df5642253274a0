/* SPDX-License-Identifier: MIT */
/*
 * client.c: a program that names regions of itself.  It gives the same result alone.  With
 * `softpmu stat ./client` each region has a line of its own, with exact counts.
 *
 * Prints:
 *	8534400, alone
 */
#include <softpmu/client.h>
#include <stdio.h>

#define ROUNDS 100

static unsigned sum(const unsigned *from, unsigned n)
{
	unsigned total = 0;

	for (unsigned i = 0; i < n; i++)
		total += from[i];
	return total;
}

int main(void)
{
	unsigned numbers[64], total = 0;

	spmu_client_start("whole");
	spmu_client_mark("fill");
	for (unsigned i = 0; i < 64; i++)
		numbers[i] = i * i;
	spmu_client_mark("add");
	for (unsigned round = 0; round < ROUNDS; round++) {
		spmu_client_start("sum");
		total += sum(numbers, 64);
		spmu_client_stop("sum");
	}
	spmu_client_iterations(ROUNDS);
	spmu_client_stop("whole");
	printf("%u, %s\n", total, spmu_client_running() ? "with softpmu" : "alone");
	return total == 8534400 ? 0 : 1;
}
