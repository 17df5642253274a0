/* SPDX-License-Identifier: MIT */
/* hash.h: the hash function of the translator's tables. */
#ifndef SOFTPMU_USER_HASH_H
#define SOFTPMU_USER_HASH_H

#include <stdint.h>

/* Returns a hash of the number.  Its high bits depend on all bits of the number, so a table
 * takes its index from them.  (Fibonacci hashing: the factor is 2^64 divided by the golden
 * ratio.) */
static inline uint64_t hash_of(uint64_t number)
{
	return number * UINT64_C(0x9e3779b97f4a7c15);
}

#endif
