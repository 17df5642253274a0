/* SPDX-License-Identifier: MIT */
/* cache.h: what the files of the code cache ask of each other: blocks.c, slots.c, lookup.c. */
#ifndef SOFTPMU_ENGINE_CACHE_H
#define SOFTPMU_ENGINE_CACHE_H

#include "engine.h"
#include "keep.h"

/* blocks.c */
#define BLOCKS_MAX (1u << 20)

/* lookup.c */
#define TARGETS	      65536
#define TARGETS_BYTES (4 * TARGETS * 4)
/* There are at most so many blocks. */
void lookup_start(uint32_t blocks);
/* The tables of indirect targets are to be there; nothing is found. */
void lookup_place(uint32_t *targets);
/* Nothing is found any more. */
void lookup_clear(void);
/* This key is not found any more. */
void lookup_drop(uint64_t key);
/* Which thunk of this key ends where the next block begins: 1: of indirect branches, 2: of returns,
 * 0: none. */
unsigned target_in_front(uint64_t key);

/* slots.c */
#define SLOTS_MAX  (1u << 18)
#define SLOT_BYTES 24
void slots_start(void);
/* The code of `count` of them is to be there. */
void slots_place(uint8_t *code, uint32_t count);
/* There are so many; the first of those that are free (0: none). */
void slots_set(uint32_t count, uint32_t free);
void slots_get(uint32_t *count, uint32_t *free);
bool slots_full(void);
/* Their code, and what is known of them. */
void slots_parts(struct blocks_part part[2]);

#endif
