/* SPDX-License-Identifier: MIT */
/* cache.h: the code cache: blocks of code, exit stubs, and where the code for an address is. */
#ifndef SOFTPMU_ENGINE_CACHE_H
#define SOFTPMU_ENGINE_CACHE_H

#include <hosts/user/decode/decode.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* blocks.c */
#define BLOCK_INSNS_MAX 96
struct block {
	uint64_t pc;
	uint32_t code; /* offset in the cache */
	uint32_t map;  /* offset of its side table: the emitted bytes of each instruction */
	uint16_t code_bytes;
	uint16_t bytes; /* of the program, unless the block is a trace */
	uint8_t insns;
	uint8_t check_at;    /* instructions before the meters are charged */
	uint8_t check_bytes; /* their bytes in the program */
	bool trace;	     /* it continues through branches; its side table has the addresses */
	bool low_headroom;
	/* It is in more than one module of the program, or names a restartable sequence
	 * (sections.c): not saved (persist.c). */
	bool spans;
	uint8_t is_target;  /* in the file: bit 0: of indirect branches, bit 1: of returns */
	uint8_t thunk;	    /* the thunk before it, with the same bits */
	uint8_t module;	    /* in the file: number of the module */
	uint8_t variant;    /* of the code: see variants.c */
	bool gone;	    /* dropped */
	uint8_t low_misses; /* how often low_code was needed and missing */
	uint32_t next;	    /* next block of the same chain (blocks.c) */
	uint32_t low_code;  /* low-headroom code from its charge on; 0: not known */
};
extern uint8_t *cache_base, *cache_end;
extern uint8_t *cache_at;      /* place of the next block's code */
extern uint8_t *cache_cold_at; /* place of code that rarely runs, and of thunks */
/* Finds a place for the cache where the program will not need memory. */
void cache_place(void); /* cache.c */
void blocks_start(void);
void blocks_flush(void);
/* Empties the cache and moves it. */
void blocks_move(void);
extern uint64_t cache_flushes; /* how often the cache has been emptied */
extern uint64_t cache_changes; /* how often code has changed, or the cache has been emptied */
/* Drops the translations of these pages, whose code has changed or may change from now on.
 * (Whole pages, because the rest of them would not be watched.) */
void blocks_forget_pages(uint64_t start, uint64_t bytes);
/* All blocks, by their numbers. */
extern struct block *cache_blocks;
static inline struct block *block_at(uint32_t number)
{
	return cache_blocks + number;
}
static inline uint32_t block_number(const struct block *block)
{
	return (uint32_t)(block - cache_blocks);
}
bool blocks_full(void); /* the next block may not fit */
/* Makes space for it.  Empties the cache if nothing else helps. */
void blocks_make_room(void);
struct block *block_new(uint64_t pc); /* its code begins at cache_at */
/* Publishes the block, whose code is complete. */
void block_done(struct block *block);
/* Sends every thread that enters the old code to the new code. */
void block_replace(uint64_t old_code, uint64_t code);
struct block *block_of_code(uint64_t code_address); /* NULL: it is not in a block */
uint8_t *block_map_space(unsigned bytes);
const uint8_t *block_map(const struct block *block);
/* Drops the block.  Branches that are still linked to it lead to an exit stub, and from there to
 * the new translation.  Returns false if the block is too short for a jump. */
bool block_drop(struct block *block);
/* block_before_jump() returns the newest block if it ends in the jump with this rel32 and
 * another block fits; otherwise NULL.  The second function removes that jump: the next block's
 * code replaces it. */
struct block *block_before_jump(uint64_t rel32);
void block_take_jump_off(struct block *block);

/* exit_stubs.c */
struct exit_stub {
	uint64_t target; /* key */
	uint32_t patch;	 /* address of the rel32 that leads here; 0: none */
	uint8_t variant; /* variant of the jump; NO_VARIANT: not known */
	bool linked; /* the jump goes to its target, but a thread may be about to enter the stub */
};
/* Returns the address of a new stub, for a jump whose rel32 is at `patch`. */
uint64_t exit_stub_new(uint64_t key, uint64_t patch, unsigned variant);
/* Returns the stub to which dropped blocks of this key jump. */
uint64_t exit_stub_dropped(uint64_t key, unsigned variant);
/* Returns the number of a stub that only holds a target, for as long as the cache exists. */
uint32_t exit_stub_keep(uint64_t pc);
struct exit_stub *exit_stub_at(uint32_t number);
/* Returns whether there is such a stub: its jump belongs to that variant, is not linked, and
 * leads to this key. */
bool exit_stub_waits(uint32_t number, uint64_t key, unsigned variant);
/* How often stubs have been freed that a thread may have left. */
extern uint64_t exit_stubs_reclaimed;
/* Links the stub's jump to this code. */
void exit_stub_link(uint32_t number, uint64_t code);
void exit_stub_free(uint32_t number);

/* lookup.c */
/* Finds code by its key; 0: there is none.  A key is a program address.  LOW_HEADROOM_KEY is
 * added for low-headroom blocks, which are short and all use the first shard. */
#define LOW_HEADROOM_KEY (UINT64_C(1) << 63)
/* The two highest bits of an address are equal. */
static inline uint64_t pc_of_key(uint64_t key)
{
	return (uint64_t)((int64_t)(key << 1) >> 1);
}
/* Finds the code of the thread's variant, like all functions below. */
uint64_t lookup_code(uint64_t key);
/* Prefetches the entries for this key, which will be looked up soon, and for returns to it. */
void lookup_prefetch(uint64_t key, bool of_return);
/* Makes all threads find this code for the key. */
void lookup_add(uint64_t key, uint64_t code);
/* Prepares the table of targets of low-headroom blocks, which is about to be used.  Returns false
 * if the cache was emptied meanwhile; then the list may have lost its variant. */
bool lookup_start_low(void);
/* Returns a table of indirect targets, which is below 2 GiB. */
uint64_t lookup_targets(bool low_headroom, bool of_returns);
/* Makes indirect branches, or returns, find this code for the key. */
void lookup_add_target(uint64_t key, uint64_t code, bool of_return);
/* Emits the thunk of this key, before the block that is going to be translated.  The second
 * function publishes it when the block is complete. */
uint64_t lookup_make_thunk(uint64_t key, bool of_return);
void lookup_set_target(uint64_t key, uint64_t thunk, bool of_return);

/* variants.c */
/* Gives the thread's list a variant of the code cache, if it has none.  Returns false if no
 * variant is free; then the list runs as single steps. */
bool variant_take(void);
/* Empties the cache and moves it.  All lists give up their variants, because the cache may have
 * fewer at its new place. */
void variants_move(void);

#endif
