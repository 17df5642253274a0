/* SPDX-License-Identifier: MIT */
/*
 * memory.c: which memory of the program can hold code, and how writes to code are noticed.
 *
 * The program's executable mappings are made without PROT_EXEC: a jump that would escape
 * translation faults instead of running uncounted.  Code below 2 GiB (places.c) is within reach of
 * the code cache: a copied RIP-relative operand reaches its target, and a return address fits a
 * sign-extended immediate.
 */
#include <linux/mman.h>
#include <linux/resource.h>

#include <asm/unistd.h>

#include "engine.h"
#include "keep.h"
#include "pages.h"
#include "sys.h"
#include "threads.h"
#include "views.h"

#define REGIONS_MAX 8192
#define STACK_MOST  UINT64_C(0x4000000)
#define LOW_END	    UINT64_C(0x80000000)

struct region {
	uint64_t start, end;
	bool writable, stack;
};

static struct region *region; /* executable memory, in order, not overlapping */
static unsigned regions;
static bool any_pinned;

/*
 * All this is changed by the holder of the lock.  Others look up regions while they change: an odd
 * number says that they do.
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

bool memory_is_changing(void)
{
	return __atomic_load_n(&changes, __ATOMIC_RELAXED) & 1;
}

void memory_start(void)
{
	region = engine_memory(REGIONS_MAX * sizeof(*region));
	pages_start();
}

/* The first region that ends behind `address`: mostly the one that was found last. */
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

/* The range is this region now, if that is not empty; no page of it is watched. */
static void change(uint64_t start, uint64_t end, struct region new)
{
	keep_changed(start, end);
	change_begins();
	carve(start, end);
	if (new.end)
		region_insert(region_after(start), new);
	change_ends();
	pages_clear(start, end, PAGE_WATCHED | PAGE_VOLATILE);
}

void memory_unmapped(uint64_t start, uint64_t bytes)
{
	pages_clear(start, start + bytes, PAGE_PINNED);
	change(start, start + ((bytes + PAGE - 1) & -PAGE), (struct region){0});
}

void memory_mapped(uint64_t start, uint64_t bytes, int protection)
{
	uint64_t end = start + ((bytes + PAGE - 1) & -PAGE);
	struct region code = {start, end, (protection & PROT_WRITE) != 0, false};

	change(start, end, protection & PROT_EXEC ? code : (struct region){0});
}

