/* SPDX-License-Identifier: MIT */
/*
 * regions.c: which memory of the program can hold code.
 *
 * The program's executable mappings are made without PROT_EXEC.  A jump that leaves the
 * translated code faults instead of running uncounted.  Code below 2 GiB (places.c) is within
 * reach of the code cache: a copied RIP-relative operand reaches its target, and a return
 * address fits a sign-extended immediate.
 */
#include <linux/mman.h>
#include <linux/resource.h>

#include <asm/unistd.h>

#include <hosts/user/decode/decode.h>

#include "engine/memory/pages.h"
#include "engine/memory/regions.h"
#include "engine/rt/engine.h"
#include "engine/rt/reach.h"
#include "engine/rt/sys.h"

#define REGIONS_MAX 8192

struct region {
	uint64_t start, end;
	bool writable, stack;
};

static struct region *region; /* executable memory, sorted, not overlapping */
static unsigned regions;
static bool any_pinned;

/*
 * The owner of the lock changes all this.  Other threads look up regions meanwhile: an odd
 * number says that a change is in progress.
 */
static uint32_t changes;

static void change_begins(void)
{
	__atomic_add_fetch(&changes, 1, __ATOMIC_SEQ_CST);
}

static void change_ends(void)
{
	__atomic_add_fetch(&changes, 1, __ATOMIC_RELEASE);
}

static uint32_t look_begins(void)
{
	uint32_t seen;

	while ((seen = __atomic_load_n(&changes, __ATOMIC_ACQUIRE)) & 1)
		__builtin_ia32_pause();
	return seen;
}

static bool look_holds(uint32_t seen)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&changes, __ATOMIC_RELAXED) == seen;
}

bool regions_are_changing(void)
{
	return __atomic_load_n(&changes, __ATOMIC_RELAXED) & 1;
}

void regions_start(void)
{
	region = heap_allocate(REGIONS_MAX * sizeof(*region));
	pages_start();
}

