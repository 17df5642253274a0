/* SPDX-License-Identifier: MIT */
/*
 * keep_file.h: a file of kept translations.
 *
 * It is mapped, not read: a header, then parts that begin with a page each.  First those that are
 * looked at where they are in the file, then those of the code cache, which are mapped privately in
 * their places.
 */
#ifndef SOFTPMU_ENGINE_KEEP_FILE_H
#define SOFTPMU_ENGINE_KEEP_FILE_H

#include <hosts/user/link.h>

#include "keep.h"

/* A mapping of a module's code, and the file that it is from. */
struct identity {
	uint64_t start, end, offset;
	uint64_t device, inode, bytes, changed[2], written[2];
};

struct module {
	struct identity is;
	uint32_t first, count;		/* of its blocks' numbers, in a file */
	uint32_t first_target, targets; /* of its indirect targets */
	uint32_t settled;		/* may be kept */
	uint32_t taken;			/* its blocks can be found */
	uint32_t listed;		/* and are in the lists by page */
	uint32_t reserved;
};

struct keep_header {
	uint64_t magic, key, sum;
	struct blocks_state state;
	uint32_t modules, numbers, targets, index;
};

enum keep_part {
	KEEP_MODULES,
	KEEP_NUMBERS, /* of blocks, by module */
	KEEP_TARGETS, /* struct kept_target, by module */
	KEEP_INDEX,   /* numbers of blocks + 1, by the hash of their keys; 0: none */
	KEEP_CACHE,   /* BLOCKS_PARTS of them */
	KEEP_PARTS = KEEP_CACHE + BLOCKS_PARTS
};
/* What a header says of the parts in front of KEEP_CACHE. */
void keep_front(const struct keep_header *h, struct blocks_part part[KEEP_PARTS]);

uint64_t keep_mix(uint64_t sum, uint64_t word);
/* Four sums side by side, since a multiplication takes a while. */
uint64_t keep_sum(uint64_t sum, const void *from, size_t bytes);

void keep_name(char name[LINK_PATH_MAX], const char *folder, uint64_t key);

/* Is the file, or folder, of this kind (S_IFMT), the user's, and can nobody else change it? */
#define KEEP_FILE   0100000u
#define KEEP_FOLDER 0040000u
struct keep_stat {
	uint64_t bytes;
	uint64_t written[2];
};
bool keep_is_own(long fd, uint32_t kind, struct keep_stat *is);
/* Seconds since 1970. */
uint64_t keep_now(void);

bool keep_read_header(long fd, struct keep_header *h);
/* Map the parts, whose sizes are known, and of those of the cache also where they belong, if they
 * make up the file and its sum is right. */
bool keep_open(long fd, const struct keep_stat *is, const struct keep_header *h,
	       struct blocks_part part[KEEP_PARTS]);

/* In place of the file of this key. */
bool keep_write(long folder, struct keep_header *h, const struct blocks_part part[KEEP_PARTS]);
void keep_remove(long folder, uint64_t key);

#endif
