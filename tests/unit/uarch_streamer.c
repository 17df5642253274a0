/* SPDX-License-Identifier: MIT */
/*
 * uarch_streamer.c: the streamer (src/uarch/streamer.c), with walks whose misses can be counted by
 * hand.
 */
#include "uarch_host.h"

#define LRU                                                                                        \
	{                                                                                          \
		.policy = SPMU_REPLACE_LRU                                                         \
	}
#define PAGE_LINES (PAGE / LINE)

/* A first level of four lines, and a second that holds everything. */
static struct uarch_host make(unsigned properties, bool two_levels)
{
	struct spmu_machine m = {
		.size = sizeof(struct spmu_machine),
		.l1i = {4 * LINE, 4, LINE, LRU},
		.l1d = {4 * LINE, 4, LINE, LRU},
		.l2 = {1u << 20, 16, LINE, LRU},
		.properties = properties,
	};

	if (two_levels) {
		m.llc = m.l2;
		m.l2.bytes = 0;
	}
	return uarch_make(&m, 1, NULL);
}

/* Loads every `stride`th line of a page, in one direction.  Returns how many came from memory. */
static unsigned walk(struct uarch_host *h, unsigned page, int stride)
{
	unsigned misses = 0;

	for (int i = 0; i<(int)PAGE_LINES; i += stride> 0 ? stride : -stride) {
		unsigned line = stride > 0 ? (unsigned)i : PAGE_LINES - 1 - (unsigned)i;

		misses += load(h, 0, (uint64_t)page * PAGE + (uint64_t)line * LINE) ==
			  SPMU_LEVEL_MEMORY;
	}
	return misses;
}

/* Checks that a walk misses until its third request, in each page, in both directions. */
static void follows_both_directions(void)
{
	for (unsigned two_levels = 0; two_levels < 2; two_levels++) {
		struct uarch_host h = make(SPMU_MACHINE_STREAMER, two_levels);

		for (unsigned page = 1; page < 5; page++) {
			CHECK_EQ(walk(&h, page, 1), 3);
			CHECK_EQ(walk(&h, page + 10, -1), 3);
		}
		/* It reads no line of other pages, and none twice. */
		CHECK_EQ(h.count[SPMU_UARCH_MEMORY_READS], 8 * PAGE_LINES);
		CHECK_EQ(h.count[SPMU_UARCH_PREFETCHES], 8 * (PAGE_LINES - 3));
		free(h.memory);
	}
}

static void is_off_by_default(void)
{
	struct uarch_host h = make(0, false);

	CHECK_EQ(walk(&h, 1, 1), PAGE_LINES);
	CHECK_EQ(h.count[SPMU_UARCH_PREFETCHES], 0);
	free(h.memory);
}

/* Checks that it runs at most 20 lines ahead: after n requests, 2 (n - 2) lines, then 20. */
static void stays_near(void)
{
	struct uarch_host h = make(SPMU_MACHINE_STREAMER, false);

	for (unsigned n = 1; n <= 40; n++) {
		uint64_t last = n - 1, ahead = n < 3 ? 0 : 2 * (n - 2);

		load(&h, 0, PAGE + last * LINE);
		/* Line 2 is the third request, at which lines 3 and 4 are prefetched. */
		if (n >= 3)
			ahead = 2 + ahead > last + 20 ? 20 : 2 + ahead - last;
		CHECK_EQ(h.count[SPMU_UARCH_PREFETCHES], n < 3 ? 0 : last + ahead - 2);
	}
	free(h.memory);
}

/* Checks that a walk that turns back each time is no stream. */
static void needs_one_direction(void)
{
	struct uarch_host h = make(SPMU_MACHINE_STREAMER, false);

	for (unsigned i = 0; i < 16; i++) {
		load(&h, 0, PAGE + (uint64_t)(8 + i) * LINE);
		load(&h, 0, PAGE + (uint64_t)(40 - i) * LINE);
	}
	CHECK_EQ(h.count[SPMU_UARCH_PREFETCHES], 0);
	free(h.memory);
}

/* Checks that it follows 32 pages in turn, and that 33 forget each other. */
static void follows_32_pages(void)
{
	for (unsigned pages = 32; pages <= 33; pages++) {
		struct uarch_host h = make(SPMU_MACHINE_STREAMER, false);

		for (unsigned line = 0; line < 10; line++)
			for (unsigned page = 0; page < pages; page++)
				load(&h, 0, (uint64_t)page * PAGE + (uint64_t)line * LINE);
		CHECK_EQ(h.count[SPMU_UARCH_LOAD_L2_MISSES], pages == 32 ? 32 * 3 : 33 * 10);
		free(h.memory);
	}
}

/* Checks that fetches of instructions are requests, too. */
static void follows_fetches(void)
{
	struct uarch_host h = make(SPMU_MACHINE_STREAMER, false);

	for (unsigned line = 0; line < PAGE_LINES; line++)
		(void)spmu_uarch_fetch(h.model, 0, PAGE + (uint64_t)line * LINE, 4);
	CHECK_EQ(h.count[SPMU_UARCH_FETCH_L2_MISSES], 3);
	free(h.memory);
}

int main(void)
{
	RUN(follows_both_directions());
	RUN(is_off_by_default());
	RUN(stays_near());
	RUN(needs_one_direction());
	RUN(follows_32_pages());
	RUN(follows_fetches());
	return test_summary();
}