void memory_stack(uint64_t start, uint64_t end)
{
	uint64_t limit[2] = {STACK_MOST, 0}, room;

	syscall4(__NR_prlimit64, 0, RLIMIT_STACK, 0, (long)limit);
	room = limit[0] < STACK_MOST ? limit[0] : STACK_MOST;
	start = (start & -PAGE) - (room & -PAGE);
	end = (end + PAGE - 1) & -PAGE;
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

uint64_t memory_code_end(uint64_t pc)
{
	uint32_t seen;
	uint64_t end;

	do {
		seen = look_begins();
		end = code_end(pc);
	} while (!look_holds(seen));
	return end;
}

bool memory_is_watched(uint64_t address)
{
	return page_has(address, PAGE_WATCHED);
}

bool memory_watch_page(uint64_t pc)
{
	bool elsewhere;
	unsigned i;

	if (page_has(pc, PAGE_TRANSLATED))
		return false;
	i = region_after(pc);
	if (!page_set(pc, PAGE_TRANSLATED))
		engine_unsupported("the program has more code above 2 GiB than can be followed");
	elsewhere = views_watch(pc);
	if (!region[i].writable || memory_is_watched(pc))
		return elsewhere;
	/* First the mark: whoever faults there finds it. */
	page_set(pc, PAGE_WATCHED);
	syscall3(__NR_mprotect, (long)(pc & -PAGE), (long)PAGE, PROT_READ);
	return true;
}

static bool is_volatile(uint64_t address)
{
	unsigned i = region_after(address);

	if (i >= regions || region[i].start > address)
		return false;
	return page_has(address, PAGE_PINNED) ||
	       (region[i].writable && (region[i].stack || page_has(address, PAGE_VOLATILE)));
}

bool memory_is_constant(uint64_t pc)
{
	unsigned i = region_after(pc);

	return i < regions && region[i].start <= pc && !region[i].writable && !views_of_code(pc) &&
	       !page_has(pc, PAGE_PINNED);
}

/* The last byte of the instruction may be in the next page. */
bool memory_is_volatile(uint64_t pc)
{
	uint32_t seen;
	bool is;

	if (pc < LOW_END && !any_pinned)
		return false;
	do {
		seen = look_begins();
		is = is_volatile(pc) || ((pc + INSN_BYTES_MAX - 1) / PAGE != pc / PAGE &&
					 is_volatile(pc + INSN_BYTES_MAX - 1));
	} while (!look_holds(seen));
	return is;
}

/* A block is shorter than a page. */
uint64_t memory_block_end(uint64_t pc)
{
	uint64_t end = memory_code_end(pc), next = (pc & -PAGE) + PAGE;

	if ((pc < LOW_END && !any_pinned) || end <= next || !memory_is_volatile(next))
		return end;
	return next;
}

void memory_open(uint64_t address)
{
	syscall3(__NR_mprotect, (long)(address & -PAGE), (long)PAGE, PROT_READ | PROT_WRITE);
}

bool memory_watches(uint64_t start, uint64_t bytes)
{
	return pages_next(start, start + bytes, PAGE_WATCHED) < start + bytes;
}

/* While the world stands: so a thread that faults finds the mark, or a page that can be written. */
void memory_unwatch_range(uint64_t start, uint64_t bytes)
{
	uint64_t end = start + bytes;

	threads_stop();
	for (uint64_t at = start; (at = pages_next(at, end, PAGE_WATCHED)) < end; at += PAGE) {
		memory_open(at);
		if (page_has(at, PAGE_TRANSLATED))
			memory_forget(at, 1);
		views_forget(at);
	}
	pages_clear(start, end, PAGE_WATCHED);
	threads_go();
}

void memory_give_up(uint64_t address)
{
	if (address >= LOW_END)
		page_set(address, PAGE_VOLATILE);
}

static void pin_pages(uint64_t start, uint64_t end)
{
	memory_unwatch_range(start, end - start);
	memory_forget(start, end - start);
	for (uint64_t at = start & -PAGE; at < end; at += PAGE)
		if (!page_set(at, PAGE_PINNED))
			engine_unsupported("the program registers more code above 2 GiB as buffers "
					   "than can be followed");
}

void memory_pin(uint64_t start, uint64_t bytes)
{
	uint64_t end = start + bytes;

	threads_stop();
	for (unsigned i = region_after(start); i < regions && region[i].start < end; i++) {
		const struct region *r = &region[i];

		if (!r->writable)
			continue;
		any_pinned = true;
		pin_pages(start > r->start ? start : r->start, end < r->end ? end : r->end);
	}
	threads_go();
}

uint64_t memory_as_mapped(uint64_t at, uint64_t end, bool *code, bool *writable)
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

bool memory_has_translations(uint64_t start, uint64_t bytes)
{
	return pages_next(start, start + bytes, PAGE_TRANSLATED) < start + bytes;
}

/* Whole pages: what else is in them would not be watched. */
void memory_forget(uint64_t start, uint64_t bytes)
{
	uint64_t end = (start + bytes + PAGE - 1) & -PAGE;

	start &= -PAGE;
	blocks_forget(start, end);
	pages_clear(start, end, PAGE_TRANSLATED);
}

void memory_forget_translations(void)
{
	for (unsigned i = 0; i < regions && region[i].start < LOW_END; i++)
		pages_clear(region[i].start, region[i].end < LOW_END ? region[i].end : LOW_END,
			    PAGE_TRANSLATED);
	pages_forget_high();
}
