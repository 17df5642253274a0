/* SPDX-License-Identifier: MIT */
/*
 * tage.c: the TAGE predictor of conditional branches (Seznec and Michaud, "A case for (partially)
 * tagged geometric history length branch predictors", JILP 2006): a table of counters without tags,
 * and tables of tagged counters whose index depends on histories of growing length.  The longest
 * history that has an entry for the branch predicts it.
 *
 * A branch that has always gone the same way does not use the tables.  It is not in the history
 * either (Gope and Lipasti, "Bias-free branch predictor", MICRO 2014).  At first it is predicted
 * not taken.
 *
 * Simplified: the history holds outcomes of conditional branches alone, no path.  A product hashes
 * it, where hardware folds it by exclusive-or.
 */
#include "src/uarch/predictor.h"

#include <string.h>

#define SHORTEST	4	   /* branches of the first table's history */
#define USEFUL_BRANCHES (1u << 18) /* useful counters are halved after this many */

/* Code needs half the instructions if the compiler knows the geometry.  So the geometry of the
 * library's machines has its own code. */
static const struct tage_geometry usual = {8, 10, 11, {0, 0, 0, 0, 0, 0, 1, 3}};

/*
 * The result of a look-up of a branch in the tables.  The longest history that has an entry, the
 * provider, predicts, and the next longest is the alternative.  Both can be `none`: then the
 * table without tags predicts.  So nothing here depends on whether there is a provider.
 */
struct lookup {
	/* Numbers of the entries, the longest history first, and at last `none`. */
	uint32_t place[TAGE_TABLES_MAX + 1];
	unsigned longer; /* tables with longer histories than the provider's */
	uint8_t *entry;
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
	return ((((size_t)shape->tables << shape->table_bits) + 1) *
			(sizeof(uint8_t) + sizeof(uint16_t)) +
		((size_t)1 << TAGE_WAY_BITS) * sizeof(uint16_t) + 7) &
	       ~(size_t)7;
}

/* --- states of entries --- */

/* A state is a counter of three bits, 4 to 7: taken, and how useful the entry has been, 0 to 3. */
#define COUNTER_MAX  7u
#define USEFUL_SHIFT 3
#define USEFUL_MAX   3u
#define NOT_TAKEN    3u /* of a new entry */
#define TAKEN	     4u
#define UNTAGGED     2u /* `none`: a counter of 0 to 3, as one in the middle of the eight */

static inline bool says_taken(unsigned state)
{
	return state >> 2 & 1;
}

/* Returns true for an entry that is new and has not been useful yet. */
static inline bool is_new(unsigned state)
{
	return state - NOT_TAKEN < 2;
}

/* Returns the state after an outcome.  `differ`: the alternative says something else. */
static unsigned next_state(unsigned state, bool taken, bool differ, bool untagged)
{
	unsigned counter = state & COUNTER_MAX, useful = state >> USEFUL_SHIFT;
	bool right = says_taken(state) == taken;

	if (taken && counter < COUNTER_MAX - (untagged ? UNTAGGED : 0))
		counter++;
	else if (!taken && counter > (untagged ? UNTAGGED : 0))
		counter--;
	if (differ && right && useful < USEFUL_MAX)
		useful++;
	else if (differ && !right && useful)
		useful--;
	return useful << USEFUL_SHIFT | counter;
}

static inline unsigned transition(unsigned state, bool taken, bool differ, bool untagged)
{
	return state | (unsigned)taken << 5 | (unsigned)differ << 6 | (unsigned)untagged << 7;
}

static void make_transitions(struct tage *t)
{
	for (unsigned i = 0; i < TAGE_TRANSITIONS; i++)
		t->next[i] = (uint8_t)next_state(i & 31, i >> 5 & 1, i >> 6 & 1, i >> 7 & 1);
}

void tage_create(struct tage *t, uint8_t *memory, const struct spmu_predictor_shape *shape)
{
	if (shape->conditional != SPMU_PREDICT_TAGE)
		return;
	t->tag = (uint16_t *)(void *)memory;
	t->none = (uint32_t)shape->tables << shape->table_bits;
	t->way = t->tag + t->none + 1;
	t->entry = (uint8_t *)(t->way + ((size_t)1 << TAGE_WAY_BITS));
	memset(t->entry, TAKEN, t->none);
	make_transitions(t);
	t->random = 1;
	t->geometry =
		(struct tage_geometry){shape->tables, shape->table_bits, shape->tag_bits, {0}};
	for (unsigned i = 0; i < shape->tables; i++) {
		unsigned length = history_length(shape, i);
		unsigned last = (length - 1) / 64;

		t->geometry.last[i] = (uint8_t)last;
		t->mask[i] = UINT64_MAX >> (64 * (last + 1) - length);
	}
	t->is_usual = !memcmp(&t->geometry, &usual, sizeof(usual));
}

