/* SPDX-License-Identifier: MIT */
/*
 * cache.h: one set-associative cache with a replacement policy (cache.c).  Lines are numbers: a
 * line address divided by the line's size, or a page number for a TLB.
 */
#ifndef SPMU_SRC_UARCH_CACHE_H
#define SPMU_SRC_UARCH_CACHE_H

#include <softpmu/uarch.h>

/*
 * An entry is a line's number and its flags.  CACHE_EMPTY is no line.  The flags belong to the
 * caller.
 */
#define CACHE_FLAG_BITS 4
#define CACHE_EMPTY	UINT64_MAX
#define CACHE_TREE_WAYS 16 /* at most, of tree PLRU */

static inline uint64_t cache_line_of(uint64_t entry)
{
	return entry >> CACHE_FLAG_BITS;
}

struct cache {
	uint64_t *entry; /* sets * ways; with LRU each set is in order of use, newest first */
	uint8_t *age;	 /* QLRU: 0 to 3, for each entry */
	uint32_t *bits;	 /* tree PLRU: of nodes, MRU: of ways; a word for each set */
	uint32_t sets, ways;
	struct spmu_replacement replacement;
	/* Tree PLRU: the bits of the nodes that a use of each way changes, and what they become. */
	uint32_t path[CACHE_TREE_WAYS], turned[CACHE_TREE_WAYS];
};

/* Returns the number of the set that a line belongs to. */
static inline uint64_t cache_set(const struct cache *c, uint64_t line)
{
	return c->sets & (c->sets - 1) ? line % c->sets : line & (c->sets - 1);
}

/* Returns the way of a set that has the line, or `ways`.  It looks at all ways, because which one
 * has it cannot be predicted. */
static inline __attribute__((always_inline)) uint32_t cache_search(const uint64_t *set,
								   uint32_t ways, uint64_t line)
{
	uint64_t entry = line << CACHE_FLAG_BITS;
	uint32_t found = ways;

#pragma GCC unroll 8
	for (uint32_t way = 0; way < ways; way++)
		found = (set[way] ^ entry) >> CACHE_FLAG_BITS ? found : way;
	return found;
}

/* The same, with code of its own for the most frequent number of ways. */
static inline uint32_t cache_way(const uint64_t *set, uint32_t ways, uint64_t line)
{
	return ways == 8 ? cache_search(set, 8, line) : cache_search(set, ways, line);
}

/* Tree PLRU: notes the use of a way. */
static inline void cache_tree_use(struct cache *c, uint64_t set, uint32_t way)
{
	c->bits[set] = (c->bits[set] & ~c->path[way]) | c->turned[way];
}

/* Returns how many bytes of memory a cache of this shape needs: a multiple of 8. */
size_t cache_bytes(const struct spmu_cache_shape *shape);

/* Makes an empty cache in `memory`.  Returns the memory after it. */
uint8_t *cache_create(struct cache *c, uint8_t *memory, const struct spmu_cache_shape *shape);

/*
 * Looks a line up.  Returns its entry, which counts as used, or NULL if the line is not in the
 * cache. The entry is valid until the next call for this cache.
 */
uint64_t *cache_use(struct cache *c, uint64_t line);

/* Looks a line up without using it. */
uint64_t *cache_find(struct cache *c, uint64_t line);

/*
 * Inserts a line that is not in the cache, with these flags.  Returns the entry that it replaced,
 * or CACHE_EMPTY.
 */
uint64_t cache_insert(struct cache *c, uint64_t line, unsigned flags);

/* Removes a line.  Returns its entry, or CACHE_EMPTY if it was not in the cache. */
uint64_t cache_remove(struct cache *c, uint64_t line);

#endif
