/* SPDX-License-Identifier: MIT */
/*
 * vectors.h: reads the program's vector and mask registers (vectors.c).  The engine uses none of
 * them, so they have the program's values.
 */
#ifndef SOFTPMU_ENGINE_VECTORS_H
#define SOFTPMU_ENGINE_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

#define VECTOR_BYTES_MAX 64

/* Reads a vector register of instructions with a VEX or EVEX prefix, or with neither.  What the
 * register does not have on this processor is 0.  Returns false if it has no such register. */
bool vectors_read(unsigned reg, uint8_t to[VECTOR_BYTES_MAX]);
/* Reads an MMX register. */
void vectors_read_mmx(unsigned reg, uint8_t to[8]);
/* Reads a mask register, 1 to 7.  Returns false if the processor has none. */
bool vectors_read_mask(unsigned reg, uint64_t *mask);

#endif
