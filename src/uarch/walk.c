/* SPDX-License-Identifier: MIT */
/*
 * walk.c: page walks that read page tables through the data caches, and the paging-structure caches
 * that shorten them (Volume 3A, 4.5 and 4.10.3).
 *
 * A walk reads an entry of 8 bytes for each level of the tables, from the top: PML4E, PDPTE, PDE,
 * PTE.  It ends at the entry that maps a page of 1 GB, 2 MB or 4 KB.  A paging-structure cache has
 * entries of one level that refer to a table.  A walk begins after the lowest entry that one of
 * these caches has.
 *
 * Simplified: the tables of a level are one array, in addresses that no program has.  So neighbours
 * in linear addresses are neighbours in the tables.  Walks do not set accessed and dirty flags, and
 * start no prefetches.
 */
#include "src/uarch/walk.h"

#include "src/uarch/model.h"

#define ENTRY_BYTES   8
#define LINEAR_MASK   ((UINT64_C(1) << 48) - 1)
#define TOP_SHIFT     39 /* of a PML4E */
#define BITS	      9	 /* of an index */
#define TABLES(shift) ((UINT64_C(1) << 62) | (uint64_t)(shift) << 48)

static struct spmu_cache_shape shape_of(const struct spmu_machine *machine, unsigned number)
{
	uint16_t entries = machine->paging[number];

	return (struct spmu_cache_shape){.bytes = entries, .ways = entries, .line_bytes = 1};
}

size_t walk_bytes(const struct spmu_machine *machine)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < PAGING_CACHES; i++) {
		struct spmu_cache_shape shape = shape_of(machine, i);

		bytes += cache_bytes(&shape);
	}
	return bytes;
}

uint8_t *walk_create(struct walker *w, uint8_t *memory, const struct spmu_machine *machine)
{
	for (unsigned i = 0; i < PAGING_CACHES; i++) {
		struct spmu_cache_shape shape = shape_of(machine, i);

		memory = cache_create(&w->cache[i], memory, &shape);
	}
	return memory;
}

/* Returns the cache of entries that each cover 2^shift bytes, or NULL. */
static struct cache *cache_at(struct walker *w, unsigned shift)
{
	struct cache *c = &w->cache[(shift - 21) / BITS];

	return c->ways ? c : NULL;
}

/* Reads the entry that covers 2^shift bytes. */
static void read_entry(struct spmu_uarch *u, struct thread *t, uint64_t linear, unsigned shift)
{
	const struct reference r = {.thread = t, .walk = true};
	uint64_t line = (TABLES(shift) + (linear >> shift) * ENTRY_BYTES) >> u->line_shift;
	enum spmu_uarch_level level = memory_reach(u, &r, line, line);

	t->count[SPMU_UARCH_WALK_READS]++;
	t->count[SPMU_UARCH_WALK_L1_MISSES] += level > SPMU_LEVEL_L1;
	t->count[SPMU_UARCH_WALK_L2_MISSES] += level > SPMU_LEVEL_L2;
	t->count[SPMU_UARCH_WALK_LLC_MISSES] += level > SPMU_LEVEL_LLC;
}

void walk_page(struct spmu_uarch *u, struct thread *t, uint64_t linear, unsigned page_shift)
{
	unsigned shift = page_shift + BITS;
	struct cache *c;

	if (!(u->machine.properties & SPMU_MACHINE_WALK_READS))
		return;
	linear &= LINEAR_MASK;
	/* The lowest entry that refers to a table and is known. */
	while (shift <= TOP_SHIFT &&
	       !((c = cache_at(&t->walker, shift)) && cache_use(c, linear >> shift)))
		shift += BITS;
	while (shift > page_shift) {
		shift -= BITS;
		read_entry(u, t, linear, shift);
		c = shift > page_shift ? cache_at(&t->walker, shift) : NULL;
		if (c)
			cache_insert(c, linear >> shift, 0);
	}
}
