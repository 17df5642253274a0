/* SPDX-License-Identifier: MIT */
/*
 * tlb.c: translation lookaside buffers.  A first-level TLB of each kind holds pages of some
 * sizes.  The second level serves fetches and data, or data alone.  A page that is in neither needs
 * a page walk.
 *
 * Simplified: no prefetch of translations.  Entries have no address space, so all of them must be
 * forgotten when it changes.
 */
#include "src/uarch/model.h"

/* Returns the TLB of a list that holds pages of this size, or NULL. */
static struct cache *tlb_of(struct cache *tlbs, const struct spmu_tlb_shape *shapes, unsigned count,
			    unsigned shift)
{
	for (unsigned i = 0; i < count; i++)
		if (shapes[i].entries && shapes[i].page_shifts >> shift & 1)
			return &tlbs[i];
	return NULL;
}

/* Returns the key of a page. Pages of different sizes can share a TLB, so it includes the size. */
static uint64_t key_of(uint64_t linear, unsigned shift)
{
	return linear >> shift | (uint64_t)(shift != 12) << 56 | (uint64_t)(shift == 30) << 57;
}

static void translate(struct spmu_uarch *u, struct thread *t, bool fetch, uint64_t linear,
		      unsigned shift, uint64_t *misses, uint64_t *walks)
{
	uint64_t key = key_of(linear, shift);
	struct cache *first = fetch ? tlb_of(t->itlb, u->machine.itlb, ITLBS, shift)
				    : tlb_of(t->dtlb, u->machine.dtlb, DTLBS, shift);
	struct cache *second = fetch && u->machine.properties & SPMU_MACHINE_STLB_FOR_DATA
				       ? NULL
				       : tlb_of(t->stlb, u->machine.stlb, STLBS, shift);

	if (first && cache_use(first, key))
		return;
	++*misses;
	if (!second || !cache_use(second, key)) {
		if (!second || !u->partial || !cache_has_room(second, key)) {
			++*walks;
			walk_page(u, t, linear, shift);
		}
		if (second)
			cache_insert(second, key, 0);
	}
	if (first)
		cache_insert(first, key, 0);
}

void tlb_translate(struct spmu_uarch *u, struct thread *t, bool fetch, uint64_t linear,
		   uint32_t bytes, unsigned pages, uint64_t *misses, uint64_t *walks)
{
	uint64_t last = linear + bytes - 1;
	uint64_t miss = 0, walk = 0;

	if (!(fetch ? u->machine.itlb[0].entries : u->machine.dtlb[0].entries))
		return;
	for (uint64_t at = linear;;) {
		unsigned shift = pages;
		uint64_t end;

		if (!shift && u->config.page_shift)
			shift = u->config.page_shift(u->config.opaque, at);
		if (shift != 21 && shift != 30)
			shift = 12;
		translate(u, t, fetch, at, shift, &miss, &walk);
		end = at | ((UINT64_C(1) << shift) - 1);
		if (end >= last || end == UINT64_MAX)
			break;
		at = end + 1;
	}
	/* An access counts once, even if it is in several pages. */
	*misses += miss != 0;
	*walks += walk != 0;
}

/* Calls `forget` for each TLB of a thread. */
static void each_tlb(struct thread *t, uint64_t linear,
		     void (*forget)(struct cache *tlb, uint64_t linear))
{
	for (unsigned i = 0; i < ITLBS; i++)
		forget(&t->itlb[i], linear);
	for (unsigned i = 0; i < DTLBS; i++)
		forget(&t->dtlb[i], linear);
	for (unsigned i = 0; i < STLBS; i++)
		forget(&t->stlb[i], linear);
}

static void forget_all(struct cache *tlb, uint64_t linear)
{
	(void)linear;
	if (tlb->ways)
		cache_empty(tlb);
}

static void forget_page(struct cache *tlb, uint64_t linear)
{
	static const uint8_t shifts[] = {12, 21, 30};

	for (unsigned i = 0; tlb->ways && i < sizeof(shifts); i++)
		(void)cache_remove(tlb, key_of(linear, shifts[i]));
}

void spmu_uarch_forget_translations(struct spmu_uarch *model, unsigned thread)
{
	if (thread >= model->config.threads)
		return;
	each_tlb(&model->thread[thread], 0, forget_all);
	for (unsigned i = 0; i < PAGING_CACHES; i++)
		forget_all(&model->thread[thread].walker.cache[i], 0);
}

void spmu_uarch_forget_page(struct spmu_uarch *model, unsigned thread, uint64_t linear)
{
	if (thread < model->config.threads)
		each_tlb(&model->thread[thread], linear, forget_page);
}
