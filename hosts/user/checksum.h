/* SPDX-License-Identifier: MIT */
/* checksum.h: the checksum of saved translations, which the engine and the tool compute alike. */
#ifndef SOFTPMU_USER_CHECKSUM_H
#define SOFTPMU_USER_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "hosts/user/hash.h"

/* Adds a word to a sum. */
static inline uint64_t checksum_mix(uint64_t sum, uint64_t word)
{
	sum = hash_of(sum ^ word);
	return sum ^ sum >> 29;
}

/* Adds bytes to a sum.  There are four sums side by side, because a multiplication takes several
 * clocks.  They are in variables of their own, so that they stay in registers. */
static inline uint64_t checksum_of(uint64_t sum, const void *from, size_t bytes)
{
	uint64_t a = sum, b = 1, c = 2, d = 3, word[4];
	const uint8_t *at = from;

	for (; bytes >= sizeof(word); bytes -= sizeof(word), at += sizeof(word)) {
		__builtin_memcpy(word, at, sizeof(word));
		a = checksum_mix(a, word[0]);
		b = checksum_mix(b, word[1]);
		c = checksum_mix(c, word[2]);
		d = checksum_mix(d, word[3]);
	}
	for (; bytes >= sizeof(word[0]); bytes -= sizeof(word[0]), at += sizeof(word[0])) {
		__builtin_memcpy(word, at, sizeof(word[0]));
		a = checksum_mix(a, word[0]);
	}
	word[0] = 0;
	__builtin_memcpy(word, at, bytes);
	a = checksum_mix(a, word[0] ^ (uint64_t)bytes << 56);
	return checksum_mix(checksum_mix(a, b), checksum_mix(c, d));
}

#endif
