/* SPDX-License-Identifier: MIT */
/*
 * tage.c: the TAGE predictor of conditional branches (Seznec and Michaud, "A case for (partially)
 * tagged geometric history length branch predictors", JILP 2006): a table of counters without tags,
 * and tables of tagged counters whose index depends on histories of growing length.  The longest
 * history that has an entry for the branch predicts it.
 *
 * A branch that has gone one way only does not use the tables and is not in the history (Gope and
 * Lipasti, "Bias-free branch predictor", MICRO 2014).  At first it is predicted not taken.
 *
 * Simplified: the history holds outcomes of conditional branches alone, no path.  A product hashes
 * it, where hardware folds it by exclusive-or.
 */
#include "src/uarch/predictor.h"

#include <string.h>

#define SHORTEST	4	   /* branches of the first table's history */
#define USEFUL_BRANCHES (1u << 18) /* useful counters are halved after this many */

/* The result of a look-up of a branch in the tables. */
struct lookup {
	uint64_t hash[TAGE_TABLES_MAX]; /* of the branch and each history: place and tag */
	int provider;			/* number of a table; -1: the one without tags */
	bool provided, alternative, predicted;
};

static uint16_t history_length(const struct spmu_predictor_shape *shape, unsigned table)
{
	uint32_t length = SHORTEST << 8; /* in units of 1/256 */
	uint32_t last = (uint32_t)shape->history_bits << 8;
	uint32_t low = 256, high = 256 * TAGE_HISTORY_MAX;

	if (shape->tables < 2)
		return shape->history_bits;
	/* Bisects for the ratio of neighbouring lengths that leads from the first to the last. */
	for (unsigned round = 0; round < 32; round++) {
		uint32_t ratio = low + (high - low) / 2;
		uint64_t end = SHORTEST << 8;

		for (unsigned i = 1; i < shape->tables && end <= last; i++)
			end = end * ratio >> 8;
		if (end > last)
			high = ratio;
		else
			low = ratio;
	}
	for (unsigned i = 0; i < table; i++)
		length = (uint32_t)((uint64_t)length * low >> 8);
	length = (length + 128) >> 8;
	return (uint16_t)(table + 1 == shape->tables || length > shape->history_bits
				  ? shape->history_bits
				  : length);
}

size_t tage_bytes(const struct spmu_predictor_shape *shape)
{
	if (shape->conditional != SPMU_PREDICT_TAGE)
		return 0;
	return (((size_t)shape->tables << shape->table_bits) * sizeof(struct tage_entry) +
		((size_t)1 << TAGE_WAY_BITS) * sizeof(uint16_t) + 7) &
	       ~(size_t)7;
}

void tage_create(struct tage *t, uint8_t *memory, const struct spmu_predictor_shape *shape)
{
	if (shape->conditional != SPMU_PREDICT_TAGE)
		return;
	t->entry = (struct tage_entry *)(void *)memory;
	t->way = (uint16_t *)(void *)(t->entry + ((size_t)shape->tables << shape->table_bits));
	t->random = 1;
	for (unsigned i = 0; i < shape->tables; i++) {
		unsigned length = history_length(shape, i);
		unsigned last = (length - 1) / 64;

		t->last[i] = (uint8_t)last;
		t->mask[i] = UINT64_MAX >> (64 * (last + 1) - length);
	}
}

static void remember(struct tage *t, bool taken)
{
	for (unsigned i = TAGE_HISTORY_MAX / 64 - 1; i > 0; i--)
		t->history[i] = t->history[i] << 1 | t->history[i - 1] >> 63;
	t->history[0] = t->history[0] << 1 | taken;
}

static uint16_t tag_of(const struct spmu_predictor_shape *shape, uint64_t hash)
{
	return (uint16_t)(hash >> 32 & ((1u << shape->tag_bits) - 1));
}

static struct tage_entry *entry_of(struct tage *t, const struct spmu_predictor_shape *shape,
				   const struct lookup *l, int table)
{
	return &t->entry[((size_t)table << shape->table_bits) +
			 (l->hash[table] >> (64 - shape->table_bits))];
}

/* Returns true for an entry that is new and has not been useful yet. */
static bool is_new(const struct tage_entry *e)
{
	return (e->useful == 0) & ((e->counter == 0) | (e->counter == -1));
}

/* Odd numbers, one for each word of history; their products spread its bits. */
static const uint64_t factor[TAGE_HISTORY_MAX / 64] = {
	UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xc2b2ae3d27d4eb4f), UINT64_C(0x165667b19e3779f9),
	UINT64_C(0xd6e8feb86659fd93)};

/* Returns the number of the highest bit; -1: there is none. */
static int highest(unsigned set)
{
	return set ? 31 - __builtin_clz(set) : -1;
}

/* Hashes the branch with each history.  Returns the set of tables that have an entry for it. */
static inline __attribute__((always_inline)) unsigned find(const struct tage *t,
							   const struct spmu_predictor_shape *shape,
							   int tables, uint64_t from,
							   struct lookup *restrict l)
{
	const unsigned place_shift = 64 - shape->table_bits;
	const uint32_t tag_mask = (1u << shape->tag_bits) - 1;
	const size_t stride = (size_t)1 << shape->table_bits;
	uint64_t whole[TAGE_HISTORY_MAX / 64]; /* hashes of all words before this one */
	const struct tage_entry *table = t->entry;
	unsigned words = t->last[tables - 1], found = 0;

