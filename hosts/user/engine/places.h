/* SPDX-License-Identifier: MIT */
/* places.h: where mappings go that the engine chooses a place for (places.c).  The lock is held. */
#ifndef SOFTPMU_ENGINE_PLACES_H
#define SOFTPMU_ENGINE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

/* The first thread's context, which code names by its distance (emit.h), is above the window. */
#define CONTEXT_PLACE UINT64_C(0x7ff80000)

/* Keeps [start, end) free, although nothing is mapped there yet; until places_release(). */
void places_reserve(uint64_t start, uint64_t end);
void places_release(void);

/* Each returns a free address, a multiple of `align`, or 0. */
/* For code that the program loads: below 2 GiB from the top down, as the kernel places mappings. */
uint64_t place_library(uint64_t bytes, uint64_t align);
/* For a position-independent program: below 2 GiB; a larger one where Linux maps it. */
uint64_t place_program(uint64_t bytes, uint64_t align);
/* For what has no room there. */
uint64_t place_anywhere(uint64_t bytes, uint64_t align);
/* For code of the engine's own: anywhere below 2 GiB. */
uint64_t place_low(uint64_t bytes);
/* For the code cache. */
uint64_t place_cache(uint64_t bytes);

/* Is nothing mapped or reserved there? */
bool place_is_free(uint64_t start, uint64_t bytes);

/* Notes that the engine has a mapping below 4 GiB, which stays where it is. */
void places_keep(uint64_t start, uint64_t bytes);

/*
 * The program is going to map, unmap or protect this range.  Moves the code cache and the code of
 * single steps away from there.  False: something of the engine's is there that cannot be moved.
 */
bool places_leave(uint64_t start, uint64_t bytes);
/* The first part of [*start, *end) that the engine has mapped for good; false: there is none. */
bool places_of_engine(uint64_t *start, uint64_t *end);

#endif
