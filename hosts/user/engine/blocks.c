/* SPDX-License-Identifier: MIT */
/*
 * blocks.c: the code cache and what is known of the code in it.
 *
 * The cache is one mapping: gates to the engine, exit slots, then code, which only
 * grows; when it or a table is full everything is thrown away and begins
 * anew.  An exit slot is a few bytes of code that tell the engine their own number;
 * a direct branch whose target is not yet translated jumps to one, and the slot is free
 * again when the branch has been linked.
 *
 * Indirect branches go through the context's table by the low 16 bits of the
 * program address to a thunk that compares the whole address without
 * touching flags; thunks with the same low bits form a chain.
 */
#include <linux/mman.h>

#include "emit.h"
#include "engine.h"
#include "sys.h"

#define SLOTS_MAX   (1u << 18)
#define SLOT_BYTES  20
#define CODE_BYTES  (28u << 20)
#define COLD_BYTES  (20u << 20)
#define GATE_BYTES  16
#define GATES_BYTES 4096
#define CACHE_BYTES (GATES_BYTES + SLOTS_MAX * SLOT_BYTES + CODE_BYTES + COLD_BYTES)
#define BLOCKS_MAX  (1u << 20)
#define COLD_ROOM   (1u << 20) /* the most that one block's cold code takes */
#define MAP_BYTES   (16u << 20)

uint8_t *cache_base, *cache_at, *cold_at, *cache_end;
uint64_t blocks_flushes;

static uint8_t *slots_code, *code_start, *cold_start;
static struct exit_slot *slot;
static uint32_t slots_made, slot_free_list; /* numbers + 1; the list runs through target */

static struct block *block;
static uint32_t blocks;
static uint8_t *maps;
static uint32_t maps_used;

/* Open addressing by program address; code is an offset in the cache + 1. */
struct entry {
	uint64_t pc;
	uint64_t code;
};
static struct entry *table;
static uint32_t table_size, table_used;

static const char *const gate[] = {
	[EXIT_LINK] = exit_link,	   [EXIT_INDIRECT] = exit_indirect,
	[EXIT_HEADROOM] = exit_headroom,   [EXIT_SYSCALL] = exit_syscall,
	[EXIT_STEP_NEXT] = exit_step_next, [EXIT_STEP_TAKEN] = exit_step_taken,
	[EXIT_STEP_JUMP] = exit_step_jump, [EXIT_HEADROOM_EDGE] = exit_headroom_edge,
	[EXIT_STEP_ME] = exit_step_me,	   [EXIT_LOG_FULL] = exit_log_full,
};

const uint8_t *blocks_gate(unsigned reason)
{
	return cache_base + reason * GATE_BYTES;
}

static void write_gates(void)
{
	for (unsigned i = 1; i < sizeof(gate) / sizeof(gate[0]); i++) {
		struct emit e = {cache_base + i * GATE_BYTES};

		emit_jmp_far(&e, (uint64_t)gate[i]);
	}
}

static void table_make(uint32_t size)
{
	table = engine_memory(size * sizeof(*table));
	table_size = size;
	table_used = 0;
}

