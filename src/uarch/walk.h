/* SPDX-License-Identifier: MIT */
/* walk.h: page walks that read page tables (walk.c). */
#ifndef SPMU_SRC_UARCH_WALK_H
#define SPMU_SRC_UARCH_WALK_H

#include "src/uarch/cache.h"

#define PAGING_CACHES 3

/* The paging-structure caches of a thread, in the order of spmu_machine.paging. */
struct walker {
	struct cache cache[PAGING_CACHES];
};

struct spmu_uarch;
struct thread;

/* Returns how many bytes of memory the walker of a thread needs. */
size_t walk_bytes(const struct spmu_machine *machine);

/* Makes a walker in `memory`.  Returns the memory after it. */
uint8_t *walk_create(struct walker *w, uint8_t *memory, const struct spmu_machine *machine);

/* Reads what translates a page of 2^page_shift bytes. */
void walk_page(struct spmu_uarch *u, struct thread *t, uint64_t linear, unsigned page_shift);

#endif
