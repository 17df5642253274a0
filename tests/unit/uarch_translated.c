/* SPDX-License-Identifier: MIT */
/*
 * uarch_translated.c: accesses with linear and physical addresses
 * (spmu_uarch_access_translated()), and what accesses find in the caches of other threads.
 */
#include "uarch_host.h"

/* Reports a load or store of 8 bytes in a page of 4 KB. */
static enum spmu_uarch_level reach(struct uarch_host *h, unsigned thread, uint64_t linear,
				   uint64_t physical, unsigned kind)
{
	const struct spmu_uarch_translated access = {.linear = linear,
						     .physical = physical,
						     .bytes = 8,
						     .page_shift = 12,
						     .kind = (uint8_t)kind};

	return spmu_uarch_access_translated(h->model, thread, &access);
}

#define LOAD SPMU_UARCH_LOAD

/* Checks that two linear addresses of a physical line are one line, with a translation each. */
static void caches_are_physical(void)
{
	struct uarch_host h = uarch_make(spmu_machine_find("skylake"), 1, NULL);

	CHECK_EQ(reach(&h, 0, 0x1000, 0x90000, LOAD), SPMU_LEVEL_MEMORY);
	CHECK_EQ(reach(&h, 0, 0x5000, 0x90008, LOAD), SPMU_LEVEL_L1);
	CHECK_EQ(h.count[SPMU_UARCH_DTLB_LOAD_WALKS], 2);
	CHECK_EQ(reach(&h, 0, 0x1000, 0xa0000, LOAD), SPMU_LEVEL_MEMORY);
	CHECK_EQ(h.count[SPMU_UARCH_DTLB_LOAD_WALKS], 2);
	CHECK_EQ(reach(&h, 0, 0x9000, 0x90000, SPMU_UARCH_FETCH), SPMU_LEVEL_L2);
	CHECK_EQ(h.count[SPMU_UARCH_ITLB_WALKS], 1);
	CHECK_EQ(h.count[SPMU_UARCH_FETCHES], 1);
	CHECK_EQ(h.count[SPMU_UARCH_LOADS], 3);
	free(h.memory);
}

/* Checks an access in two pages, whose physical pages are not adjacent. */
static void crosses_pages(void)
{
	struct uarch_host h = uarch_make(spmu_machine_find("skylake"), 1, NULL);
	const struct spmu_uarch_translated access = {.linear = 0x1ffc,
						     .physical = 0x90ffc,
						     .next_page = 0x70000,
						     .bytes = 8,
						     .page_shift = 12,
						     .kind = LOAD};

	CHECK_EQ(spmu_uarch_access_translated(h.model, 0, &access), SPMU_LEVEL_MEMORY);
	CHECK_EQ(h.count[SPMU_UARCH_LOADS], 1);
	CHECK_EQ(h.count[SPMU_UARCH_LOAD_SPLITS], 1);
	CHECK_EQ(h.count[SPMU_UARCH_MEMORY_READS], 2);
	CHECK_EQ(reach(&h, 0, 0x1f00, 0x90fc0, LOAD), SPMU_LEVEL_L1);
	CHECK_EQ(reach(&h, 0, 0x2000, 0x70000, LOAD), SPMU_LEVEL_L1);
	CHECK_EQ(reach(&h, 0, 0x2000, 0x91000, LOAD), SPMU_LEVEL_MEMORY);
	CHECK_EQ(h.count[SPMU_UARCH_DTLB_LOAD_WALKS], 1); /* both pages in one walk */
	free(h.memory);
}

/* Checks that a page of 2 MB needs one translation. */
static void knows_large_pages(void)
{
	struct uarch_host h = uarch_make(spmu_machine_find("skylake"), 1, NULL);
	struct spmu_uarch_translated access = {.bytes = 8, .page_shift = 21, .kind = LOAD};

	for (uint64_t at = 0; at < UINT64_C(1) << 21; at += PAGE) {
		access.linear = UINT64_C(0x40000000) + at;
		access.physical = at;
		(void)spmu_uarch_access_translated(h.model, 0, &access);
	}
	CHECK_EQ(h.count[SPMU_UARCH_DTLB_LOAD_WALKS], 1);
	free(h.memory);
}

