/* SPDX-License-Identifier: MIT */
/*
 * persistent.h: the code cache as it is saved between runs: the part that came from a file, and
 * the notes that are needed to write one (persistent.c; persist.h has the files).
 */
#ifndef SOFTPMU_ENGINE_PERSISTENT_H
#define SOFTPMU_ENGINE_PERSISTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block;
union meter_list_room;

/* --- blocks.c: the code cache as a whole --- */

struct blocks_state {
	uint64_t base;
	uint32_t code_bytes, cold_bytes, map_bytes;
	uint32_t blocks, stubs, stub_free_list;
};

#define BLOCKS_PARTS 6
struct blocks_part {
	void *at;
	size_t bytes;
};

uint32_t blocks_count(void);
void blocks_state(struct blocks_state *state);
/* Gives an empty cache this state.  The contents of its parts are not there yet.  Returns false
 * if it does not fit. */
bool blocks_set_state(const struct blocks_state *state);
/* Returns the memory of the state. */
void blocks_parts(struct blocks_part part[BLOCKS_PARTS]);

/* --- variants.c --- */

#define VARIANTS_MAX 16
/* Writes the list of each variant.  An unused one gets UINT32_MAX meters. */
void variants_get(union meter_list_room *list);
/* Gives the cache the saved code of these variants, and each thread its variant.  Returns false
 * if there is no space for all; then the cache must be emptied. */
bool variants_set(const union meter_list_room *list);

/* --- lookup.c: indirect targets --- */

struct persistent_target {
	uint32_t thunk;
	uint16_t place; /* in the table */
	uint8_t of_return;
	uint8_t variant;
};
/* Enters these targets where their entry is free.  Targets of a variant that has not been used
 * are left out. */
void lookup_take_targets(const struct persistent_target *t, uint32_t count);
/* Returns the thunk of this block, and makes it lead to `next`; 0: it has none. */
uint64_t lookup_chain_target(struct block *block, bool of_return, uint64_t next);
/* Returns the code of this key in the variant of this number, or 0. */
uint64_t lookup_in(uint64_t key, unsigned number);
/* Returns where the search for a key begins, before the table's size is applied. */
uint32_t lookup_hash(uint64_t key);

/* --- persistent.c --- */

#define PERSIST_MODULES_MAX 256 /* struct block has their numbers in a byte */

/* What tells a file from others and from its own earlier versions, on one machine. */
struct file_version {
	uint64_t device, inode, bytes, changed[2], written[2];
};

/* A mapping of a module's code.  Copies of a file have the same sum (contents.h). */
struct identity {
	uint64_t start, end, offset, sum;
};

struct module {
	struct identity is;
	struct file_version file;	/* that it was mapped from */
	uint32_t first, count;		/* of its blocks' numbers, in the file */
	uint32_t first_target, targets; /* of its indirect targets */
	uint32_t saveable;		/* old enough to be saved */
	uint32_t taken;			/* its blocks can be found */
	uint32_t listed;		/* and are in the lists by page */
	uint32_t reserved;
};

#define PERSISTENT_OF_RETURN (UINT64_C(1) << 61)
#define PERSISTENT_VARIANT   57 /* bits of its number from here on */

/* A jump between modules. */
struct module_jump {
	uint64_t key; /* of the code that is its target */
	uint32_t rel32;
};

struct persistent {
	/* Modules of the file that was loaded. */
	struct module saved[PERSIST_MODULES_MAX];
	unsigned saved_modules;
	const uint32_t *number; /* of blocks, in that file */
	const struct persistent_target *target;
	const uint32_t *index;
	uint32_t index_size, blocks; /* of that file */

	struct module_jump *jump;
	unsigned jumps;
	/* Keys that indirect branches find; with PERSISTENT_OF_RETURN, keys that returns find;
	 * and the variant. */
	uint64_t *found;
	unsigned founds;

	bool off; /* saving is disabled for this process */
};
extern struct persistent persistent;

/* Disables saving for this process. */
void persistent_off(void);
/* Notes that the cache has been emptied. */
void persistent_clear(void);
/* Notes that indirect branches, or returns, find the code of this key. */
void persistent_note_target(uint64_t key, bool of_return);
/* Notes that a jump of the current block, whose rel32 this is, goes to the code of this key in
 * another module. */
void persistent_note_jump(uint64_t rel32, uint64_t key);
/* Returns whether saved code has been loaded. */
static inline bool persistent_is_used(void)
{
	return persistent.saved_modules != 0;
}

#endif
