/* SPDX-License-Identifier: MIT */
/* access.h: checks whether the program's memory can be read or written (access.c). */
#ifndef SOFTPMU_ENGINE_ACCESS_H
#define SOFTPMU_ENGINE_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

/* Each returns whether all of the range can be read, or written.  Pages that the engine protects
 * are opened for writing. */
bool access_readable(uint64_t start, uint64_t bytes);
bool access_writable(uint64_t start, uint64_t bytes);
/* Returns the same as access_readable().  It is faster for addresses that mostly cannot be read,
 * because it causes no signal there. */
bool access_guess_readable(uint64_t start, uint64_t bytes);

#endif