/* Checks which translations are forgotten, and that lines are not. */
static void forgets(void)
{
	struct uarch_host h = uarch_make(spmu_machine_find("skylake"), 2, NULL);
	const uint64_t *walks = &h.count[SPMU_UARCH_DTLB_LOAD_WALKS];

	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQ(reach(&h, 0, 0x1000, 0x90000, LOAD),
			 i ? SPMU_LEVEL_L1 : SPMU_LEVEL_MEMORY);
		CHECK_EQ(reach(&h, 0, 0x2000, 0xa0000, LOAD),
			 i ? SPMU_LEVEL_L1 : SPMU_LEVEL_MEMORY);
	}
	CHECK_EQ(*walks, 2);
	spmu_uarch_forget_page(h.model, 0, 0x1ff8);
	CHECK_EQ(reach(&h, 0, 0x2000, 0xa0000, LOAD), SPMU_LEVEL_L1);
	CHECK_EQ(*walks, 2);
	CHECK_EQ(reach(&h, 0, 0x1000, 0x90000, LOAD), SPMU_LEVEL_L1);
	CHECK_EQ(*walks, 3);
	spmu_uarch_forget_translations(h.model, 1);
	CHECK_EQ(reach(&h, 0, 0x2000, 0xa0000, LOAD), SPMU_LEVEL_L1);
	CHECK_EQ(*walks, 3);
	spmu_uarch_forget_translations(h.model, 0);
	CHECK_EQ(reach(&h, 0, 0x1000, 0x90000, LOAD), SPMU_LEVEL_L1);
	CHECK_EQ(reach(&h, 0, 0x2000, 0xa0000, LOAD), SPMU_LEVEL_L1);
	CHECK_EQ(*walks, 5);
	free(h.memory);
}

static uint64_t tally(const struct uarch_host *h, unsigned thread, enum spmu_tally_kind kind)
{
	return spmu_uarch_tally(h->model, thread, kind);
}

/* Checks who answers the requests of a core (MEM_LOAD_L3_HIT_RETIRED, off-core responses). */
static void tells_who_answers(void)
{
	struct uarch_host h = uarch_make(spmu_machine_find("haswell"), 2, NULL);
	const uint64_t all =
		2000; /* lines: more than the second level has, and less than the last */

	for (uint64_t i = 0; i < 5 * all; i++)
		load(&h, 0, i * LINE);
	for (uint64_t i = 0; i < all; i++)
		load(&h, 0, i * LINE); /* from the last level */
	CHECK_EQ(tally(&h, 0, SPMU_TALLY_OFFCORE_DATA_MEMORY), 5 * all);
	CHECK_EQ(tally(&h, 0, SPMU_TALLY_OFFCORE_DATA_L3), all);
	CHECK_EQ(tally(&h, 0, SPMU_TALLY_LOAD_XSNP_NONE), all);
	load(&h, 1, 0);
	CHECK_EQ(tally(&h, 1, SPMU_TALLY_LOAD_XSNP_HIT), 1);
	CHECK_EQ(tally(&h, 1, SPMU_TALLY_OFFCORE_DATA_SHARED), 1);
	CHECK_EQ(tally(&h, 1, SPMU_TALLY_LOAD_L3_HITS), 1);
	store(&h, 0, LINE);
	CHECK_EQ(load(&h, 1, LINE), SPMU_LEVEL_OTHER);
	CHECK_EQ(tally(&h, 1, SPMU_TALLY_LOAD_XSNP_HITM), 1);
	CHECK_EQ(tally(&h, 1, SPMU_TALLY_OFFCORE_DATA_MODIFIED), 1);
	/* The other core has the line, so memory is not asked. */
	CHECK_EQ(tally(&h, 1, SPMU_TALLY_LOAD_L3_HITS), 2);
	CHECK_EQ(tally(&h, 1, SPMU_TALLY_LOAD_L3_MISSES), 0);
	CHECK_EQ(spmu_uarch_signal(h.model, 1, SPMU_SIG_LLC_MISS), 0);
	store(&h, 0, 2 * LINE);
	store(&h, 1, 2 * LINE);
	CHECK_EQ(tally(&h, 1, SPMU_TALLY_OFFCORE_OWN_MODIFIED), 1);
	CHECK_EQ(tally(&h, 1, SPMU_TALLY_OFFCORE_OWN_MEMORY), 0);
	(void)spmu_uarch_fetch(h.model, 1, 9 * all * LINE, 4);
	CHECK_EQ(tally(&h, 1, SPMU_TALLY_OFFCORE_CODE_MEMORY), 1);
	free(h.memory);
}

int main(void)
{
	RUN(caches_are_physical());
	RUN(crosses_pages());
	RUN(knows_large_pages());
	RUN(forgets());
	RUN(tells_who_answers());
	return test_summary();
}
