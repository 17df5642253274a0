/* SPDX-License-Identifier: MIT */
/*
 * lookup.c: finds the code for a program address. The engine uses a table of keys. Translated code
 * uses the tables of indirect targets.
 *
 * An indirect branch finds a thunk by the low 16 bits of the program address.  The thunk compares
 * the whole address, and changes no flag.  Thunks with the same low bits form a chain.  A thunk is
 * directly before its block, unless the block was translated earlier.  Returns have their own
 * table, because their target is on the stack.
 *
 * The persistent code cache is not entered here: persist.c uses its table as it is in the file.
 * Entries here come first.  Indirect targets of the persistent cache are in chains of their own,
 * one for each module and index of the table.  Where an entry of the table is taken, they are
 * found at their first use.
 */
#include "engine/cache/cache.h"
#include "engine/cache/parts.h"
#include "engine/cache/persistent.h"
#include "engine/count/meter_list.h"
#include "engine/rt/context.h"
#include "engine/rt/context_words.h"
#include "engine/rt/contexts.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"
#include "engine/x86/emit.h"
#include "hosts/user/hash.h"

#define NEAR_SHIFT                                                                                 \
	6 /* a group of the table covers 1 << NEAR_SHIFT bytes of the program, 8 for each entry */
#define NEAR_MASK  (((uint32_t)1 << (NEAR_SHIFT - 3)) - 1)
#define LOW_PC	   INT32_MAX
#define FIRST_SIZE (1u << 10) /* of the table: with a persistent code cache, little is added */
#define USUAL_SIZE (1u << 13)
#define SMALL_MOST (1u << 15) /* of a table in small pages */
#define LARGE_SIZE (1u << 18) /* 2 MB */

/* The newest thunk: of the block that is translated directly after it. */
static struct {
	uint64_t key;
	uint8_t *end;
	bool of_return;
} in_front;

/*
 * Open addressing.  An entry is one word, so that one store publishes it.  It has the low 31 bits
 * of the program address, OF_LOW_HEADROOM, and the place of the code in the cache with its flags.
 * If the address has more bits, it is in `high`, together with the place.
 */
#define OF_LOW_HEADROOM (UINT64_C(1) << 31)
#define PLACE_BITS	28
#define PLACE(e)	((uint32_t)((e) >> 32) & ((1u << PLACE_BITS) - 1))
#define HIGH		(UINT64_C(1) << 61) /* the place is an index of `high` */
#define GONE		(UINT64_C(1) << 62) /* the block has been dropped */

struct table {
	uint32_t size, used;
	_Alignas(64) uint64_t entry[]; /* each group is in one cache line */
};

struct high {
	uint64_t pc;
	uint32_t place;
};

/* What is known of the code of one variant. */
static struct variant {
	struct table *table; /* NULL: the variant has not been used */
	struct high *high;
	uint32_t highs;
	/* Indirect targets: code by the low 16 bits of the program address.  Those of returns
	 * follow.  Low-headroom blocks have their own. */
	uint32_t *target, *low_headroom_target;
	bool target_changed; /* since the tables were cleared */
	bool low_headroom_used;
} variant[VARIANTS_MAX];
static uint32_t blocks_most;

/* That of the running thread. */
static struct variant *own(void)
{
	return &variant[current->list->variant];
}

static size_t table_bytes(uint32_t size)
{
	return sizeof(struct table) + size * sizeof(uint64_t);
}

static struct table *table_make(uint32_t size)
{
	size_t bytes = table_bytes(size);
	struct table *t = size < LARGE_SIZE ? heap_allocate(bytes) : heap_allocate_large(bytes);

	heap_populate(t, bytes);
	t->size = size;
	return t;
}

static uint64_t nowhere(bool of_return)
{
	return (uint64_t)emit_trampoline(of_return ? EXIT_RETURN : EXIT_INDIRECT);
}

/* One instruction is several times as fast as a loop of stores. */
static void fill(uint32_t *to, uint32_t word, size_t n) /* NOLINT: it writes there */
{
	__asm__ volatile("rep stosl" : "+D"(to), "+c"(n) : "a"(word) : "memory");
}

static void targets_clear(uint32_t *t)
{
	heap_populate(t, TARGETS_BYTES / 2);
	fill(t, (uint32_t)nowhere(false), TARGETS);
	fill(t + TARGETS, (uint32_t)nowhere(true), TARGETS);
}

void lookup_place(uint32_t *targets, uint32_t *others)
{
	for (unsigned i = 0; i < cache_sizes->variants;
	     i++, targets = others, others += 4 * TARGETS) {
		struct variant *v = &variant[i];

		v->target = targets;
		v->low_headroom_target = targets + 2 * TARGETS;
		if (v->table)
			targets_clear(v->target);
		if (v->low_headroom_used)
			targets_clear(v->low_headroom_target);
	}
}

void lookup_open(unsigned number)
{
	struct variant *v = &variant[number];

	if (v->table)
		return;
	v->high = heap_allocate(blocks_most * sizeof(*v->high));
	targets_clear(v->target);
	__atomic_store_n(&v->table, table_make(FIRST_SIZE), __ATOMIC_RELEASE);
}

