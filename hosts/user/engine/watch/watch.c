/* SPDX-License-Identifier: MIT */
/*
 * watch.c: notices writes to translated code.  A writable page becomes read-only when code in it
 * is translated.  When the program or the kernel is about to write there, the page is opened and
 * its translations are dropped.
 */
#include "engine/watch/watch.h"

#include <linux/mman.h>

#include "engine/cache/cache.h"
#include "engine/memory/pages.h"
#include "engine/memory/regions.h"
#include "engine/rt/engine.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"
#include "engine/watch/aliases.h"

bool watch_has_page(uint64_t address)
{
	return page_has(address, PAGE_WATCHED);
}

bool watch_page(uint64_t pc)
{
	bool elsewhere;

	if (page_has(pc, PAGE_TRANSLATED))
		return false;
	if (!page_set(pc, PAGE_TRANSLATED))
		engine_unsupported("the program has more code above 2 GiB than can be followed");
	elsewhere = aliases_watch(pc);
	if (!region_is_writable(pc) || watch_has_page(pc))
		return elsewhere;
	/* The mark first, so that a thread that faults finds it. */
	page_set(pc, PAGE_WATCHED);
	sys_protect(pc & -PAGE, PAGE, PROT_READ);
	return true;
}

bool watch_is_constant(uint64_t pc)
{
	return region_is_constant(pc) && !aliases_of_code(pc) && !page_has(pc, PAGE_PINNED);
}

void watch_open(uint64_t address)
{
	sys_protect(address & -PAGE, PAGE, PROT_READ | PROT_WRITE);
}

bool watch_any(uint64_t start, uint64_t bytes)
{
	return pages_have(start, bytes, PAGE_WATCHED);
}

/* The other threads are stopped.  So a thread that faults finds the mark, or a writable page. */
void watch_end(uint64_t start, uint64_t bytes)
{
	uint64_t end = start + bytes;

	lock_stop_others();
	for (uint64_t at = start; (at = pages_next(at, end, PAGE_WATCHED)) < end; at += PAGE) {
		watch_open(at);
		if (page_has(at, PAGE_TRANSLATED))
			blocks_forget_pages(at, 1);
		aliases_forget(at);
	}
	pages_clear(start, end, PAGE_WATCHED);
	lock_resume_others();
}

void watch_give_up(uint64_t address)
{
	if (address >= REGION_LOW_END)
		page_set(address, PAGE_VOLATILE);
}

static void pin_pages(uint64_t start, uint64_t end)
{
	watch_end(start, end - start);
	blocks_forget_pages(start, end - start);
	for (uint64_t at = start & -PAGE; at < end; at += PAGE)
		if (!page_set(at, PAGE_PINNED))
			engine_unsupported("the program registers more code above 2 GiB as buffers "
					   "than can be followed");
}

void watch_pin(uint64_t start, uint64_t bytes)
{
	uint64_t end = start + bytes, from, to;

	lock_stop_others();
	for (from = start; region_next_writable(&from, &to, end); from = to) {
		region_expect_pinned();
		pin_pages(from, to);
	}
	lock_resume_others();
}

/* The lock is held until the change is complete, so nothing is translated in between. */
void watch_code_changes(uint64_t start, uint64_t bytes)
{
	if (watch_any(start, bytes))
		watch_end(start, bytes);
	if (pages_have(start, bytes, PAGE_TRANSLATED))
		blocks_forget_pages(start, bytes);
}
