/* SPDX-License-Identifier: MIT */
/* pages.h: marks of single pages of the program's code (pages.c). */
#ifndef SOFTPMU_ENGINE_PAGES_H
#define SOFTPMU_ENGINE_PAGES_H

#include "engine/rt/sys.h"

#include <stdbool.h>
#include <stdint.h>

#define PAGE_TRANSLATED 1u
#define PAGE_WATCHED	2u  /* made read-only by the engine */
#define PAGE_VOLATILE	4u  /* code next to data that is written all the time: a stack */
#define PAGE_PINNED	8u  /* the kernel may write to this code at any time */
#define PAGE_SECTIONS	16u /* of restartable sequences (sections.c), or in front of one */

void pages_start(void);
/* Returns whether the page has this mark.  May be called without the lock. */
bool page_has(uint64_t address, unsigned mark);
/* Returns false if the table has no free entry. */
bool page_set(uint64_t address, unsigned mark);
/* Returns the first page from `start`, before `end`, that has one of these marks.  `end`: there
 * is none. */
uint64_t pages_next(uint64_t start, uint64_t end, unsigned marks);
/* Has one of these pages this mark? */
static inline bool pages_have(uint64_t start, uint64_t bytes, unsigned mark)
{
	return pages_next(start, start + bytes, mark) < start + bytes;
}
void pages_clear(uint64_t start, uint64_t end, unsigned marks);
/* Forgets the marks of translated pages above 2 GiB.  The other threads are stopped. */
void pages_forget_high(void);

#endif