void lookup_start(uint32_t blocks)
{
	blocks_most = blocks;
}

static void clear(struct variant *v)
{
	if (v->table->used)
		memset(v->table->entry, 0, v->table->size * sizeof(*v->table->entry));
	v->table->used = 0;
	v->highs = 0;
	if (v->target_changed)
		targets_clear(v->target);
	if (v->low_headroom_used)
		targets_clear(v->low_headroom_target);
	v->target_changed = false;
}

void lookup_clear(void)
{
	for (unsigned i = 0; i < cache_sizes->variants; i++)
		if (variant[i].table)
			clear(&variant[i]);
}

uint64_t lookup_targets(bool low_headroom, bool of_returns)
{
	const struct variant *v = own();

	return (uint64_t)((low_headroom ? v->low_headroom_target : v->target) +
			  (of_returns ? TARGETS : 0));
}

/* Code that is near in the program is near in the table.  So lookups for one block and for the
 * next one use few cache lines. */
static uint32_t hash(uint32_t key)
{
	uint32_t group = (uint32_t)(hash_of(key >> NEAR_SHIFT) >> 32);

	return (group & ~NEAR_MASK) | (key >> 3 & NEAR_MASK);
}

/* Returns the part of a key that is in its entry. */
static uint64_t entry_key(uint64_t key)
{
	uint64_t pc = key & ~LOW_HEADROOM_KEY;

	return (pc & LOW_PC) | (key & LOW_HEADROOM_KEY ? OF_LOW_HEADROOM : 0) |
	       (pc > LOW_PC ? HIGH : 0);
}

uint32_t lookup_hash(uint64_t key)
{
	return hash((uint32_t)entry_key(key));
}

static bool is_of(const struct variant *v, uint64_t entry, uint64_t key)
{
	if ((entry ^ entry_key(key)) & (HIGH | UINT32_MAX))
		return false;
	return !(entry & HIGH) || v->high[PLACE(entry)].pc == (key & ~LOW_HEADROOM_KEY);
}

/* Returns the place of the key, or the place where it would be.  *entry is the entry's value. */
static uint64_t *find(const struct variant *v, uint64_t key, uint64_t *entry)
{
	struct table *t = __atomic_load_n(&v->table, __ATOMIC_ACQUIRE);
	uint32_t mask = t->size - 1, i = lookup_hash(key) & mask;

	while ((*entry = __atomic_load_n(&t->entry[i], __ATOMIC_ACQUIRE)) && !is_of(v, *entry, key))
		i = (i + 1) & mask;
	return t->entry + i;
}

static uint32_t *target_of(uint64_t key, bool of_return)
{
	return (uint32_t *)lookup_targets(key & LOW_HEADROOM_KEY, of_return) + (uint16_t)key;
}

void lookup_prefetch(uint64_t key, bool of_return)
{
	const struct table *t = own()->table;

	__builtin_prefetch(&t->entry[lookup_hash(key) & (t->size - 1)]);
	if (of_return)
		__builtin_prefetch(target_of(key, true));
}

/* Returns the saved block of this key and variant, if its module is mapped, or NULL. */
static struct block *find_persistent(uint64_t key, unsigned number)
{
	uint32_t mask = persistent.index_size - 1, i, n;
	uint64_t pc = key & ~LOW_HEADROOM_KEY;

	if (!persistent.index_size)
		return NULL;
	for (i = lookup_hash(key); (n = persistent.index[i & mask]); i++) {
		struct block *b = block_at(n - 1);

		if (b->pc == pc && b->low_headroom == (key >> 63) && b->variant == number &&
		    !b->gone &&
		    __atomic_load_n(&persistent.saved[b->module].taken, __ATOMIC_ACQUIRE))
			return b;
	}
	return NULL;
}

static uint64_t saved_code(uint64_t key, unsigned number)
{
	const struct block *b = find_persistent(key, number);

	return b ? (uint64_t)cache_base + b->code : 0;
}

uint64_t lookup_in(uint64_t key, unsigned number)
{
	const struct variant *v = &variant[number];
	uint64_t entry;
	uint32_t place;

	find(v, key, &entry);
	if (!entry)
		return saved_code(key, number);
	if (entry & GONE)
		return 0;
	place = PLACE(entry);
	if (entry & HIGH)
		place = __atomic_load_n(&v->high[place].place, __ATOMIC_RELAXED);
	return (uint64_t)cache_base + place;
}

uint64_t lookup_code(uint64_t key)
{
	unsigned number = current->list->variant;

	return number == NO_VARIANT ? 0 : lookup_in(key, number);
}

static bool is_full(uint32_t size, uint32_t used)
{
	return used * 2 > size;
}

/* Returns the size after this one.  A page of 2 MB costs less than half as many small ones, and
 * lookups in it need one entry of the TLB. */
