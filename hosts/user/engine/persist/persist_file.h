/* SPDX-License-Identifier: MIT */
/*
 * persist_file.h: the file of a persistent code cache.  It is mapped, not read.  It has a header
 * and then parts, each of which begins at a page.  The first parts are used where they are in the
 * file.  The parts of the code cache follow, and are mapped privately at their places.
 */
#ifndef SOFTPMU_ENGINE_PERSIST_FILE_H
#define SOFTPMU_ENGINE_PERSIST_FILE_H

#include <hosts/user/cache_file.h>
#include <hosts/user/link.h>

#include "engine/cache/persistent.h"
#include "engine/persist/persist.h"

struct persist_header {
	struct cache_title title;
	struct blocks_state state;
	uint32_t numbers, targets, index;
};

enum persist_part {
	PERSIST_MODULES,
	PERSIST_NUMBERS, /* of blocks, by module */
	PERSIST_TARGETS, /* struct persistent_target, by module */
	PERSIST_LISTS,	 /* of meters, by variant */
	PERSIST_INDEX,	 /* numbers of blocks + 1, by the hash of their keys; 0: none */
	PERSIST_CACHE,	 /* BLOCKS_PARTS of them */
	PERSIST_PARTS = PERSIST_CACHE + BLOCKS_PARTS
};
/* Computes from a header the parts before PERSIST_CACHE. */
void persist_front(const struct persist_header *h, struct blocks_part part[PERSIST_PARTS]);

void persist_name(char name[LINK_PATH_MAX], const char *folder, uint64_t key);

/* Returns whether the file, or folder, is of this kind (S_IFMT) and belongs to the user or to root,
 * and others cannot write to it. */
struct persist_stat {
	uint64_t bytes;
	uint64_t written[2];
};
bool persist_is_trusted(long fd, uint32_t kind, struct persist_stat *is);
/* Seconds since 1970. */
uint64_t persist_now(void);

bool persist_read_header(long fd, struct persist_header *h);
/* Maps the parts, whose sizes are known, those of the cache also at their places.  Returns false
 * if they do not make up the file or its sum is wrong. */
bool persist_open(long fd, const struct persist_stat *is, const struct persist_header *h,
		  struct blocks_part part[PERSIST_PARTS]);

/* Replaces the file of this key. */
bool persist_write(long folder, struct persist_header *h,
		   const struct blocks_part part[PERSIST_PARTS]);
void persist_remove(long folder, uint64_t key);

#endif
