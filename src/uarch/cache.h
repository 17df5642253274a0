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
#define CACHE_FLAG_BITS	  4
#define CACHE_EMPTY	  UINT64_MAX
#define CACHE_TREE_WAYS	  16 /* at most, of tree PLRU */
#define CACHE_MATRIX_WAYS 8  /* at most, of LRU that is kept in a matrix */

static inline uint64_t cache_line_of(uint64_t entry)
{
	return entry >> CACHE_FLAG_BITS;
}

/*
 * The state of the policies.  LRU with up to 8 ways has a matrix of bits for each set: byte n, row
 * n, says which ways were used before way n.  Tree PLRU has a bit for each node, and MRU one for
 * each way.  FIFO, and LRU with more ways, keep each set in order, newest first.
 *
 * A hint says in which way a line was last.  It can be wrong, so the entry there must be compared.
 */
struct cache {
	uint64_t *entry;  /* sets * ways */
	uint64_t *bits;	  /* LRU, tree PLRU, MRU: a word for each set */
	uint8_t *age;	  /* QLRU: 0 to 3, for each entry */
	uint64_t *newest; /* the line that each set used last, or CACHE_EMPTY */
	uint8_t *hint;	  /* by the lowest bits of a line; NULL: too many entries, and no newest */
	uint32_t sets, ways;
	uint32_t empty;		      /* entries without a line */
	uint32_t hint_mask, set_mask; /* set_mask: if the number of sets is a power of two */
	bool ordered;		      /* sets are in order */
	struct spmu_replacement replacement;
	/* LRU, tree PLRU: the bits that a use of each way keeps, and those that it sets. */
	uint64_t keep[CACHE_TREE_WAYS], turned[CACHE_TREE_WAYS];
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

/* The same, with code of its own for the most frequent numbers of ways. */
static inline uint32_t cache_way(const uint64_t *set, uint32_t ways, uint64_t line)
{
	switch (ways) {
	case 4:
		return cache_search(set, 4, line);
	case 8:
		return cache_search(set, 8, line);
	case 16:
		return cache_search(set, 16, line);
	default:
		return cache_search(set, ways, line);
	}
}

/* LRU in a matrix, tree PLRU: notes the use of a way. */
static inline void cache_note_use(struct cache *c, uint64_t set, uint32_t way)
{
	c->bits[set] = (c->bits[set] & c->keep[way]) | c->turned[way];
}

/*
 * Returns whether cache_near() and cache_is_newest() can look lines up.  This needs hints, and a
 * number of sets that is a power of two.  It also needs a policy with which a second use of a line
 * changes nothing.  If sets are in order, their hints are 0, and a use of the first line changes
 * nothing.
 */
static inline bool cache_has_near(const struct cache *c)
{
	return c->hint && !(c->sets & (c->sets - 1)) &&
	       (c->replacement.policy == SPMU_REPLACE_LRU ||
		c->replacement.policy == SPMU_REPLACE_FIFO ||
		c->replacement.policy == SPMU_REPLACE_TREE_PLRU);
}

/* Whether the set of a line used the line last, so that another use changes nothing. */
static inline bool cache_is_newest(const struct cache *c, uint64_t line)
{
	return c->newest[line & c->set_mask] == line;
}

/* Where a line can be in a cache. */
struct cache_place {
	uint64_t set;
	uint32_t way;
	uint64_t *entry;
};

/* Returns the place that the hint of a line names.  cache_use_near() is all that a hit needs. */
static inline struct cache_place cache_near(const struct cache *c, uint64_t line)
{
	struct cache_place p = {.set = line & c->set_mask, .way = c->hint[line & c->hint_mask]};

	p.entry = &c->entry[p.set * c->ways + p.way];
	return p;
}

static inline void cache_use_near(struct cache *c, uint64_t line, const struct cache_place *p)
{
	cache_note_use(c, p->set, p->way);
	c->newest[p->set] = line;
}

/* Returns how many bytes of memory a cache of this shape needs: a multiple of 8. */
size_t cache_bytes(const struct spmu_cache_shape *shape);

/* Makes an empty cache in `memory`.  Returns the memory after it. */
uint8_t *cache_create(struct cache *c, uint8_t *memory, const struct spmu_cache_shape *shape);

/* Removes all lines. */
void cache_empty(struct cache *c);

/*
 * Looks a line up.  Returns its entry, which counts as used, or NULL if the line is not in the
 * cache. The entry is valid until the next call for this cache.
 */
uint64_t *cache_use(struct cache *c, uint64_t line);

/* Returns whether the set of a line has an empty entry. */
bool cache_has_room(const struct cache *c, uint64_t line);

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