	whole[0] = (from ^ from >> 16) * UINT64_C(0xff51afd7ed558ccd);
	for (unsigned i = 0; i < words; i++)
		whole[i + 1] = whole[i] ^ t->history[i] * factor[i];
#pragma GCC unroll 8
	for (int i = 0; i < tables; i++) {
		unsigned last = t->last[i];
		uint64_t hash = whole[last] ^ (t->history[last] & t->mask[i]) * factor[last];

		l->hash[i] = hash;
		found |= (unsigned)(table[hash >> place_shift].tag == (hash >> 32 & tag_mask)) << i;
		table += stride;
	}
	return found;
}

/*
 * Looks a branch up.  Which table has it, and what that says, is as hard to predict here as in
 * hardware, so values are chosen without branches.
 */
static void look_up(struct tage *t, const struct spmu_predictor_shape *shape, const uint8_t *base,
		    uint64_t from, struct lookup *l)
{
	const int8_t untagged = (int8_t)(*base - 2);
	const int8_t *counter[2] = {&untagged};
	unsigned found = shape->tables == 8 ? find(t, shape, 8, from, l)
					    : find(t, shape, shape->tables, from, l);
	const struct tage_entry *e;

	l->provider = highest(found);
	if (l->provider < 0) {
		l->provided = l->alternative = l->predicted = untagged >= 0;
		return;
	}
	found ^= 1u << l->provider;
	counter[1] = &entry_of(t, shape, l, highest(found | 1))->counter;
	l->alternative = *counter[found != 0] >= 0;
	e = entry_of(t, shape, l, l->provider);
	l->provided = e->counter >= 0;
	l->predicted =
		l->provided ^ ((l->provided ^ l->alternative) & (t->prefer_other >= 0) & is_new(e));
}

/* Gives a mispredicted branch an entry with a longer history, if some entry there is not useful. */
static void allocate(struct tage *t, const struct spmu_predictor_shape *shape,
		     const struct lookup *l, bool taken)
{
	int first = l->provider + 1;

	/* Sometimes the first of them is skipped, so that not all go to one table. */
	t->random ^= t->random << 13;
	t->random ^= t->random >> 17;
	t->random ^= t->random << 5;
	if (first + 1 < shape->tables && t->random % 4 == 0)
		first++;
	for (int i = first; i < shape->tables; i++) {
		struct tage_entry *e = entry_of(t, shape, l, i);

		if (e->useful)
			continue;
		*e = (struct tage_entry){.tag = tag_of(shape, l->hash[i]),
					 .counter = taken ? 0 : -1};
		return;
	}
	for (int i = first; i < shape->tables; i++)
		entry_of(t, shape, l, i)->useful--;
}

static void learn(struct tage *t, const struct spmu_predictor_shape *shape, uint8_t *base,
		  const struct lookup *l, bool taken)
{
	struct tage_entry *e;

	if (l->provider < 0) {
		predictor_learn(base, taken);
		return;
	}
	e = entry_of(t, shape, l, l->provider);
	if (l->provided != l->alternative) {
		if (is_new(e) && l->alternative == taken && t->prefer_other < 7)
			t->prefer_other++;
		else if (is_new(e) && l->alternative != taken && t->prefer_other > -8)
			t->prefer_other--;
		if (l->provided == taken && e->useful < 3)
			e->useful++;
		else if (l->provided != taken && e->useful > 0)
			e->useful--;
	}
	/* Without branches: outcomes are what cannot be predicted. */
	e->counter =
		(int8_t)(e->counter + (taken & (e->counter < 3)) - (!taken & (e->counter > -4)));
}

/* What is known of a branch without the tables: see struct tage. */
enum way { WAY_UNKNOWN = 0, WAY_NOT_TAKEN, WAY_TAKEN, WAY_BOTH };

/* Returns the way that the branch has gone so far, and notes the new outcome. */
static enum way note_way(struct tage *t, uint64_t from, bool taken)
{
	uint64_t hash = from * UINT64_C(0x9e3779b97f4a7c15);
	uint16_t *entry = &t->way[hash >> (64 - TAGE_WAY_BITS)];
	uint16_t tag = (uint16_t)(hash >> 20 & 0xfffc);
	enum way now = (enum way)(WAY_NOT_TAKEN + taken);
	enum way before = (enum way)((*entry & 3) * ((*entry & 0xfffc) == tag));

	*entry = (uint16_t)(tag | (before | now));
	return before;
}

bool tage_conditional(struct tage *t, const struct spmu_predictor_shape *shape, uint8_t *base,
		      uint64_t from, bool taken)
{
	enum way way = note_way(t, from, taken);
	struct lookup l;

	if (way == (enum way)(WAY_NOT_TAKEN + taken))
		return false;
	if (way == WAY_UNKNOWN)
		return taken;
	look_up(t, shape, base, from, &l);
	learn(t, shape, base, &l, taken);
	if (l.predicted != taken && l.provider + 1 < shape->tables)
		allocate(t, shape, &l, taken);
	if (++t->branches == USEFUL_BRANCHES) {
		t->branches = 0;
		for (size_t i = 0; i < (size_t)shape->tables << shape->table_bits; i++)
			t->entry[i].useful /= 2;
	}
	remember(t, taken);
	return way == WAY_BOTH ? l.predicted != taken : true;
}
