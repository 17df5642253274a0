/* SPDX-License-Identifier: MIT */
/*
 * timeline_entries.c: what it takes to fetch code from a decoded instruction cache that delivers an
 * entry of some instructions in a clock (uarch_time.h: `entry`).
 *
 * Two entries of a line come in one clock, and each further two of the same line two clocks later.
 * Two taken branches may be followed in a clock, but not one to the same place again, and not after
 * a return.  All this was measured on Zen 5 (docs/machine.md).
 */
#include "src/uarch/timeline.h"

/* Returns the clocks after the first one in which a line's entries come. */
static unsigned more_clocks(const struct spmu_timeline *t)
{
	unsigned pair = t->core.entry * 2u, pairs = (t->entries.insns + pair - 1) / pair;

	return pairs > 1 ? 2 * (pairs - 1) : 0;
}

uint64_t timeline_entries_jump(struct spmu_timeline *t, const struct spmu_timed_block *b)
{
	struct entries *e = &t->entries;
	unsigned more = more_clocks(t);
	bool joins = t->core.jumps == 2 && !e->alone && !more && b->linear != e->start;
	uint64_t clocks = t->after_return ? t->core.returned : joins ? 0 : t->core.taken;

	*e = (struct entries){
		.start = b->linear, .line = b->linear / LINE, .alone = t->after_return || joins};
	return (clocks + more) * PART;
}

uint64_t timeline_entries_fetch(struct spmu_timeline *t, const struct spmu_timed_block *b)
{
	struct entries *e = &t->entries;
	uint64_t at = b->linear, clocks = 0;

	for (unsigned i = 0; i < b->count; i++) {
		if (at / LINE != e->line) {
			unsigned more = more_clocks(t);

			clocks += more ? more + 1 : 0;
			e->insns = 0;
			e->line = at / LINE;
		}
		e->insns += !(b->insn[i].flags & TIMED_FUSED);
		at += b->insn[i].length;
	}
	return clocks * PART;
}