_Static_assert(TAGE_HISTORY_MAX == 4 * 64, "the words of a history");

static inline void remember(struct tage *t, bool taken)
{
	t->history[3] = t->history[3] << 1 | t->history[2] >> 63;
	t->history[2] = t->history[2] << 1 | t->history[1] >> 63;
	t->history[1] = t->history[1] << 1 | t->history[0] >> 63;
	t->history[0] = t->history[0] << 1 | taken;
}

/* Odd numbers, one for each word of history; their products spread its bits. */
static const uint64_t factor[TAGE_HISTORY_MAX / 64] = {
	UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xc2b2ae3d27d4eb4f), UINT64_C(0x165667b19e3779f9),
	UINT64_C(0xd6e8feb86659fd93)};

#define INLINE static inline __attribute__((always_inline))

INLINE uint16_t tag_of(const struct tage_geometry *g, uint64_t hash)
{
	return (uint16_t)(hash >> 32 & ((1u << g->tag_bits) - 1));
}

/* Hashes the branch with each history.  Returns which have an entry for it: bit 0 for the longest.
 * If there are `tags`, it sets those that new entries would have, in the order of the tables. */
INLINE unsigned find(const struct tage *t, const struct tage_geometry *g, uint64_t from,
		     uint32_t *restrict place, uint16_t *restrict tags)
{
	uint64_t whole = (from ^ from >> 16) * UINT64_C(0xff51afd7ed558ccd);
	const uint16_t *tag_at = t->tag;
	unsigned found = 0, word = 0;

#pragma GCC unroll 8
	for (unsigned i = 0; i < g->tables; i++) {
		uint32_t at;
		uint64_t hash;
		uint16_t tag;

#pragma GCC unroll 3
		for (; word < g->last[i]; word++)
			whole ^= t->history[word] * factor[word];
		hash = whole ^ (t->history[word] & t->mask[i]) * factor[word];
		at = (i << g->table_bits) + (uint32_t)(hash >> (64 - g->table_bits));
		tag = tag_of(g, hash);
		place[g->tables - 1 - i] = at;
		if (tags)
			tags[i] = tag;
		found = found << 1 | (tag_at[at] == tag);
	}
	return found;
}

/*
 * Looks a branch up.  Which table has it, and what that says, is as hard to predict here as in
 * hardware, so values are chosen without branches.
 */
INLINE void look_up(struct tage *t, const struct tage_geometry *g, const uint8_t *base,
		    uint64_t from, struct lookup *l)
{
	unsigned none = 1u << g->tables;
	unsigned found = find(t, g, from, l->place, NULL) | none;
	unsigned state;

	l->place[g->tables] = t->none;
	t->entry[t->none] = (uint8_t)(*base + UNTAGGED);
	l->longer = (unsigned)__builtin_ctz(found);
	l->entry = &t->entry[l->place[l->longer]];
	found = (found & (found - 1)) | none;
	l->alternative = says_taken(t->entry[l->place[__builtin_ctz(found)]]);
	state = *l->entry;
	l->provided = says_taken(state);
	l->predicted = l->provided ^
		       ((l->provided ^ l->alternative) & (t->prefer_other >= 0) & is_new(state));
}

/* Gives a mispredicted branch an entry with a longer history, if some entry there is not useful. */
static __attribute__((noinline)) void allocate(struct tage *t, uint64_t from, unsigned longer,
					       bool taken)
{
	const struct tage_geometry *g = &t->geometry;
	unsigned first = g->tables - longer;
	uint32_t place[TAGE_TABLES_MAX];
	uint16_t tags[TAGE_TABLES_MAX];

	(void)find(t, g, from, place, tags);
	/* Sometimes the first of them is skipped, so that not all go to one table. */
	t->random ^= t->random << 13;
	t->random ^= t->random >> 17;
	t->random ^= t->random << 5;
	if (first + 1 < g->tables && t->random % 4 == 0)
		first++;
	for (unsigned i = first; i < g->tables; i++) {
		uint32_t at = place[g->tables - 1 - i];

		if (t->entry[at] >> USEFUL_SHIFT)
			continue;
		t->tag[at] = tags[i];
		t->entry[at] = taken ? TAKEN : NOT_TAKEN;
		return;
	}
	for (unsigned i = first; i < g->tables; i++)
		t->entry[place[g->tables - 1 - i]] -= 1u << USEFUL_SHIFT;
}

/* Learns an outcome, without branches: outcomes are what cannot be predicted. */
INLINE void learn(struct tage *t, const struct tage_geometry *g, uint8_t *base,
		  const struct lookup *l, bool taken)
{
	bool differ = l->provided ^ l->alternative, untagged = l->longer == g->tables;
	unsigned state = *l->entry;
	int other = t->prefer_other;
	int judged = differ & is_new(state); /* whether the provider or the alternative is better */

	other += judged & (l->alternative == taken) & (other < 7);
	other -= judged & (l->alternative != taken) & (other > -8);
	t->prefer_other = (int8_t)other;
	*l->entry = t->next[transition(state, taken, differ, untagged)];
	*base = (uint8_t)(t->entry[t->none] - UNTAGGED);
}