/* Returns the first region that ends after `address`: mostly the one that was found last. */
static unsigned region_after(uint64_t address)
{
	static unsigned last;
	unsigned low = 0, high = regions, seen = __atomic_load_n(&last, __ATOMIC_RELAXED);

	if (seen < high && region[seen].start <= address && address < region[seen].end)
		return seen;
	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (region[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	__atomic_store_n(&last, low, __ATOMIC_RELAXED);
	return low;
}

static void region_insert(unsigned at, struct region new)
{
	if (regions == REGIONS_MAX)
		engine_unsupported("more than 8192 executable mappings");
	memmove(region + at + 1, region + at, (regions - at) * sizeof(*region));
	region[at] = new;
	regions++;
}

static void region_remove(unsigned at)
{
	regions--;
	memmove(region + at, region + at + 1, (regions - at) * sizeof(*region));
}

static void carve(uint64_t start, uint64_t end)
{
	unsigned i = region_after(start);

	while (i < regions && region[i].start < end) {
		struct region old = region[i];

		region_remove(i);
		if (old.start < start)
			region_insert(i++,
				      (struct region){old.start, start, old.writable, old.stack});
		if (old.end > end)
			region_insert(i++, (struct region){end, old.end, old.writable, old.stack});
	}
}

/* Makes the range this region, if that is not empty.  No page of it is watched. */
static void change(uint64_t start, uint64_t end, struct region new)
{
	change_begins();
	carve(start, end);
	if (new.end)
		region_insert(region_after(start), new);
	change_ends();
	pages_clear(start, end, PAGE_WATCHED | PAGE_VOLATILE);
}

void regions_remove(uint64_t start, uint64_t bytes)
{
	pages_clear(start, start + bytes, PAGE_PINNED);
	change(start, start + in_pages(bytes), (struct region){0});
}

void regions_add(uint64_t start, uint64_t bytes, int protection)
{
	uint64_t end = start + in_pages(bytes);
	struct region code = {start, end, (protection & PROT_WRITE) != 0, false};

	change(start, end, protection & PROT_EXEC ? code : (struct region){0});
}

void regions_add_stack(uint64_t start, uint64_t end)
{
	change(start, end, (struct region){start, end, true, true});
}

static uint64_t code_end(uint64_t pc)
{
	unsigned i = region_after(pc);
	uint64_t end;

	if (i >= regions || region[i].start > pc)
		return 0;
	for (end = region[i].end; i + 1 < regions && region[i + 1].start == end;)
		end = region[++i].end;
	return end;
}

uint64_t region_code_end(uint64_t pc)
{
	uint32_t seen;
	uint64_t end;

	do {
		seen = look_begins();
		end = code_end(pc);
	} while (!look_holds(seen));
	return end;
}

bool region_is_writable(uint64_t pc)
{
	return region[region_after(pc)].writable;
}

bool region_is_constant(uint64_t pc)
{
	unsigned i = region_after(pc);

	return i < regions && region[i].start <= pc && !region[i].writable;
}

bool region_next_writable(uint64_t *from, uint64_t *to, uint64_t end)
{
	for (unsigned i = region_after(*from); *from < end && i < regions && region[i].start < end;
	     i++) {
		const struct region *r = &region[i];

		if (!r->writable)
			continue;
		*from = *from > r->start ? *from : r->start;
		*to = end < r->end ? end : r->end;
		return true;
	}
	return false;
}

void region_expect_pinned(void)
{
	any_pinned = true;
}

static bool is_volatile(uint64_t address)
{
	unsigned i = region_after(address);

	if (i >= regions || region[i].start > address)
		return false;
	return page_has(address, PAGE_PINNED) ||
	       (region[i].writable && (region[i].stack || page_has(address, PAGE_VOLATILE)));
}

/* The last byte of the instruction may be in the next page. */
bool region_is_volatile(uint64_t pc)
{
	uint32_t seen;
	bool is;

	if (pc < REGION_LOW_END && !any_pinned)
		return false;
	do {
		seen = look_begins();
		is = is_volatile(pc) || ((pc + INSN_BYTES_MAX - 1) / PAGE != pc / PAGE &&
					 is_volatile(pc + INSN_BYTES_MAX - 1));
	} while (!look_holds(seen));
	return is;
}

/* A block is shorter than a page. */
uint64_t region_block_end(uint64_t pc)
{
	uint64_t end = region_code_end(pc), next = (pc & -PAGE) + PAGE;

	if ((pc < REGION_LOW_END && !any_pinned) || end <= next || !region_is_volatile(next))
		return end;
	return next;
}

uint64_t region_as_mapped(uint64_t at, uint64_t end, bool *code, bool *writable)
{
	unsigned i = region_after(at);

	*code = i < regions && region[i].start <= at;
	if (*code) {
		*writable = region[i].writable;
		return region[i].end < end ? region[i].end : end;
	}
	if (i < regions && region[i].start < end)
		end = region[i].start;
	*writable = page_has(at, PAGE_WATCHED);
	return *writable ? at + PAGE : pages_next(at, end, PAGE_WATCHED);
}

void regions_forget_translations(void)
{
	for (unsigned i = 0; i < regions && region[i].start < REGION_LOW_END; i++)
		pages_clear(region[i].start,
			    region[i].end < REGION_LOW_END ? region[i].end : REGION_LOW_END,
			    PAGE_TRANSLATED);
	pages_forget_high();
}

/* --- of other processes --- */

static bool read_of(uint32_t pid, const void *from, void *to, size_t bytes)
{
	return reach_read(pid, (uint64_t)from, to, bytes) == (long)bytes;
}

/* The engine is at the same address in all of them. */
unsigned regions_read(uint32_t pid, struct region_of *to)
{
	const struct region *list;
	unsigned count;

	_Static_assert(sizeof(struct region) == sizeof(struct region_of) &&
			       REGIONS_MAX == REGIONS_OF_MAX,
		       "a copy of the list");
	if (!read_of(pid, &region, (void *)&list, sizeof(uint64_t)) ||
	    !read_of(pid, &regions, &count, sizeof(count)) || !count || count > REGIONS_MAX ||
	    !read_of(pid, list, to, count * sizeof(*to)))
		return 0;
	return count;
}
