/* SPDX-License-Identifier: MIT */
/* parts.h: shared by the files of the code cache. */
#ifndef SOFTPMU_ENGINE_PARTS_H
#define SOFTPMU_ENGINE_PARTS_H

#include "engine/cache/cache.h"
#include "engine/cache/persistent.h"

/* cache.c */
#define BLOCKS_MAX (1u << 20)
struct cache_sizes {
	uint32_t stubs, code, cold; /* bytes of code, and of code that rarely runs */
	uint32_t cold_room;	    /* more than the rarely run code of two blocks */
	uint32_t blocks, maps;
	uint32_t variants;
};
extern const struct cache_sizes *cache_sizes;
extern uint32_t *cache_targets;		 /* tables of indirect targets, of the first variant */
extern uint32_t *cache_other_targets;	 /* those of the others */
extern uint8_t *cache_stubs;		 /* exit stubs */
extern uint8_t *cache_code, *cache_cold; /* code, and code that rarely runs */
extern uint8_t *cache_cold_end;
bool cache_is_small(void);
/* Moves the cache, which is empty. */
void cache_move(void);

/* lookup.c */
#define TARGETS	      65536
#define TARGETS_BYTES (4 * TARGETS * 4)
/* There are at most `blocks` blocks. */
void lookup_start(uint32_t blocks);
/* Sets the places of the tables of indirect targets, and clears the tables. `targets` has those of
 * the first variant, `others` those of the other variants. */
void lookup_place(uint32_t *targets, uint32_t *others);
/* Prepares the variant of this number, which is about to be used. */
void lookup_open(unsigned number);
/* Clears all tables. */
void lookup_clear(void);
/* Removes this key. */
void lookup_drop(uint64_t key, unsigned number);
/* Returns which thunk of this key ends where the next block begins: 1: of indirect branches, 2:
 * of returns, 0: none. */
unsigned lookup_thunk_in_front(uint64_t key);

/* exit_stubs.c */
#define STUBS_MAX  (1u << 18)
#define STUB_BYTES 24
void exit_stubs_start(void);
/* Sets the place of the code of `count` stubs. */
void exit_stubs_place(uint8_t *code, uint32_t count);
/* Restores a number of stubs, and the first free one (0: none). */
void exit_stubs_set(uint32_t count, uint32_t free);
void exit_stubs_get(uint32_t *count, uint32_t *free);
bool exit_stubs_full(void);
/* Frees the stubs whose jump is linked.  The other threads are stopped.  Returns false if those
 * are few. */
bool exit_stubs_reclaim(void);
/* Returns their code and their descriptions. */
void exit_stubs_parts(struct blocks_part part[2]);

#endif
