/* SPDX-License-Identifier: MIT */
/*
 * pages.c: marks of single pages of the program: a byte for each page below 2 GiB, and a table
 * by page number above, where some compilers put their code.
 *
 * Only the owner of the lock changes marks.  A page stays in its entry of the table, in the end
 * without marks, until the table is rebuilt while the other threads are stopped.
 */
#include "engine/memory/pages.h"

#include "engine/rt/sys.h"
#include "hosts/user/hash.h"

#define LOW_PAGES (UINT64_C(0x80000000) / PAGE)
#define SLOTS	  (1u << 17)
#define HIGH_MOST (SLOTS / 2)

struct page {
	uint64_t number; /* 0: the entry is free */
	uint8_t marks;
};

static uint8_t *low;
static struct page *slot;
static uint32_t high[HIGH_MOST]; /* the entries in use */
static uint32_t highs;

void pages_start(void)
{
	low = heap_allocate(LOW_PAGES);
	slot = heap_allocate(SLOTS * sizeof(*slot));
}

/* Returns the page's entry, or the free one where it belongs. */
static struct page *find(uint64_t number)
{
	uint32_t i = (uint32_t)(hash_of(number) >> 40);
	uint64_t there;

	for (;; i++) {
		there = __atomic_load_n(&slot[i % SLOTS].number, __ATOMIC_ACQUIRE);
		if (!there || there == number)
			return &slot[i % SLOTS];
	}
}

bool page_has(uint64_t address, unsigned mark)
{
	uint64_t number = address / PAGE;

	return (number < LOW_PAGES ? low[number] : find(number)->marks) & mark;
}

bool page_set(uint64_t address, unsigned mark)
{
	uint64_t number = address / PAGE;
	struct page *p;

	if (number < LOW_PAGES) {
		low[number] |= (uint8_t)mark;
		return true;
	}
	p = find(number);
	if (!p->number) {
		if (highs == HIGH_MOST)
			return false;
		high[highs++] = (uint32_t)(p - slot);
		__atomic_store_n(&p->number, number, __ATOMIC_RELEASE);
	}
	p->marks |= (uint8_t)mark;
	return true;
}

/* Pages `from` to `to`-1, above 2 GiB: either page by page, or all that have an entry, whichever
 * is less work. */
static uint64_t next_high(uint64_t from, uint64_t to, unsigned marks)
{
	uint64_t best = to;

	if (to - from <= highs) {
		while (from < to && !(find(from)->marks & marks))
			from++;
		return from;
	}
	for (uint32_t i = 0; i < highs; i++) {
		const struct page *p = &slot[high[i]];

		if (p->number >= from && p->number < best && p->marks & marks)
			best = p->number;
	}
	return best;
}

uint64_t pages_next(uint64_t start, uint64_t end, unsigned marks)
{
	uint64_t from = start / PAGE, to = end / PAGE + (end % PAGE != 0);

	for (; from < to && from < LOW_PAGES; from++)
		if (low[from] & marks)
			return from * PAGE;
	from = from < to ? next_high(from, to, marks) : to;
	return from < to ? from * PAGE : end;
}

void pages_clear(uint64_t start, uint64_t end, unsigned marks)
{
	for (uint64_t at = start; (at = pages_next(at, end, marks)) < end; at += PAGE) {
		uint64_t number = at / PAGE;
		uint8_t *now = number < LOW_PAGES ? &low[number] : &find(number)->marks;

		*now &= (uint8_t)~marks;
	}
}

/* Only pages with other marks stay. */
void pages_forget_high(void)
{
	static struct page kept[HIGH_MOST];
	uint32_t n = 0;

	for (uint32_t i = 0; i < highs; i++) {
		struct page *p = &slot[high[i]];

		p->marks &= (uint8_t)~PAGE_TRANSLATED;
		if (p->marks)
			kept[n++] = *p;
		*p = (struct page){0};
	}
	highs = 0;
	while (n--)
		page_set(kept[n].number * PAGE, kept[n].marks);
}
