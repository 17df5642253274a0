/* SPDX-License-Identifier: MIT */
/*
 * cache.c: one set-associative cache with a replacement policy.
 *
 * Tree PLRU, MRU and QLRU are the policies that Abel and Reineke measured on Intel's processors
 * ("nanoBench: A Low-Overhead Tool for Running Microbenchmarks on x86 Systems", ISPASS 2020).  The
 * names of QLRU's variants are theirs.
 *
 * Simplified: the set of a line is its number modulo the number of sets.  The hash that selects a
 * slice of a last-level cache is not modelled, and neither are adaptive policies.
 */
#include "src/uarch/cache.h"

#include <string.h>

#define HINTED_ENTRIES 1024 /* at most, of a cache with hints */

static uint64_t *set_of(const struct cache *c, uint64_t line)
{
	return c->entry + cache_set(c, line) * c->ways;
}

static size_t entries(const struct spmu_cache_shape *shape)
{
	return shape->bytes ? shape->bytes / shape->line_bytes : 0;
}

static size_t round_up(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

/* Returns how many hints a cache has: several for each line, so that they seldom collide. */
static size_t hints(size_t n)
{
	size_t count = 8;

	while (count < 8 * n)
		count *= 2;
	return n <= HINTED_ENTRIES ? count : 0;
}

size_t cache_bytes(const struct spmu_cache_shape *shape)
{
	size_t n = entries(shape);

	if (!n || !shape->ways)
		return 0;
	return (n + n / shape->ways * (hints(n) ? 2 : 1)) * sizeof(uint64_t) + round_up(n) +
	       hints(n);
}

/* Tree PLRU: which nodes lead to each way.  Node n has the children 2n and 2n + 1; node 1 is the
 * root, and nodes from `ways` on are ways. */
static void tree_create(struct cache *c)
{
	for (uint32_t way = 0; way < c->ways; way++)
		for (uint32_t node = way + c->ways; node > 1; node /= 2) {
			c->keep[way] &= ~(UINT64_C(1) << node / 2);
			c->turned[way] |= (uint64_t) !(node & 1) << node / 2;
		}
}

/* LRU: a use sets the row of a way and clears its column. */
static void matrix_create(struct cache *c)
{
	uint64_t row = (1u << c->ways) - 1;

	for (uint32_t way = 0; way < c->ways; way++) {
		c->keep[way] = ~(UINT64_C(0x0101010101010101) << way);
		c->turned[way] = row << 8 * way & c->keep[way];
	}
}

static void policy_create(struct cache *c)
{
	unsigned policy = c->replacement.policy;

	memset(c->keep, 0xff, sizeof(c->keep));
	if (policy == SPMU_REPLACE_TREE_PLRU)
		tree_create(c);
	else if (policy == SPMU_REPLACE_LRU && c->ways <= CACHE_MATRIX_WAYS)
		matrix_create(c);
	else
		c->ordered = policy == SPMU_REPLACE_LRU || policy == SPMU_REPLACE_FIFO;
}

uint8_t *cache_create(struct cache *c, uint8_t *memory, const struct spmu_cache_shape *shape)
{
	size_t n = entries(shape);

	memset(c, 0, sizeof(*c));
	if (!n || !shape->ways)
		return memory;
	c->ways = shape->ways;
	c->sets = (uint32_t)(n / shape->ways);
	c->set_mask = c->sets - 1;
	c->empty = (uint32_t)n;
	c->replacement = shape->replacement;
	policy_create(c);
	c->entry = (uint64_t *)(void *)memory;
	c->bits = c->entry + n;
	c->age = (uint8_t *)(c->bits + c->sets);
	memory = c->age + round_up(n);
	if (hints(n)) {
		c->newest = (uint64_t *)(void *)memory;
		c->hint = (uint8_t *)(c->newest + c->sets);
		c->hint_mask = (uint32_t)hints(n) - 1;
		memory = c->hint + hints(n);
	}
	cache_empty(c);
	return memory;
}

void cache_empty(struct cache *c)
{
	size_t n = (size_t)c->sets * c->ways;

	memset(c->entry, 0xff, n * sizeof(*c->entry));
	memset(c->bits, 0, c->sets * sizeof(*c->bits));
	memset(c->age, 3, n);
	if (!c->hint)
		return;
	memset(c->newest, 0xff, c->sets * sizeof(*c->newest));
	memset(c->hint, 0, c->hint_mask + 1);
}

/* --- FIFO, and LRU with many ways: a set is in order, newest first --- */

static void move_to_front(uint64_t *set, uint32_t way)
{
	uint64_t entry = set[way];

	for (; way; way--)
		set[way] = set[way - 1];
	set[0] = entry;
}

/* --- LRU: the oldest way has no bit in its row --- */

/* Returns the first byte that is 0, if there is one. */
static uint32_t matrix_victim(uint64_t matrix)
{
	uint64_t zero =
		(matrix - UINT64_C(0x0101010101010101)) & ~matrix & UINT64_C(0x8080808080808080);

	return (uint32_t)__builtin_ctzll(zero) / 8;
}

/* --- tree PLRU: each node points to the half that was used longer ago --- */

static uint32_t tree_victim(uint64_t tree, uint32_t ways)
{
	uint32_t node = 1;

	while (node < ways)
		node = 2 * node + (uint32_t)(tree >> node & 1);
	return node - ways;
}

/* --- QLRU: ages of two bits, in a byte each --- */

#define ONES UINT32_C(0x01010101)

/* Returns four ages at once.  Those beyond the last way are 0. */
static inline uint32_t four(const uint8_t *age, uint32_t ways, uint32_t at)
{
	uint32_t ages = 0;

	if (ways % 4 == 0)
		memcpy(&ages, age + at, sizeof(ages));
	else
		for (uint32_t i = 0; i < 4 && at + i < ways; i++)
			ages |= (uint32_t)age[at + i] << 8 * i;
	return ages;
}

/* Adds to up to four ages, which stay below 4. */
static inline void add_four(uint8_t *age, uint32_t ways, uint32_t at, uint32_t more)
{
	uint32_t ages = four(age, ways, at) + more;

	if (ways % 4 == 0)
		memcpy(age + at, &ages, sizeof(ages));
	else
		for (uint32_t i = 0; i < 4 && at + i < ways; i++)
			age[at + i] = (uint8_t)(ages >> 8 * i);
}

/* Returns a mask of way `used` among four. */
static inline uint32_t mask_of(uint32_t used, uint32_t at)
{
	return used - at < 4 ? UINT32_C(0xff) << 8 * (used - at) : 0;
}

/*
 * Ages the entries of a set after an access to entry `used` (`ways`: before a replacement). U0,
 * U1: until one of them has age 3.  U2, U3: by one, if none has age 3.  With U1 and U3 the entry
 * `used` stays as it is, and with U1 its age does not matter.
 */
static void qlru_age(const struct spmu_replacement *r, uint8_t *age, uint32_t ways, uint32_t used)
{
	uint32_t any = 0, threes = 0, oldest, more;

	for (uint32_t at = 0; at < ways; at += 4) {
		uint32_t ages = four(age, ways, at);

		ages &= r->update == 1 ? ~mask_of(used, at) : UINT32_MAX;
		any |= ages;
		threes |= ages & ages >> 1;
	}
	oldest = threes & ONES ? 3 : any & 2 * ONES ? 2 : (any & ONES) != 0;
	more = r->update < 2 ? 3 - oldest : oldest < 3;
	for (uint32_t at = 0; more && at < ways; at += 4)
		add_four(age, ways, at,
			 more * ONES & (r->update & 1 ? ~mask_of(used, at) : UINT32_MAX));
}

static void qlru_hit(const struct spmu_replacement *r, uint8_t *age, uint32_t ways, uint32_t way)
{
	age[way] = age[way] == 3 ? r->hit_from_3 : age[way] == 2 ? r->hit_from_2 : 0;
	if (!r->update_on_miss)
		qlru_age(r, age, ways, way);
}

/* Returns the leftmost entry of age 3, or, as R1 has it, the first entry if there is none. */
static uint32_t qlru_victim(const uint8_t *age, uint32_t ways)
{
	for (uint32_t at = 0; at < ways; at += 4) {
		uint32_t ages = four(age, ways, at), threes = ages & ages >> 1 & ONES;

		if (threes)
			return at + (uint32_t)__builtin_ctz(threes) / 8;
	}
	return 0;
}

/* --- MRU: a bit for each way that was used; when all are set, the others are cleared --- */

static void mru_use(uint64_t *used, uint32_t ways, uint32_t way)
{
	uint64_t all = (UINT64_C(1) << ways) - 1;

	*used |= UINT64_C(1) << way;
	if (*used == all)
		*used = UINT64_C(1) << way;
}

static uint32_t mru_victim(uint64_t used, uint32_t ways)
{
	for (uint32_t i = 0; i < ways; i++)
		if (!(used >> i & 1))
			return i;
	return 0;
}

/* --- all policies --- */

/* Notes which way a set has used. */
static void hint(struct cache *c, uint64_t set, uint64_t line, uint32_t way)
{
	if (!c->hint)
		return;
	c->newest[set] = line;
	if (!c->ordered)
		c->hint[line & c->hint_mask] = (uint8_t)way;
}

uint64_t *cache_find(struct cache *c, uint64_t line)
{
	uint64_t *set = set_of(c, line);
	uint32_t way = cache_way(set, c->ways, line);

	return way < c->ways ? &set[way] : NULL;
}

bool cache_has_room(const struct cache *c, uint64_t line)
{
	const uint64_t *set = set_of(c, line);

	for (uint32_t way = 0; c->empty && way < c->ways; way++)
		if (set[way] == CACHE_EMPTY)
			return true;
	return false;
}

uint64_t *cache_use(struct cache *c, uint64_t line)
{
	uint64_t number = cache_set(c, line);
	uint64_t *set = c->entry + number * c->ways;
	uint32_t way = cache_way(set, c->ways, line);
	uint64_t *found = &set[way];

	if (way == c->ways)
		return NULL;
	hint(c, number, line, way);
	switch ((enum spmu_replacement_policy)c->replacement.policy) {
	case SPMU_REPLACE_LRU:
		if (c->ordered) {
			move_to_front(set, way);
			return set;
		}
		cache_note_use(c, number, way);
		return found;
	case SPMU_REPLACE_FIFO:
		return found;
	case SPMU_REPLACE_TREE_PLRU:
		cache_note_use(c, number, way);
		return found;
	case SPMU_REPLACE_MRU:
		mru_use(&c->bits[number], c->ways, way);
		return found;
	case SPMU_REPLACE_QLRU:
		qlru_hit(&c->replacement, c->age + number * c->ways, c->ways, way);
		return found;
	}
	return found;
}

/*
 * Returns the way that a new line gets: the leftmost empty one, with R2 the rightmost, or the
 * victim's.  A tree chooses even while ways are empty.
 */
static uint32_t choose_way(const struct cache *c, uint64_t number)
{
	const uint64_t *set = c->entry + number * c->ways;
	bool from_right = c->replacement.policy == SPMU_REPLACE_QLRU && c->replacement.victim == 2;

	if (c->replacement.policy == SPMU_REPLACE_TREE_PLRU)
		return tree_victim(c->bits[number], c->ways);
	for (uint32_t i = 0; c->empty && i < c->ways; i++) {
		uint32_t way = from_right ? c->ways - 1 - i : i;

		if (set[way] == CACHE_EMPTY)
			return way;
	}
	if (c->replacement.policy == SPMU_REPLACE_LRU)
		return matrix_victim(c->bits[number]);
	if (c->replacement.policy == SPMU_REPLACE_MRU)
		return mru_victim(c->bits[number], c->ways);
	return qlru_victim(c->age + number * c->ways, c->ways);
}

/* Notes the use of a way that has just got a new line. */
static void use_new(struct cache *c, uint64_t number, uint32_t way)
{
	uint8_t *age = c->age + number * c->ways;

	if (c->replacement.policy == SPMU_REPLACE_LRU ||
	    c->replacement.policy == SPMU_REPLACE_TREE_PLRU) {
		cache_note_use(c, number, way);
	} else if (c->replacement.policy == SPMU_REPLACE_MRU) {
		mru_use(&c->bits[number], c->ways, way);
	} else {
		age[way] = c->replacement.insert;
		if (!c->replacement.update_on_miss)
			qlru_age(&c->replacement, age, c->ways, way);
	}
}

uint64_t cache_insert(struct cache *c, uint64_t line, unsigned flags)
{
	uint64_t number = cache_set(c, line);
	uint64_t *set = c->entry + number * c->ways;
	uint64_t entry = line << CACHE_FLAG_BITS | flags;
	uint64_t victim;
	uint32_t way;

	if (c->ordered) {
		way = c->ways - 1;
		for (uint32_t i = 0; i < way; i++)
			if (set[i] == CACHE_EMPTY)
				way = i;
		victim = set[way];
		c->empty -= victim == CACHE_EMPTY;
		set[way] = entry;
		move_to_front(set, way);
		hint(c, number, line, 0);
		return victim;
	}
	if (c->replacement.policy == SPMU_REPLACE_QLRU && c->replacement.update_on_miss)
		qlru_age(&c->replacement, c->age + number * c->ways, c->ways, c->ways);
	way = choose_way(c, number);
	victim = set[way];
	c->empty -= victim == CACHE_EMPTY;
	set[way] = entry;
	hint(c, number, line, way);
	use_new(c, number, way);
	return victim;
}

uint64_t cache_remove(struct cache *c, uint64_t line)
{
	uint64_t *set = set_of(c, line);
	uint64_t *found = cache_find(c, line);
	uint64_t entry;

	if (!found)
		return CACHE_EMPTY;
	entry = *found;
	c->empty++;
	if (c->hint)
		c->newest[cache_set(c, line)] = CACHE_EMPTY;
	if (c->ordered) {
		uint32_t way = (uint32_t)(found - set);

		memmove(found, found + 1, (c->ways - 1 - way) * sizeof(*set));
		set[c->ways - 1] = CACHE_EMPTY;
	} else {
		*found = CACHE_EMPTY;
	}
	return entry;
}
