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
 */
#include "cache.h"
#include "emit.h"
#include "engine.h"
#include "keep.h"
#include "sys.h"
#include "threads.h"

#define NEAR_SHIFT 10 /* so many bytes of the program, 8 to an entry, make one group of a table */
#define NEAR_MASK  (((uint32_t)1 << (NEAR_SHIFT - 3)) - 1)
#define GONE	   2 /* in place of code: the block has been dropped */

/* Indirect targets: code by the low 16 bits of the program address; of returns behind them,
 * and in careful code others. */
static uint64_t *target, *careful_target;
static bool careful_used;

/* Open addressing by program address; a code of 0: nothing there. */
struct entry {
	uint64_t pc;
	uint64_t code;
};
struct table {
	uint32_t size, used;
	struct entry entry[];
};
static struct table *table;

static size_t table_bytes(uint32_t size)
{
	return sizeof(struct table) + size * sizeof(struct entry);
}

static struct table *table_make(uint32_t size)
{
	struct table *t = engine_memory(table_bytes(size));

	t->size = size;
	return t;
}

static void targets_clear(uint64_t *t)
{
	for (unsigned i = 0; i < TARGETS; i++) {
		t[i] = (uint64_t)blocks_gate(EXIT_INDIRECT);
		t[TARGETS + i] = (uint64_t)blocks_gate(EXIT_RETURN);
	}
}

void lookup_start(uint64_t *targets)
{
	target = targets;
	careful_target = targets + 2 * TARGETS;
	table = table_make(1u << 13);
}

void lookup_clear(void)
{
	memset(table->entry, 0, table->size * sizeof(*table->entry));
	table->used = 0;
	targets_clear(target);
	if (careful_used)
		targets_clear(careful_target);
}

uint64_t blocks_targets(bool careful, bool of_returns)
{
	return (uint64_t)((careful ? careful_target : target) + (of_returns ? TARGETS : 0));
}

/* Code that is near in the program is near in the table: what is looked up for one block, and then
 * for the next, is in few cache lines. */
static uint32_t hash(uint64_t key)
{
	uint32_t group = (uint32_t)((key >> NEAR_SHIFT) * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	return (group & ~NEAR_MASK) | (uint32_t)(key >> 3 & NEAR_MASK);
}

/* Where the key is, or would be; *code is what is there. */
static struct entry *find(struct table *t, uint64_t key, uint64_t *code)
{
	uint32_t i = hash(key) & (t->size - 1);

	while ((*code = __atomic_load_n(&t->entry[i].code, __ATOMIC_ACQUIRE)) &&
	       t->entry[i].pc != key)
		i = (i + 1) & (t->size - 1);
	return t->entry + i;
}

uint64_t blocks_lookup(uint64_t key)
{
	uint64_t code;

	find(__atomic_load_n(&table, __ATOMIC_ACQUIRE), key, &code);
	return code == GONE ? 0 : code;
}

/* Somebody may be looking something up in the old one: with other threads it is left there. */
static void table_grow(void)
{
	struct table *old = table, *new = table_make(old->size * 2);
	uint64_t code;

	for (uint32_t i = 0; i < old->size; i++)
		if (old->entry[i].code)
			*find(new, old->entry[i].pc, &code) = old->entry[i];
	new->used = old->used;
	__atomic_store_n(&table, new, __ATOMIC_RELEASE);
	if (threads_alone())
		engine_release(old, table_bytes(old->size));
}

void lookup_expect(uint32_t blocks)
{
	while (table->size < 4 * blocks)
		table_grow();
}

void blocks_add(uint64_t key, uint64_t code)
{
	struct entry *e;
	uint64_t before;

	if (table->used * 2 > table->size)
		table_grow();
	e = find(table, key, &before);
	table->used += !before;
	e->pc = key;
	__atomic_store_n(&e->code, code, __ATOMIC_RELEASE);
}

void lookup_drop(uint64_t key)
{
	uint64_t code;
	struct entry *e = find(table, key, &code);

	if (code)
		e->code = GONE;
}

bool blocks_may_trace(uint64_t pc)
{
	return !blocks_lookup(pc | TRACED_KEY);
}

void blocks_no_trace(uint64_t pc)
{
	blocks_add(pc | TRACED_KEY, 1);
}

static uint64_t *target_of(uint64_t key, bool of_return)
{
	return (uint64_t *)blocks_targets(key & CAREFUL_KEY, of_return) + (uint16_t)key;
}

void target_set(uint64_t key, uint64_t thunk, bool of_return)
{
	__atomic_store_n(target_of(key, of_return), thunk, __ATOMIC_RELEASE);
	keep_target(key, of_return);
}

uint64_t target_thunk(uint64_t key, bool of_return)
{
	uint64_t thunk = (uint64_t)cache_at;
	struct emit e = {cache_at};

	emit_thunk(&e, key & ~CAREFUL_KEY, *target_of(key, of_return), of_return);
	cache_at = e.at;
	return thunk;
}

/* Its thunk is among the cold code. */
void target_add(uint64_t key, uint64_t code, bool of_return)
{
	uint64_t thunk = (uint64_t)cold_at;
	struct emit e = {cold_at};

	emit_thunk(&e, key & ~CAREFUL_KEY, *target_of(key, of_return), of_return);
	emit_jmp(&e, code);
	cold_at = e.at;
	target_set(key, thunk, of_return);
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
