/* SPDX-License-Identifier: MIT */
/* static_clocks.c: what a block costs if nothing misses (spmu_timed_block_clocks()). */
#include <string.h>

#include "src/uarch/timeline.h"

/* Instructions that are measured, about, and how often a block runs at least and at most. */
#define MEASURED    96u
#define TURNS_LEAST 4u
#define TURNS_MOST  16u

/* The accesses of a block that may meet each other. */
struct meetings {
	struct spmu_timed_access access[SPMU_PLACES_MAX];
	unsigned count;
};

static bool changes(const struct spmu_timed_block *b, unsigned reg)
{
	for (unsigned i = 0; i < b->count; i++)
		for (unsigned k = 0; k < TIMED_TARGETS; k++)
			if (b->insn[i].target[k] == reg)
				return true;
	return false;
}

/* Gives each place a number of its own as its address. */
static void find_meetings(struct meetings *m, const struct spmu_timed_block *b,
			  const struct spmu_timed_place *place, unsigned places)
{
	m->count = 0;
	for (unsigned i = 0; i < places && i < SPMU_PLACES_MAX; i++) {
		bool constant = place[i].base == SPMU_PLACE_CONSTANT;

		if (!constant && (place[i].base > SPMU_PLACE_CONSTANT || changes(b, place[i].base)))
			continue;
		m->access[m->count++] = (struct spmu_timed_access){
			.linear = place[i].displacement + ((place[i].base + UINT64_C(1)) << 56),
			.insn = place[i].insn,
			.kind = place[i].kind,
			.level = SPMU_LEVEL_L1,
		};
	}
}

/* Forgets what has run. */
static void begin_again(struct spmu_timeline *t, bool meets)
{
	t->dispatched = t->retired = t->committed = t->resolved = 0;
	t->last_window = t->barrier = 0;
	t->window_at = t->stored_at = 0;
	t->after_return = false;
	t->entries = (struct entries){0};
	if (t->core.scheduler)
		memset(&t->scheduler, 0, sizeof(t->scheduler));
	memset(t->ready, 0, sizeof(t->ready));
	memset(t->backlog, 0, sizeof(t->backlog));
	memset(t->window, 0, t->core.window * sizeof(t->window[0]));
	memset(t->stored, 0, t->core.stores * sizeof(t->stored[0]));
	if (meets)
		memset(t->forward, 0, sizeof(t->forward));
}

/* Adds what each instruction of a turn takes until it retires to spent[]. */
static void run_turn(struct spmu_timeline *t, const struct spmu_timed_block *b,
		     const struct meetings *m, bool taken, uint64_t *spent)
{
	const struct spmu_timed_access *access = m->access, *end = access + m->count;
	uint64_t before;

	t->end = b->linear + taken;
	timeline_fetch(t, b);
	for (unsigned i = 0; i < b->count; i++) {
		unsigned n = 0;

		while (access + n < end && access[n].insn == i)
			n++;
		before = t->retired;
		timeline_run_insn(t, &b->insn[i], access, n);
		access += n;
		spent[i] += t->retired - before;
	}
	t->after_return = b->returns && t->core.returned;
}

void spmu_timed_block_clocks(const struct spmu_timed_block *block, struct spmu_timeline *timeline,
			     bool taken, const struct spmu_timed_place *place, unsigned places,
			     uint16_t *parts)
{
	struct meetings m;
	uint64_t spent[SPMU_TIMED_INSNS_MAX] = {0}, sum = 0, given = 0, turns;

	turns = MEASURED / block->count;
	turns = turns < TURNS_LEAST ? TURNS_LEAST : turns > TURNS_MOST ? TURNS_MOST : turns;
	find_meetings(&m, block, place, places);
	begin_again(timeline, m.count);
	for (unsigned i = 0; i < turns / 2; i++)
		run_turn(timeline, block, &m, taken, spent);
	memset(spent, 0, block->count * sizeof(spent[0]));
	for (unsigned i = 0; i < turns; i++)
		run_turn(timeline, block, &m, taken, spent);
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
