/* SPDX-License-Identifier: MIT */
/*
 * numbering.h: gives different things the numbers 0, 1, 2 ... and equal things the same number.
 *
 * The caller keeps the things in an array by number.  Example:
 *
 *	number = numbering_find(&numbering, hash, is_same, array, &thing);
 *	if (number == count)
 *		array[count++] = thing;   // it is new; the array has room for it
 */
#ifndef SOFTPMU_TOOL_NUMBERING_H
#define SOFTPMU_TOOL_NUMBERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct numbering { /* all zeros: empty */
	struct numbering_slot {
		uint64_t hash;
		uint32_t next_number; /* the number plus 1; 0: free */
	} * slots;
	size_t room; /* a power of two */
	uint32_t count;
};

/* Returns true if the thing is the one of that number. */
typedef bool numbering_same(const void *things, uint32_t number, const void *thing);

/* Returns the thing's number.  A new thing gets the number of things so far. */
uint32_t numbering_find(struct numbering *numbering, uint64_t hash, numbering_same *same,
			const void *things, const void *thing);
void numbering_free(struct numbering *numbering);

/* Adds a value to a hash; begin with 0. */
static inline uint64_t numbering_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

#endif
