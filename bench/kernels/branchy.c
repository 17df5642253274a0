// SPDX-License-Identifier: MIT
/* branchy.c: short blocks and hard branches: the longest Collatz chain below a limit. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned chain_length(uint64_t n)
{
	unsigned steps = 1;

	while (n != 1) {
		if (n & 1)
			n = 3 * n + 1;
		else
			n >>= 1;
		steps++;
	}
	return steps;
}

int main(int argc, char **argv)
{
	uint64_t limit = argc > 1 ? strtoull(argv[1], NULL, 10) : 6000000;
	uint64_t best = 1;
	unsigned longest = 1;

	for (uint64_t n = 1; n < limit; n++) {
		unsigned steps = chain_length(n);

		if (steps > longest) {
			longest = steps;
			best = n;
		}
	}
	printf("%llu takes %u steps\n", (unsigned long long)best, longest);
	return 0;
}
