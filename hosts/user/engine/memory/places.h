/* SPDX-License-Identifier: MIT */
/* places.h: chooses places for mappings (places.c).  The lock is held. */
#ifndef SOFTPMU_ENGINE_PLACES_H
#define SOFTPMU_ENGINE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

/* The first thread's context, which code names by its distance (emit.h), is above the window. */
#define CONTEXT_PLACE UINT64_C(0x7ff80000)

/* Keeps [start, end) free, although nothing is mapped there yet, until places_release(). */
void places_reserve(uint64_t start, uint64_t end);
void places_release(void);

/* Each returns a free address, which is a multiple of `align`, or 0. */
/* For code that the program loads: below 2 GiB from the top down, in the kernel's order. */
uint64_t place_library(uint64_t bytes, uint64_t align);
/* For a position-independent program: below 2 GiB.  A larger one goes where Linux maps it. */
uint64_t place_program(uint64_t bytes, uint64_t align);
/* For mappings that do not fit there. */
uint64_t place_anywhere(uint64_t bytes, uint64_t align);
/* For the engine's own code: anywhere below 2 GiB, above the one address or otherwise below the
 * other. */
uint64_t place_low(uint64_t bytes, uint64_t below, uint64_t above);
/* For the code cache. */
uint64_t place_cache(uint64_t bytes);

/* Returns whether nothing is mapped or reserved there. */
bool place_is_free(uint64_t start, uint64_t bytes);

/* Notes that the engine has a mapping below 4 GiB that never moves. */
void places_keep(uint64_t start, uint64_t bytes);

/* Finds the first part of [*start, *end) that the engine has mapped permanently.  Returns false
 * if there is none. */
bool places_of_engine(uint64_t *start, uint64_t *end);

#endif
