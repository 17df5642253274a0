/* SPDX-License-Identifier: MIT */
/*
 * memory.c: which memory of the program can hold code, where code is mapped, and
 * which of its pages have been translated.
 *
 * All code is placed in one window below 2 GiB together with the code cache, so that a
 * copied RIP-relative operand reaches its target and a return address
 * fits a sign-extended immediate.  The program's executable mappings are made without
 * PROT_EXEC: a jump that would escape translation faults instead of
 * running uncounted.
 */
#include <linux/mman.h>
#include <linux/resource.h>

#include <asm/unistd.h>

#include "engine.h"
#include "sys.h"
#include "threads.h"

#define PAGE	    UINT64_C(4096)
#define WINDOW_END  UINT64_C(0x7fff0000)
#define PLACE_STEP  UINT64_C(0x100000)
#define REGIONS_MAX 8192
#define STACK_MOST  UINT64_C(0x4000000)
#define LOW_PAGES   (UINT64_C(0x80000000) / PAGE)

struct region {
	uint64_t start, end;
	bool writable;
};

static struct region *region; /* executable memory, in order, not overlapping */
static unsigned regions;
static uint64_t place_below;
static uint8_t *page_translated; /* one bit a page below 2 GiB */
static uint8_t *page_watched;	 /* made read-only by us */
static bool high_translated;	 /* some code above 2 GiB was */

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

void memory_start(void)
{
	region = engine_memory(REGIONS_MAX * sizeof(*region));
	page_translated = engine_memory(LOW_PAGES / 8);
	page_watched = engine_memory(LOW_PAGES / 8);
}

static bool is_free(uint64_t at, uint64_t bytes)
{
	long got = map_memory(at, bytes, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
			      0);

	if (!is_error(got))
		syscall2(__NR_munmap, got, (long)bytes);
	return (uint64_t)got == at;
}

uint64_t memory_place(uint64_t bytes)
{
	bytes = (bytes + PAGE - 1) & -PAGE;
	if (!place_below)
		place_below = WINDOW_END;
	while (bytes < place_below && place_below - bytes > (uint64_t)cache_end) {
		uint64_t at = place_below - bytes;

		if (is_free(at, bytes)) {
			place_below = at;
			return at;
		}
		place_below -= PLACE_STEP;
	}
	return 0;
}

uint64_t memory_place_first(uint64_t bytes)
{
	uint64_t at = ((uint64_t)cache_end + PLACE_STEP) & -PLACE_STEP;

	for (; bytes < WINDOW_END && at + bytes <= WINDOW_END; at += PLACE_STEP)
		if (is_free(at, bytes))
			return at;
	return 0;
}

void memory_stack(uint64_t start, uint64_t end)
{
	uint64_t limit[2] = {STACK_MOST, 0}, room;

	syscall4(__NR_prlimit64, 0, RLIMIT_STACK, 0, (long)limit);
	room = limit[0] < STACK_MOST ? limit[0] : STACK_MOST;
	start = (start & -PAGE) - (room & -PAGE);
	end = (end + PAGE - 1) & -PAGE;
	memory_mapped(start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC);
}

/* The first region that ends behind `address`. */
static unsigned region_after(uint64_t address)
{
	unsigned low = 0, high = regions;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (region[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
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
			region_insert(i++, (struct region){old.start, start, old.writable});
		if (old.end > end)
			region_insert(i++, (struct region){end, old.end, old.writable});
	}
}

/* Regions are given whole pages; no bit says of them that they are watched. */
static void forget_range(uint64_t start, uint64_t end)
{
	carve(start, end);
	for (uint64_t page = start / PAGE; page < end / PAGE && page < LOW_PAGES; page++)
		page_watched[page / 8] &= (uint8_t) ~(1u << page % 8);
}

void memory_unmapped(uint64_t start, uint64_t bytes)
{
	change_begins();
	forget_range(start, start + ((bytes + PAGE - 1) & -PAGE));
	change_ends();
}

void memory_mapped(uint64_t start, uint64_t bytes, int protection)
{
	uint64_t end = start + ((bytes + PAGE - 1) & -PAGE);

	change_begins();
	forget_range(start, end);
	if (protection & PROT_EXEC)
		region_insert(region_after(start),
			      (struct region){start, end, (protection & PROT_WRITE) != 0});
	change_ends();
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
	uint64_t page = address / PAGE;

	return page < LOW_PAGES && page_watched[page / 8] & 1u << page % 8;
}

bool memory_watch_page(uint64_t pc)
{
	uint64_t page = pc / PAGE;
	unsigned i;

	if (page >= LOW_PAGES) {
		high_translated = true;
		return false;
	}
	if (page_translated[page / 8] & 1u << page % 8)
		return false;
	page_translated[page / 8] |= (uint8_t)(1u << page % 8);
	i = region_after(pc);
	if (!region[i].writable || memory_is_watched(pc))
		return false;
	/* First the bit: whoever faults there finds it. */
	page_watched[page / 8] |= (uint8_t)(1u << page % 8);
	syscall3(__NR_mprotect, (long)(page * PAGE), (long)PAGE, PROT_READ);
	return true;
}

bool memory_is_volatile(uint64_t pc)
{
	uint32_t seen;
	bool is;

	if (pc / PAGE < LOW_PAGES)
		return false;
	do {
		unsigned i;

		seen = look_begins();
		i = region_after(pc);
		is = i < regions && region[i].start <= pc && region[i].writable;
	} while (!look_holds(seen));
	return is;
}

void memory_open(uint64_t address)
{
	syscall3(__NR_mprotect, (long)(address & -PAGE), (long)PAGE, PROT_READ | PROT_WRITE);
}

bool memory_watches(uint64_t start, uint64_t bytes)
{
	for (uint64_t page = start / PAGE; page < LOW_PAGES && page * PAGE < start + bytes; page++)
		if (memory_is_watched(page * PAGE))
			return true;
	return false;
}

/* While the world stands: so a thread that faults finds the bit, or a page that can be written. */
void memory_unwatch_range(uint64_t start, uint64_t bytes)
{
	threads_stop();
	for (uint64_t page = start / PAGE; page < LOW_PAGES && page * PAGE < start + bytes; page++)
		if (memory_is_watched(page * PAGE)) {
			page_watched[page / 8] &= (uint8_t) ~(1u << page % 8);
			memory_open(page * PAGE);
		}
	blocks_flush();
	threads_go();
}

bool memory_overlaps_engine(uint64_t start, uint64_t bytes)
{
	return start < (uint64_t)cache_end && start + bytes > (uint64_t)cache_base;
}

bool memory_has_translations(uint64_t start, uint64_t bytes)
{
	uint64_t end = start + bytes;
	unsigned i = region_after(start);

	if (i == regions || region[i].start >= end)
		return false;
	if (end > LOW_PAGES * PAGE)
		return high_translated;
	for (uint64_t page = start / PAGE; page < (end + PAGE - 1) / PAGE; page++)
		if (page_translated[page / 8] & 1u << page % 8)
			return true;
	return false;
}

void memory_forget_translations(void)
{
	high_translated = false;
	for (unsigned i = 0; i < regions; i++) {
		uint64_t end = region[i].end / PAGE;

		for (uint64_t page = region[i].start / PAGE; page < end && page < LOW_PAGES; page++)
			page_translated[page / 8] &= (uint8_t) ~(1u << page % 8);
	}
}
