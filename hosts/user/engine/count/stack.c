/* SPDX-License-Identifier: MIT */
/* stack.c: reads the program's stack between two of its instructions. */
#include "engine/count/stack.h"

#include "engine/memory/access.h"
#include "engine/rt/sys.h"

/* Each frame has the address of the next one, and the return address. */
size_t stack_walk(uint64_t ip, uint64_t frame, unsigned most, uint64_t *chain)
{
	size_t n = 0;

	chain[n++] = ip;
	while (n < most && access_guess_readable(frame, 2 * sizeof(uint64_t))) {
		uint64_t words[2];

		memcpy(words, (const void *)frame, sizeof(words));
		chain[n++] = words[1];
		frame = words[0];
	}
	return n;
}

size_t stack_copy(void *to, uint64_t from, size_t bytes)
{
	size_t copied = 0;

	while (copied < bytes) {
		uint64_t at = from + copied, part = PAGE - at % PAGE;

		if (part > bytes - copied)
			part = bytes - copied;
		if (!access_readable(at, part))
			break;
		memcpy((uint8_t *)to + copied, (const void *)at, part);
		copied += part;
	}
	return copied;
}
