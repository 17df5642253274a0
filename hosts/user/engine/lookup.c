/* SPDX-License-Identifier: MIT */
/*
 * lookup.c: where the code for a program address is: for the engine a table by key, for translated
 * code the tables of indirect targets.
 *
 * Indirect branches go through a table by the low 16 bits of the
 * program address to a thunk that compares the whole address without
 * touching flags; thunks with the same low bits form a chain.  A thunk stands in front of its
 * block, unless that has been translated before.  Returns have a table of their own, as their
 * target stands on the stack.
 *
 * Translations of earlier runs are not entered here: keep.c has a table of them as it is in the
 * file.  What is entered here comes first.  Their indirect targets are in chains of their own, one
 * for each module and place of the table.  Where that is taken they are found at their first use.
 */
#include "cache.h"
#include "emit.h"
#include "engine.h"
#include "keep.h"
#include "sys.h"
#include "threads.h"

#define NEAR_SHIFT 6 /* so many bytes of the program, 8 to an entry, make one group of a table */
#define NEAR_MASK  (((uint32_t)1 << (NEAR_SHIFT - 3)) - 1)
#define LOW_PC	   INT32_MAX
#define FIRST_SIZE (1u << 13) /* of the table */
#define LARGE_SIZE (1u << 18) /* 2 MB */

/* Indirect targets: code by the low 16 bits of the program address; of returns behind them,
 * and in careful code others. */
static uint32_t *target, *careful_target;
static bool target_changed; /* since they were cleared */
static bool careful_used;

/* The thunk that was made last: of what is translated right behind it. */
static struct {
	uint64_t key;
	uint8_t *end;
	bool of_return;
} in_front;

/*
 * Open addressing.  An entry is one word, so that one store publishes it: the low 31 bits of the
 * program address and CAREFUL, and the code's place in the cache with what is known of it.  Where
 * the address has more bits it stands in `high`, with the place.
 */
#define CAREFUL	   (UINT64_C(1) << 31)
#define PLACE_BITS 28
#define PLACE(e)   ((uint32_t)((e) >> 32) & ((1u << PLACE_BITS) - 1))
#define HIGH	   (UINT64_C(1) << 61) /* the place is one of `high` */
#define GONE	   (UINT64_C(1) << 62) /* the block has been dropped */

struct table {
	uint32_t size, used;
	_Alignas(64) uint64_t entry[]; /* a group in one line */
};
static struct table *table;

struct high {
	uint64_t pc;
	uint32_t place;
};
static struct high *high;
static uint32_t highs;

static size_t table_bytes(uint32_t size)
{
	return sizeof(struct table) + size * sizeof(uint64_t);
}

static struct table *table_make(uint32_t size)
{
	size_t bytes = table_bytes(size);
	struct table *t = size < LARGE_SIZE ? engine_memory(bytes) : engine_memory_large(bytes);

	engine_populate(t, bytes);
	t->size = size;
	return t;
}

static uint64_t nowhere(bool of_return)
{
	return (uint64_t)blocks_gate(of_return ? EXIT_RETURN : EXIT_INDIRECT);
}

static void targets_clear(uint32_t *t)
{
	const uint64_t gate[2] = {nowhere(false), nowhere(true)};

	engine_populate(t, TARGETS_BYTES / 2);
	for (unsigned i = 0; i < 2 * TARGETS; i++)
		t[i] = (uint32_t)gate[i / TARGETS];
}

void lookup_place(uint32_t *targets)
{
	target = targets;
	careful_target = targets + 2 * TARGETS;
	targets_clear(target);
	if (careful_used)
		targets_clear(careful_target);
}

void lookup_start(uint32_t blocks)
{
	table = table_make(FIRST_SIZE);
	high = engine_memory(blocks * sizeof(*high));
}

void lookup_clear(void)
{
	if (table->used)
		memset(table->entry, 0, table->size * sizeof(*table->entry));
	table->used = 0;
	highs = 0;
	if (target_changed)
		targets_clear(target);
	if (careful_used)
		targets_clear(careful_target);
	target_changed = false;
}

uint64_t blocks_targets(bool careful, bool of_returns)
{
	return (uint64_t)((careful ? careful_target : target) + (of_returns ? TARGETS : 0));
}

/* Code that is near in the program is near in the table: what is looked up for one block, and then
 * for the next, is in few cache lines. */
