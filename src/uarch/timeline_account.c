/* SPDX-License-Identifier: MIT */
/*
 * timeline_account.c: tells the account of a timeline (account.c) of lines, loads and instructions.
 */
#include "src/uarch/timeline.h"

/* Accounts for a line that is asked for, and on its way from `start` to `done`. */
void timeline_account_fill(struct spmu_timeline *t, const struct spmu_timed_access *a,
			   uint64_t asked, uint64_t start, uint64_t done)
{
	struct account *account = &t->account;
	unsigned line = a->linear >> LINE_SHIFT & (PENDING - 1);
	uint64_t took = done - start;

	if (a->kind & SPMU_UARCH_PREFETCH)
		account->sum[a->level == SPMU_LEVEL_L2 ? SUM_PREFETCH_L2_HITS
						       : SUM_PREFETCH_L2_MISSES]++;
	account->line_level[line] = a->level;
	account->line_prefetched[line] = (a->kind & SPMU_UARCH_PREFETCH) != 0;
	account_span(account, SPAN_FILL_FULL, asked, start);
	if (a->kind & SPMU_UARCH_LOAD) {
		account->sum[SUM_L1D_PENDING] += took;
		account_span(account, SPAN_L1D_MISS, start, done);
		account->sum[SUM_OFFCORE_LOADS] += a->level >= SPMU_LEVEL_LLC ? took : 0;
		account->sum[SUM_MEMORY_LOADS] += a->level == SPMU_LEVEL_MEMORY ? took : 0;
	} else if (a->kind & SPMU_UARCH_STORE && a->level >= SPMU_LEVEL_LLC) {
		account->sum[SUM_OFFCORE_STORES] += took;
		account_span(account, SPAN_OFFCORE_STORE, start, done);
	}
}

/* Accounts for a load that was asked for, started after its page walk, and got its value. */
void timeline_account_load(struct spmu_timeline *t, const struct spmu_timed_access *a,
			   uint64_t asked, uint64_t start, uint64_t value)
{
	static const uint8_t flags[] = {
		[SPMU_LEVEL_L1] = CLOCK_LOAD,
		[SPMU_LEVEL_L2] = CLOCK_LOAD | CLOCK_L1_MISS,
		[SPMU_LEVEL_LLC] = CLOCK_LOAD | CLOCK_L1_MISS | CLOCK_L2_MISS,
		[SPMU_LEVEL_OTHER] = CLOCK_LOAD | CLOCK_L1_MISS | CLOCK_L2_MISS,
		[SPMU_LEVEL_MEMORY] = CLOCK_LOAD | CLOCK_L1_MISS | CLOCK_L2_MISS | CLOCK_L3_MISS,
	};
	struct account *account = &t->account;
	unsigned line = a->linear >> LINE_SHIFT & (PENDING - 1);
	const struct remembered *pending = &t->pending[line];
	unsigned level = a->level;

	if (level == SPMU_LEVEL_L1 && pending->what == a->linear >> LINE_SHIFT &&
	    pending->ready > start) {
		level = account->line_level[line];
		account->sum[SUM_BUFFER_HITS]++;
		account->sum[SUM_PREFETCH_HITS] += account->line_prefetched[line];
	}
	account->level = (uint8_t)level;
	account_load(account, asked, value, flags[level]);
	account_meet(account, a, start);
	if (a->walk) {
		account->sum[SUM_LOAD_WALKS] += start - asked;
		account_span(account, SPAN_LOAD_WALK, asked, start);
	}
}

/* Accounts for an instruction whose address was ready at `asked` and that starts at `start`. */
void timeline_account_insn(struct spmu_timeline *t, const struct timed_insn *in, uint64_t asked,
			   uint64_t start, uint64_t complete)
{
	struct account *a = &t->account;

	asked = later(asked, t->dispatched);
	if (in->at_load)
		account_start(a, asked, in->at_load);
	if (in->starts > in->at_load)
		account_start(a, start, in->starts - in->at_load);
	if (in->slots)
		account_retire(a, t->retired, in->slots, t->retire_step);
	a->sum[SUM_UOPS] += in->uops;
	if (in->mark)
		account_mark(a, in->mark);
	if (!(in->flags & ~(TIMED_LOADS | TIMED_STORES)))
		return;
	a->sum[SUM_FUSED] += in->flags & TIMED_FUSED ? 1 : 0;
	a->sum[SUM_X87] += in->flags & TIMED_X87_UOPS ? in->uops : 0;
	a->sum[SUM_SLOW_LEA] += in->flags & TIMED_SLOW_LEA ? 1 : 0;
	a->sum[SUM_LOCKED] += in->flags & TIMED_LOCKS ? complete - asked : 0;
	if (in->flags & TIMED_MOVED)
		a->sum[in->target[0] < TIMED_CARRY ? SUM_MOVES_GENERAL : SUM_MOVES_VECTOR]++;
}