static uint32_t larger(uint32_t size)
{
	if (size < USUAL_SIZE)
		return USUAL_SIZE;
	return size < SMALL_MOST || size >= LARGE_SIZE ? size * 2 : LARGE_SIZE;
}

/* Replaces the table by a larger one.  Another thread may still read the old one, so it is not
 * freed while there are other threads. */
static void table_grow(struct variant *v, uint32_t size)
{
	struct table *old = v->table, *new = table_make(size);

	for (uint32_t i = 0; i < old->size && old->used; i++) {
		uint32_t to = hash((uint32_t)old->entry[i]);

		while (old->entry[i] && new->entry[to & (size - 1)])
			to++;
		if (old->entry[i])
			new->entry[to & (size - 1)] = old->entry[i];
	}
	new->used = old->used;
	__atomic_store_n(&v->table, new, __ATOMIC_RELEASE);
	if (contexts_alone())
		heap_release(old, table_bytes(old->size));
}

/* Stores number i of `high`, and returns the entry's value. */
static uint32_t high_place(struct variant *v, uint32_t i, uint64_t key, uint32_t place)
{
	v->high[i].pc = key & ~LOW_HEADROOM_KEY;
	__atomic_store_n(&v->high[i].place, place, __ATOMIC_RELAXED);
	return i;
}

void lookup_add(uint64_t key, uint64_t code)
{
	struct variant *v = own();
	uint64_t *e, before, now = entry_key(key);
	uint32_t place = (uint32_t)(code - (uint64_t)cache_base);

	if (is_full(v->table->size, v->table->used))
		table_grow(v, larger(v->table->size));
	e = find(v, key, &before);
	v->table->used += !before;
	if (now & HIGH)
		place = high_place(v, before ? PLACE(before) : v->highs++, key, place);
	now |= (uint64_t)place << 32;
	__atomic_store_n(e, now, __ATOMIC_RELEASE);
}

void lookup_drop(uint64_t key, unsigned number)
{
	uint64_t entry, *e = find(&variant[number], key, &entry);

	if (entry)
		__atomic_store_n(e, entry | GONE, __ATOMIC_RELEASE);
}

void lookup_set_target(uint64_t key, uint64_t thunk, bool of_return)
{
	own()->target_changed = true;
	__atomic_store_n(target_of(key, of_return), (uint32_t)thunk, __ATOMIC_RELEASE);
	persistent_note_target(key, of_return);
}

uint64_t lookup_make_thunk(uint64_t key, bool of_return)
{
	uint64_t thunk = (uint64_t)cache_at;
	struct emit e = {cache_at};

	emit_thunk(&e, key & ~LOW_HEADROOM_KEY, *target_of(key, of_return), of_return);
	cache_at = e.at;
	in_front.key = key;
	in_front.end = cache_at;
	in_front.of_return = of_return;
	return thunk;
}

unsigned lookup_thunk_in_front(uint64_t key)
{
	return in_front.key == key && in_front.end == cache_at ? 1u << in_front.of_return : 0;
}

/* Makes a thunk in the area of rarely run code. */
static uint64_t cold_thunk(uint64_t pc, uint64_t code, uint64_t next, bool of_return)
{
	uint64_t thunk = (uint64_t)cache_cold_at;
	struct emit e = {cache_cold_at};

	emit_thunk(&e, pc, next, of_return);
	emit_jmp(&e, code);
	cache_cold_at = e.at;
	return thunk;
}

void lookup_add_target(uint64_t key, uint64_t code, bool of_return)
{
	uint64_t next = *target_of(key, of_return);

	lookup_set_target(key, cold_thunk(key & ~LOW_HEADROOM_KEY, code, next, of_return),
			  of_return);
}

/* --- the persistent code cache --- */

uint64_t lookup_chain_target(struct block *b, bool of_return, uint64_t next)
{
	uint64_t code = (uint64_t)cache_base + b->code;

	next = next ? next : nowhere(of_return);
	if (b->thunk == 1u << of_return)
		return emit_chain_thunk(code, next, of_return);
	return cold_thunk(b->pc, code, next, of_return);
}

void lookup_take_targets(const struct persistent_target *t, uint32_t count)
{
	for (; count; count--, t++) {
		struct variant *v = &variant[t->variant];
		uint32_t *at = v->target + (t->of_return ? TARGETS : 0) + t->place;

		if (!v->table || *at != nowhere(t->of_return))
			continue;
		v->target_changed = true;
		__atomic_store_n(at, t->thunk, __ATOMIC_RELEASE);
	}
}

bool lookup_start_low(void)
{
	struct variant *v = own();
	uint64_t flushes = cache_flushes;

	if (__atomic_load_n(&v->low_headroom_used, __ATOMIC_ACQUIRE))
		return true;
	lock_take();
	if (cache_flushes == flushes && !v->low_headroom_used) {
		targets_clear(v->low_headroom_target);
		__atomic_store_n(&v->low_headroom_used, true, __ATOMIC_RELEASE);
	}
	lock_release();
	return cache_flushes == flushes;
}