static uint32_t hash(uint32_t key)
{
	uint32_t group = (uint32_t)((key >> NEAR_SHIFT) * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	return (group & ~NEAR_MASK) | (key >> 3 & NEAR_MASK);
}

/* What an entry says of its key. */
static uint64_t entry_key(uint64_t key)
{
	uint64_t pc = key & ~CAREFUL_KEY;

	return (pc & LOW_PC) | (key & CAREFUL_KEY ? CAREFUL : 0) | (pc > LOW_PC ? HIGH : 0);
}

uint32_t lookup_hash(uint64_t key)
{
	return hash((uint32_t)entry_key(key));
}

static bool is_of(uint64_t entry, uint64_t key)
{
	if ((entry ^ entry_key(key)) & (HIGH | UINT32_MAX))
		return false;
	return !(entry & HIGH) || high[PLACE(entry)].pc == (key & ~CAREFUL_KEY);
}

/* Where the key is, or would be; *entry is what is there. */
static uint64_t *find(struct table *t, uint64_t key, uint64_t *entry)
{
	uint32_t mask = t->size - 1, i = lookup_hash(key) & mask;

	while ((*entry = __atomic_load_n(&t->entry[i], __ATOMIC_ACQUIRE)) && !is_of(*entry, key))
		i = (i + 1) & mask;
	return t->entry + i;
}

static uint32_t *target_of(uint64_t key, bool of_return)
{
	return (uint32_t *)blocks_targets(key & CAREFUL_KEY, of_return) + (uint16_t)key;
}

void blocks_will_look(uint64_t key, bool of_return)
{
	const struct table *t = table;

	__builtin_prefetch(&t->entry[lookup_hash(key) & (t->size - 1)]);
	if (of_return)
		__builtin_prefetch(target_of(key, true));
}

static uint64_t kept_code(uint64_t key)
{
	const struct block *b = keep_find(key);

	return b ? (uint64_t)cache_base + b->code : 0;
}

uint64_t blocks_lookup(uint64_t key)
{
	uint64_t entry;
	uint32_t place;

	find(__atomic_load_n(&table, __ATOMIC_ACQUIRE), key, &entry);
	if (!entry)
		return kept_code(key);
	if (entry & GONE)
		return 0;
	place = PLACE(entry);
	if (entry & HIGH)
		place = __atomic_load_n(&high[place].place, __ATOMIC_RELAXED);
	return (uint64_t)cache_base + place;
}

static bool is_full(uint32_t size, uint32_t used)
{
	return used * 2 > size;
}

/* Somebody may be looking something up in the old one: with other threads it is left there. */
static void table_grow(uint32_t size)
{
	struct table *old = table, *new = table_make(size);

	for (uint32_t i = 0; i < old->size && old->used; i++) {
		uint32_t to = hash((uint32_t)old->entry[i]);

		while (old->entry[i] && new->entry[to & (size - 1)])
			to++;
		if (old->entry[i])
			new->entry[to & (size - 1)] = old->entry[i];
	}
	new->used = old->used;
	__atomic_store_n(&table, new, __ATOMIC_RELEASE);
	if (threads_alone())
		engine_release(old, table_bytes(old->size));
}

/* Number i of `high`. */
static uint32_t high_place(uint32_t i, uint64_t key, uint32_t place)
{
	high[i].pc = key & ~CAREFUL_KEY;
	__atomic_store_n(&high[i].place, place, __ATOMIC_RELAXED);
	return i;
}

void blocks_add(uint64_t key, uint64_t code)
{
	uint64_t *e, before, now = entry_key(key);
	uint32_t place = (uint32_t)(code - (uint64_t)cache_base);

	if (is_full(table->size, table->used))
		table_grow(table->size * 2);
	e = find(table, key, &before);
	table->used += !before;
	if (now & HIGH)
		place = high_place(before ? PLACE(before) : highs++, key, place);
	now |= (uint64_t)place << 32;
	__atomic_store_n(e, now, __ATOMIC_RELEASE);
}

void lookup_drop(uint64_t key)
{
	uint64_t entry, *e = find(table, key, &entry);

	if (entry)
		__atomic_store_n(e, entry | GONE, __ATOMIC_RELEASE);
}

void target_set(uint64_t key, uint64_t thunk, bool of_return)
{
	target_changed = true;
	__atomic_store_n(target_of(key, of_return), (uint32_t)thunk, __ATOMIC_RELEASE);
	keep_target(key, of_return);
}

uint64_t target_thunk(uint64_t key, bool of_return)
{
	uint64_t thunk = (uint64_t)cache_at;
	struct emit e = {cache_at};

	emit_thunk(&e, key & ~CAREFUL_KEY, *target_of(key, of_return), of_return);
	cache_at = e.at;
	in_front.key = key;
	in_front.end = cache_at;
	in_front.of_return = of_return;
	return thunk;
}

unsigned target_in_front(uint64_t key)
{
	return in_front.key == key && in_front.end == cache_at ? 1u << in_front.of_return : 0;
}

/* A thunk among the cold code. */
static uint64_t cold_thunk(uint64_t pc, uint64_t code, uint64_t next, bool of_return)
{
	uint64_t thunk = (uint64_t)cold_at;
	struct emit e = {cold_at};

	emit_thunk(&e, pc, next, of_return);
	emit_jmp(&e, code);
	cold_at = e.at;
	return thunk;
}

static void target_add(uint64_t key, uint64_t code, bool of_return)
{
	uint64_t next = *target_of(key, of_return);

	target_set(key, cold_thunk(key & ~CAREFUL_KEY, code, next, of_return), of_return);
}

/* --- as they are kept --- */

uint64_t target_chain(struct block *b, bool of_return, uint64_t next)
{
	uint64_t code = (uint64_t)cache_base + b->code;

	next = next ? next : nowhere(of_return);
	if (b->thunk == 1u << of_return)
		return emit_chain_thunk(code, next, of_return);
	return cold_thunk(b->pc, code, next, of_return);
}

void targets_take(const struct kept_target *t, uint32_t count)
{
	target_changed |= count != 0;
	for (; count; count--, t++) {
		uint32_t *at = target + (t->of_return ? TARGETS : 0) + t->place;

		if (*at == nowhere(t->of_return))
			__atomic_store_n(at, t->thunk, __ATOMIC_RELEASE);
	}
}

void target_find(uint64_t key, bool of_return)
{
	uint64_t code, thunk, flushes;

	if (blocks_full())
		blocks_flush();
	code = blocks_lookup(key);
	if (code) {
		target_add(key, code, of_return);
		return;
	}
	flushes = blocks_flushes;
	thunk = target_thunk(key, of_return);
	if (translate_block(key) && blocks_flushes == flushes)
		target_set(key, thunk, of_return);
}

void blocks_start_careful(void)
{
	if (__atomic_load_n(&careful_used, __ATOMIC_ACQUIRE))
		return;
	engine_lock();
	if (!careful_used)
		targets_clear(careful_target);
	__atomic_store_n(&careful_used, true, __ATOMIC_RELEASE);
	engine_unlock();
}
