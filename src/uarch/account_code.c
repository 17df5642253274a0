/* SPDX-License-Identifier: MIT */
/*
 * account_code.c: what a timeline's account (account.c) knows of instructions one by one: loads
 * that meet older stores, locked accesses, and instructions by their kind.
 */
#include "src/uarch/account.h"

/* --- loads that meet stores --- */

#define PAGE_MASK  UINT64_C(0xfff)
#define LINE_BYTES 64u

static struct recent_store *store_of(struct account *a, uint64_t linear)
{
	return &a->store[(linear & PAGE_MASK) / 8 % ACCOUNT_STORES];
}

void account_store(struct account *a, const struct spmu_timed_access *access, uint64_t until)
{
	uint64_t last = access->linear + (access->bytes ? access->bytes - 1u : 0);
	const struct recent_store s = {access->linear, until, a->asked, access->bytes};

	*store_of(a, access->linear) = s;
	*store_of(a, last) = s;
}

/*
 * A load met an older store whose address was not known when the load started.  A core predicts
 * from counters that a load meets none (Doweck, "Inside Intel Core Microarchitecture and Smart
 * Memory Access", 2006).  If it has met none 15 times in a row, it did not wait, and everything
 * younger starts again.  account_meet() has counted this load as one that met none.
 */
static void meet_too_early(struct account *a, unsigned insn)
{
	uint8_t *alone = &a->alone[(a->block + insn) % ACCOUNT_LOADS];

	a->sum[SUM_CLEARS_ORDER] += *alone > 15;
	*alone = 0;
}

static void meet_none(struct account *a, unsigned insn)
{
	uint8_t *alone = &a->alone[(a->block + insn) % ACCOUNT_LOADS];

	*alone = (uint8_t)(*alone < 16 ? *alone + 1 : 16);
}

void account_meet(struct account *a, const struct spmu_timed_access *access, uint64_t start)
{
	const struct recent_store *s = store_of(a, access->linear);
	uint64_t end = access->linear + access->bytes, distance;

	if (a->learns)
		meet_none(a, access->insn);
	if (s->until <= start || !access->bytes)
		s = store_of(a, end - 1);
	if (s->until <= start || !access->bytes)
		return;
	distance = (access->linear - s->linear) & PAGE_MASK;
	if (distance >= s->bytes && PAGE_MASK + 1 - distance >= access->bytes)
		return; /* they have nothing in common */
	if ((access->linear ^ s->linear) & ~PAGE_MASK) {
		a->sum[SUM_ALIASES]++;
		return;
	}
	if (access->linear < s->linear || end > s->linear + s->bytes)
		a->sum[SUM_BLOCKED]++;
	if (a->learns && s->known > start)
		meet_too_early(a, access->insn);
}

void account_lock(struct account *a, const struct spmu_timed_access *access)
{
	a->sum[SUM_SPLIT_LOCKS] += access->linear % LINE_BYTES + access->bytes > LINE_BYTES;
}

/* --- instructions by their kind --- */

/*
 * The upper halves of vector registers.  Before Skylake, SSE code saves them if they are in use,
 * and AVX code restores them.  From Skylake on, each SSE instruction keeps them (Intel's
 * Optimization Reference Manual, "Mixing AVX code with SSE code").
 */
enum upper { UPPER_CLEAN, UPPER_USED, UPPER_SAVED };

void account_mark(struct account *a, enum timed_mark mark)
{
	a->sum[SUM_MARKS + mark]++;
	switch (mark) {
	case MARK_SSE:
		a->sum[SUM_BLENDS] += a->upper != UPPER_CLEAN;
		a->sum[SUM_AVX_TO_SSE] += a->upper == UPPER_USED;
		if (a->upper == UPPER_USED)
			a->upper = UPPER_SAVED;
		break;
	case MARK_AVX:
	case MARK_AVX_WIDE:
		a->sum[SUM_SSE_TO_AVX] += a->upper == UPPER_SAVED;
		if (a->upper == UPPER_SAVED || mark == MARK_AVX_WIDE)
			a->upper = UPPER_USED;
		break;
	case MARK_AVX_CLEAR:
		a->upper = UPPER_CLEAN;
		break;
	default:
		break;
	}
}
