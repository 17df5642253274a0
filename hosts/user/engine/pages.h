/* SPDX-License-Identifier: MIT */
/* pages.h: what is known of single pages of the program's code (pages.c). */
#ifndef SOFTPMU_ENGINE_PAGES_H
#define SOFTPMU_ENGINE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#define PAGE UINT64_C(4096)

#define PAGE_TRANSLATED 1u
#define PAGE_WATCHED	2u /* made read-only by us */
#define PAGE_VOLATILE	4u /* code beside data that is written all the time: a stack */
#define PAGE_PINNED	8u /* the kernel may write to this code at any time */

void pages_start(void);
/* Has the page this mark?  Asked without the lock, too. */
bool page_has(uint64_t address, unsigned mark);
/* False: there is no room for it. */
bool page_set(uint64_t address, unsigned mark);
/* The first page from `start`, before `end`, that has one of these marks; `end`: there is none. */
uint64_t pages_next(uint64_t start, uint64_t end, unsigned marks);
void pages_clear(uint64_t start, uint64_t end, unsigned marks);
/* No page above 2 GiB is translated.  The other threads are stopped. */
void pages_forget_high(void);

#endif