static void halve_useful(struct tage *t)
{
	t->branches = 0;
	for (uint32_t i = 0; i < t->none; i++)
		t->entry[i] = (uint8_t)((t->entry[i] >> USEFUL_SHIFT) / 2 << USEFUL_SHIFT |
					(t->entry[i] & COUNTER_MAX));
}

/* Predicts a branch by the tables, and learns.  Returns true if the prediction was wrong. */
INLINE bool use_tables(struct tage *t, const struct tage_geometry *g, uint8_t *base, uint64_t from,
		       bool taken)
{
	struct lookup l;

	look_up(t, g, base, from, &l);
	learn(t, g, base, &l, taken);
	if (l.predicted != taken && l.longer)
		allocate(t, from, l.longer, taken);
	if (++t->branches == USEFUL_BRANCHES)
		halve_useful(t);
	remember(t, taken);
	return l.predicted != taken;
}

/* What is known of a branch without the tables: see struct tage. */
enum way { WAY_UNKNOWN = 0, WAY_NOT_TAKEN, WAY_TAKEN, WAY_BOTH };

/* Returns the way that the branch has gone so far, and notes the new outcome. */
INLINE enum way note_way(struct tage *t, uint64_t from, bool taken)
{
	uint64_t hash = from * UINT64_C(0x9e3779b97f4a7c15);
	uint16_t *entry = &t->way[hash >> (64 - TAGE_WAY_BITS)];
	uint16_t tag = (uint16_t)(hash >> 20 & 0xfffc);
	enum way now = (enum way)(WAY_NOT_TAKEN + taken);
	enum way before = (enum way)(*entry & ((*entry ^ tag) < 4 ? 3 : 0));

	*entry = (uint16_t)(tag | (before | now));
	return before;
}

/* Returns whether the tables predict a branch that has gone this way. */
static inline bool needs_tables(enum way way, bool taken)
{
	const unsigned by_way[2] = {1u << WAY_TAKEN | 1u << WAY_BOTH,
				    1u << WAY_NOT_TAKEN | 1u << WAY_BOTH};

	return by_way[taken] >> way & 1;
}

bool tage_conditional(struct tage *t, uint8_t *base, uint64_t from, bool taken)
{
	enum way way = note_way(t, from, taken);
	bool missed;

	if (!needs_tables(way, taken))
		return way == WAY_UNKNOWN && taken;
	missed = t->is_usual ? use_tables(t, &usual, base, from, taken)
			     : use_tables(t, &t->geometry, base, from, taken);
	return way == WAY_BOTH ? missed : true;
}

/* --- many branches --- */

#define AT_ONCE 256u

/* Lists the numbers of the branches that the tables predict, and a bit for those that have gone
 * both ways before.  Adds the mispredictions of others to missed[taken]. */
#define LISTED_BOTH AT_ONCE

static size_t list(struct tage *t, const struct spmu_uarch_outcome *o, size_t count, uint16_t *to,
		   uint64_t missed[2])
{
	size_t n = 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned taken = o[i].taken;
		unsigned way = note_way(t, o[i].from, taken);

		to[n] = (uint16_t)(i + (way == WAY_BOTH ? LISTED_BOTH : 0));
		n += needs_tables(way, taken);
		missed[1] += (way == WAY_UNKNOWN) & taken;
	}
	return n;
}

INLINE void run_listed(struct tage *t, const struct tage_geometry *g, uint8_t *counters,
		       uint64_t mask, const struct spmu_uarch_outcome *o, const uint16_t *list,
		       size_t count, uint64_t missed[2])
{
	for (size_t i = 0; i < count; i++) {
		uint64_t from = o[list[i] & (AT_ONCE - 1)].from;
		bool taken = o[list[i] & (AT_ONCE - 1)].taken;

		missed[taken] += use_tables(t, g, &counters[from & mask], from, taken) |
				 !(list[i] & LISTED_BOTH);
	}
}

void tage_conditionals(struct tage *t, uint8_t *counters, uint64_t mask,
		       const struct spmu_uarch_outcome *o, size_t count, uint64_t missed[2])
{
	uint16_t listed[AT_ONCE] = {0};

	for (size_t at = 0; at < count; at += AT_ONCE) {
		size_t n = list(t, o + at, count - at < AT_ONCE ? count - at : AT_ONCE, listed,
				missed);

		if (t->is_usual)
			run_listed(t, &usual, counters, mask, o + at, listed, n, missed);
		else
			run_listed(t, &t->geometry, counters, mask, o + at, listed, n, missed);
	}
}
