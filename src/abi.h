/* SPDX-License-Identifier: MIT */
/*
 * abi.h: takes over structures that a caller of another version filled in ("Structures" in base.h).
 */
#ifndef SPMU_SRC_ABI_H
#define SPMU_SRC_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Copies a structure whose first field is its size, as the caller knows it, to `to`, which has
 * `known` bytes.  What the caller does not know is 0.  The copy's size is `known`.
 *
 * Returns false if the size cannot be one, or if the caller set something that this version does
 * not know.  Then *to is undefined.
 */
static inline bool abi_take(void *to, size_t known, const void *from)
{
	const uint8_t *bytes = (const uint8_t *)from;
	const size_t most = 4096; /* a larger size was never set */
	size_t size;

	memcpy(&size, from, sizeof(size));
	if (size < sizeof(size) || size > most)
		return false;
	for (size_t i = known; i < size; i++)
		if (bytes[i])
			return false;
	memset(to, 0, known);
	memcpy(to, from, size < known ? size : known);
	memcpy(to, &known, sizeof(known));
	return true;
}

/*
 * Copies a structure that the library filled in, whose first field is its size, to a caller that
 * knows `size` bytes of it.  What this version does not know becomes 0.  Returns false if the size
 * cannot be one, and changes nothing then.
 */
static inline bool abi_give(void *to, const void *from, size_t known)
{
	const size_t most = 4096;
	size_t size;

	memcpy(&size, to, sizeof(size));
	if (size < sizeof(size) || size > most)
		return false;
	memset(to, 0, size);
	memcpy(to, from, size < known ? size : known);
	memcpy(to, &size, sizeof(size));
	return true;
}

#endif
