/* SPDX-License-Identifier: MIT */
/*
 * uarch_walk.c: page walks that read page tables, and paging-structure caches, with programs whose
 * reads can be counted by hand (Volume 3A, 4.5 and 4.10.3).
 */
#include "uarch_host.h"

#define LRU                                                                                        \
	{                                                                                          \
		.policy = SPMU_REPLACE_LRU                                                         \
	}
#define MB2 UINT64_C(0x200000)
#define GB1 UINT64_C(0x40000000)

/* Makes a machine with a TLB of one entry for each size, and these paging-structure caches. */
static struct uarch_host make(unsigned pde, unsigned pdpte, unsigned pml4e, unsigned properties,
			      unsigned (*page_shift)(void *, uint64_t))
{
	const struct spmu_machine m = {
		.size = sizeof(struct spmu_machine),
		.l1i = {4 * LINE, 4, LINE, LRU},
		.l1d = {64 * LINE, 64, LINE, LRU},
		.l2 = {1u << 20, 16, LINE, LRU},
		.dtlb = {{1, 1, 1u << 12}, {1, 1, 1u << 21}, {1, 1, 1u << 30}},
		.properties = properties,
		.paging = {(uint16_t)pde, (uint16_t)pdpte, (uint16_t)pml4e},
	};

	return uarch_make(&m, 1, page_shift);
}

/* Returns how many entries the walk for a load reads. */
static uint64_t reads(struct uarch_host *h, uint64_t linear)
{
	uint64_t before = h->count[SPMU_UARCH_WALK_READS];

	load(h, 0, linear);
	return h->count[SPMU_UARCH_WALK_READS] - before;
}

static void reads_nothing_by_default(void)
{
	struct uarch_host h = make(32, 4, 4, 0, NULL);

	CHECK_EQ(reads(&h, 0), 0);
	CHECK_EQ(h.count[SPMU_UARCH_DTLB_LOAD_WALKS], 1);
	free(h.memory);
}

static unsigned pages_of_2m(void *opaque, uint64_t linear)
{
	(void)opaque, (void)linear;
	return 21;
}

static unsigned pages_of_1g(void *opaque, uint64_t linear)
{
	(void)opaque, (void)linear;
	return 30;
}

/* Checks one read for each level: four, three for a page of 2 MB, two for 1 GB. */
static void reads_each_level(void)
{
	struct uarch_host h = make(0, 0, 0, SPMU_MACHINE_WALK_READS, NULL);

	CHECK_EQ(reads(&h, 0), 4);
	CHECK_EQ(reads(&h, 8), 0); /* the TLB has the page */
	CHECK_EQ(reads(&h, PAGE), 4);
	CHECK_EQ(h.count[SPMU_UARCH_LOADS], 3);
	/* The second walk reads the same lines: entries of 8 pages are in a line. */
	CHECK_EQ(h.count[SPMU_UARCH_WALK_L1_MISSES], 4);
	CHECK_EQ(h.count[SPMU_UARCH_WALK_LLC_MISSES], 4);
	CHECK_EQ(reads(&h, 8 * PAGE), 4);
	CHECK_EQ(h.count[SPMU_UARCH_WALK_L1_MISSES], 5);
	CHECK_EQ(h.count[SPMU_UARCH_LOAD_L1_MISSES], 3);
	free(h.memory);
	h = make(0, 0, 0, SPMU_MACHINE_WALK_READS, pages_of_2m);
	CHECK_EQ(reads(&h, 0), 3);
	free(h.memory);
	h = make(0, 0, 0, SPMU_MACHINE_WALK_READS, pages_of_1g);
	CHECK_EQ(reads(&h, 0), 2);
	free(h.memory);
}

/* Checks that a walk begins after the lowest entry that a cache has. */
static void skips_known_levels(void)
{
	struct uarch_host h = make(2, 1, 1, SPMU_MACHINE_WALK_READS, NULL);

	CHECK_EQ(reads(&h, 0), 4);
	CHECK_EQ(reads(&h, PAGE), 1);	    /* the PDE is known */
	CHECK_EQ(reads(&h, MB2), 2);	    /* the PDPTE */
	CHECK_EQ(reads(&h, PAGE), 1);	    /* both PDEs */
	CHECK_EQ(reads(&h, 2 * MB2), 2);    /* it replaces the PDE that was used longest ago */
	CHECK_EQ(reads(&h, MB2 + PAGE), 2); /* that one */
	CHECK_EQ(reads(&h, GB1), 3);	    /* the PML4E */
	CHECK_EQ(reads(&h, 512 * GB1), 4);  /* nothing */
	CHECK_EQ(reads(&h, 0), 4);	    /* each cache but the first has one entry */
	CHECK_EQ(h.count[SPMU_UARCH_DTLB_LOAD_WALKS], 9);
	free(h.memory);
	/* A PDE that maps a page is in no paging-structure cache. */
	h = make(2, 1, 0, SPMU_MACHINE_WALK_READS, pages_of_2m);
	CHECK_EQ(reads(&h, 0), 3);
	CHECK_EQ(reads(&h, MB2), 1);
	CHECK_EQ(reads(&h, 0), 1);
	free(h.memory);
}

/* Checks that walks compete with data for the caches, and start no prefetches. */
static void shares_the_caches(void)
{
	struct uarch_host h = make(0, 0, 0,
				   SPMU_MACHINE_WALK_READS | SPMU_MACHINE_NEXT_LINE |
					   SPMU_MACHINE_ADJACENT_LINE | SPMU_MACHINE_STREAMER,
				   NULL);

	load(&h, 0, 0);
	CHECK_EQ(h.count[SPMU_UARCH_PREFETCHES],
		 2); /* next and adjacent line, which are the same: */
	free(h.memory);
	h = make(0, 0, 0, SPMU_MACHINE_WALK_READS, NULL);
	for (unsigned turn = 0; turn < 2; turn++)
		for (unsigned page = 0; page < 64; page++)
			load(&h, 0, (uint64_t)page * (PAGE + LINE));
	/* 64 lines of data alone would fit. */
	CHECK(h.count[SPMU_UARCH_LOAD_L1_MISSES] > 64);
	free(h.memory);
}

int main(void)
{
	RUN(reads_nothing_by_default());
	RUN(reads_each_level());
	RUN(skips_known_levels());
	RUN(shares_the_caches());
	return test_summary();
}
