// SPDX-License-Identifier: MIT
/*
 * hot.c: a program whose hot spots are known.  Three functions run the same kind of loop 6, 3
 * and 1 times as often, so they take 60, 30 and 10 % of the instructions.  gcc -O1 makes 12
 * instructions of each loop; a sample distance without a factor in common with 12
 * spreads the samples evenly over them.  That distance is one more than the period:
 * the record that reloads the counter is made one event after the overflow.
 */
#include <stdint.h>
#include <stdio.h>

#define ROUNDS 2500000

static uint64_t state = 88172645463325252u;

__attribute__((noinline)) static void sixty_percent(uint64_t rounds)
{
	while (rounds--) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
	}
}

__attribute__((noinline)) static void thirty_percent(uint64_t rounds)
{
	while (rounds--) {
		state ^= state << 11;
		state ^= state >> 5;
		state ^= state << 32;
	}
}

__attribute__((noinline)) static void ten_percent(uint64_t rounds)
{
	while (rounds--) {
		state ^= state << 21;
		state ^= state >> 35;
		state ^= state << 4;
	}
}

int main(void)
{
	for (int i = 0; i < 10; i++) {
		sixty_percent(6 * ROUNDS / 10);
		thirty_percent(3 * ROUNDS / 10);
		ten_percent(1 * ROUNDS / 10);
	}
	printf("%016llx\n", (unsigned long long)state);
	return 0;
}
