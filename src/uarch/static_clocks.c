/* SPDX-License-Identifier: MIT */
/* static_clocks.c: what a block costs if nothing misses (spmu_timed_block_clocks()). */
#include <string.h>

#include "src/uarch/timeline.h"

/* Instructions that are measured, about, and how often a block runs at least and at most. */
#define MEASURED    96u
#define TURNS_LEAST 4u
#define TURNS_MOST  16u

/* Forgets what has run, except accesses: blocks have none here. */
static void begin_again(struct spmu_timeline *t)
{
	t->dispatched = t->retired = t->committed = t->resolved = 0;
	t->last_window = t->barrier = 0;
	t->window_at = t->stored_at = 0;
	t->after_return = false;
	memset(t->ready, 0, sizeof(t->ready));
	memset(t->backlog, 0, sizeof(t->backlog));
	memset(t->window, 0, t->core.window * sizeof(t->window[0]));
	memset(t->stored, 0, t->core.stores * sizeof(t->stored[0]));
}

/* Adds what each instruction of a turn takes until it retires to spent[]. */
static void run_turn(struct spmu_timeline *t, const struct spmu_timed_block *b, bool taken,
		     uint64_t *spent)
{
	uint64_t before;

	t->end = b->linear + taken;
	timeline_fetch(t, b);
	for (unsigned i = 0; i < b->count; i++) {
		before = t->retired;
		timeline_run_insn(t, &b->insn[i]);
		spent[i] += t->retired - before;
	}
	t->after_return = b->returns && t->core.returned;
}

void spmu_timed_block_clocks(const struct spmu_timed_block *block, struct spmu_timeline *timeline,
			     bool taken, uint16_t *parts)
{
	uint64_t spent[SPMU_TIMED_INSNS_MAX] = {0}, sum = 0, given = 0, turns;

	turns = MEASURED / block->count;
	turns = turns < TURNS_LEAST ? TURNS_LEAST : turns > TURNS_MOST ? TURNS_MOST : turns;
	begin_again(timeline);
	for (unsigned i = 0; i < turns / 2; i++)
		run_turn(timeline, block, taken, spent);
	memset(spent, 0, block->count * sizeof(spent[0]));
	for (unsigned i = 0; i < turns; i++)
		run_turn(timeline, block, taken, spent);
	for (unsigned i = 0; i < block->count; i++) {
		uint64_t until, n;

		sum += spent[i];
		until = (sum * SPMU_CLOCK_PARTS + turns * PART / 2) / (turns * PART);
		n = until - given;
		parts[i] = (uint16_t)(n < SPMU_CLOCK_PARTS_MAX ? n : SPMU_CLOCK_PARTS_MAX);
		given = until;
	}
	if (!given)
		parts[block->count - 1] = 1;
}

void spmu_static_clocks_supply(struct spmu_supply *supply)
{
	supply->modelled |= SPMU_SIGSET_CLOCKS;
}
