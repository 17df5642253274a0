/* SPDX-License-Identifier: MIT */
/* keep.h: translations that are kept between runs (keep.c), and what of the code cache that is. */
#ifndef SOFTPMU_ENGINE_KEEP_H
#define SOFTPMU_ENGINE_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block;

/* --- blocks.c: the code cache as a whole --- */

struct blocks_state {
	uint64_t base;
	uint32_t code_bytes, cold_bytes, map_bytes;
	uint32_t blocks, slots, slot_free_list;
};

#define BLOCKS_PARTS 6
struct blocks_part {
	void *at;
	size_t bytes;
};

uint32_t blocks_count(void);
void blocks_state(struct blocks_state *state);
/* An empty cache gets this state; what belongs into its parts is not there yet.  False: it does not
 * fit. */
bool blocks_set_state(const struct blocks_state *state);
/* The memory that the state stands for. */
void blocks_parts(struct blocks_part part[BLOCKS_PARTS]);
/* These blocks of a kept cache are found by the pages that they are in.  False: there are too many.
 */
bool blocks_list(const uint32_t *number, uint32_t count);

/* --- lookup.c: indirect targets --- */

struct kept_target {
	uint32_t thunk;
	uint16_t place; /* in the table */
	uint16_t of_return;
};
/* They are found, where nothing else stands in their place. */
void targets_take(const struct kept_target *t, uint32_t count);
/* The thunk of this block that leads on to `next`, 0: nowhere. */
uint64_t target_chain(struct block *block, bool of_return, uint64_t next);
/* Where looking for a key begins, before the table's size is taken into account. */
uint32_t lookup_hash(uint64_t key);

/* --- keep.c --- */

/* The cache is empty, and what is counted is known: take over what was kept, once. */
void keep_load(void);
/* The same of code for several threads (emit_context), when there was code for one. */
void keep_load_again(void);
/* Some of it is there. */
bool keep_is_used(void);
/* At the end of the process; no other thread runs. */
void keep_save(void);
/* The cache has been emptied. */
void keep_flushed(void);
/* The block of this key that was kept, if its module is there; NULL: none. */
struct block *keep_find(uint64_t key);
/* What was kept of modules that reach into this range is going to be dropped: see blocks_list(). */
bool keep_list(uint64_t start, uint64_t end);
/* Nothing of this process is to be kept. */
void keep_nothing(void);
/* The file open as fd, from `offset`, has been mapped there, for execution and not for writing. */
void keep_mapped(uint64_t start, uint64_t bytes, int fd, uint64_t offset);
/* Something else is there, or may be. */
void keep_changed(uint64_t start, uint64_t end);
/* Do these two addresses belong to two modules?  A jump between them is taken apart when
 * translations are kept: so there has to be one. */
bool keep_parts(uint64_t a, uint64_t b);
/* The block that is being translated begins at pc; a jump of it, whose rel32 is at `rel32`, goes to
 * the code of this key. */
void keep_begin(uint64_t pc);
void keep_jump(uint64_t rel32, uint64_t key);
/* Indirect branches, or returns, find the code of this key. */
void keep_target(uint64_t key, bool of_return);
/* Is pc outside the module in which that block begins? */
bool keep_outside(uint64_t pc);
/* Does what stands there change only together with that block, so that the block may depend on it?
 * A module does as a whole; other code by pages. */
bool keep_is_with_block(uint64_t pc, unsigned bytes);

#endif