void blocks_start(uint64_t program_end)
{
	uint64_t at = CACHE_BASE;
	long got;

	if (program_end > at)
		at = (program_end + (1u << 24)) & ~UINT64_C(0xfffff);
	got = map_memory(at, CACHE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if ((uint64_t)got != at || at + CACHE_BYTES > UINT64_C(0x7f000000))
		engine_fail(126, "no room for the code cache below 2 GiB beside the program");
	cache_base = (uint8_t *)at;
	cache_end = cache_base + CACHE_BYTES;
	slots_code = cache_base + GATES_BYTES;
	code_start = slots_code + SLOTS_MAX * SLOT_BYTES;
	cold_start = code_start + CODE_BYTES;
	emit_start();
	write_gates();
	slot = engine_memory(SLOTS_MAX * sizeof(*slot));
	block = engine_memory(BLOCKS_MAX * sizeof(*block));
	maps = engine_memory(MAP_BYTES);
	table_make(1u << 13);
	blocks_flush();
}

static void targets_clear(uint64_t *target)
{
	for (unsigned i = 0; i < TARGETS; i++)
		target[i] = (uint64_t)blocks_gate(EXIT_INDIRECT);
}

void blocks_flush(void)
{
	cache_at = code_start;
	cold_at = cold_start;
	blocks_flushes++;
	blocks = 0;
	maps_used = 0;
	slots_made = 0;
	slot_free_list = 0;
	memset(table, 0, table_size * sizeof(*table));
	table_used = 0;
	targets_clear(context->target);
	if (context->careful_target[0])
		targets_clear(context->careful_target);
	memory_forget_translations();
	steps_forget();
}

static uint32_t hash(uint64_t pc)
{
	return (uint32_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static struct entry *find(uint64_t pc)
{
	uint32_t i = hash(pc) & (table_size - 1);

	while (table[i].code && table[i].pc != pc)
		i = (i + 1) & (table_size - 1);
	return table + i;
}

uint64_t blocks_lookup(uint64_t key)
{
	return find(key)->code;
}

static void table_grow(void)
{
	struct entry *old = table;
	uint32_t old_size = table_size;

	table_make(old_size * 2);
	for (uint32_t i = 0; i < old_size; i++)
		if (old[i].code) {
			*find(old[i].pc) = old[i];
			table_used++;
		}
	engine_release(old, old_size * sizeof(*old));
}

bool blocks_full(void)
{
	return blocks == BLOCKS_MAX || maps_used > MAP_BYTES - 1024 ||
	       slots_made > SLOTS_MAX - 512 || cache_at > cold_start - 16384 ||
	       cold_at > cache_end - COLD_ROOM;
}

struct block *block_new(uint64_t pc)
{
	struct block *b = block + blocks++;

	b->pc = pc;
	b->code = (uint32_t)(cache_at - cache_base);
	b->map = maps_used;
	engine_link->blocks++;
	return b;
}

void block_publish(uint64_t key, uint64_t entry)
{
	struct entry *e;

	if (table_used * 2 > table_size)
		table_grow();
	e = find(key);
	table_used += !e->code;
	e->pc = key;
	e->code = entry;
}

bool blocks_may_trace(uint64_t pc)
{
	return !blocks_lookup(pc | TRACED_KEY);
}

struct block *block_at(uint32_t number)
{
	return block + number;
}

uint32_t block_number(const struct block *b)
{
	return (uint32_t)(b - block);
}

struct block *block_of_code(uint64_t address)
{
	uint32_t offset, low = 0, high = blocks;

	if (address < (uint64_t)code_start || address >= (uint64_t)cache_at)
		return NULL;
	offset = (uint32_t)(address - (uint64_t)cache_base);
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (block[middle].code > offset)
			high = middle;
		else
			low = middle + 1;
	}
	if (!low || offset >= block[low - 1].code + block[low - 1].code_bytes)
		return NULL;
	return block + low - 1;
}

uint8_t *block_map_space(unsigned bytes)
{
	uint8_t *at = maps + maps_used;

	maps_used += bytes;
	return at;
}

const uint8_t *block_map(const struct block *b)
{
	return maps + b->map;
}

static uint32_t slot_take(void)
{
	uint32_t n = slot_free_list;
	struct emit e;

	if (n) {
		slot_free_list = (uint32_t)slot[n - 1].target;
		return n - 1;
	}
	n = slots_made++;
	e.at = slots_code + n * SLOT_BYTES;
	emit_leave(&e, EXIT_LINK, n);
	return n;
}

uint64_t exit_slot_new(uint64_t key, uint64_t patch, bool closes_loop)
{
	uint32_t n = slot_take();

	slot[n] = (struct exit_slot){key, (uint32_t)patch, closes_loop};
	return (uint64_t)(slots_code + n * SLOT_BYTES);
}

uint32_t exit_slot_keep(uint64_t target)
{
	uint32_t n = slot_take();

	slot[n] = (struct exit_slot){.target = target};
	return n;
}

struct exit_slot *exit_slot_at(uint32_t number)
{
	return slot + number;
}

void exit_slot_free(uint32_t number)
{
	slot[number].target = slot_free_list;
	slot[number].patch = 0;
	slot_free_list = number + 1;
}

void target_add(uint64_t key, uint64_t code)
{
	uint64_t *target = key & CAREFUL_KEY ? context->careful_target : context->target;
	uint64_t *head = &target[(uint16_t)key];
	struct emit e = {cold_at};

	emit_thunk(&e, key & ~CAREFUL_KEY, code, *head);
	*head = (uint64_t)cold_at;
	cold_at = e.at;
}

void blocks_start_careful(void)
{
	if (!context->careful_target[0])
		targets_clear(context->careful_target);
}

bool block_append(uint64_t patch, uint64_t key)
{
	uint64_t flushes = blocks_flushes;

	if ((uint8_t *)patch + 4 != cache_at || !blocks || blocks_full() || cache_at[-5] != 0xe9 ||
	    !memory_code_end(key & ~CAREFUL_KEY))
		return false;
	cache_at -= 5;
	block[blocks - 1].code_bytes -= 5;
	translate_block(key);
	return blocks_flushes == flushes;
}
