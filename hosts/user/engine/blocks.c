/* SPDX-License-Identifier: MIT */
/*
 * blocks.c: the code cache and what is known of the code in it.
 *
 * The cache is one mapping: gates to the engine, the tables of indirect targets, exit slots, then
 * code, which only grows; when it or a table is full everything is thrown away and begins anew.
 * slots.c has the slots, lookup.c the tables.  A smaller cache is for programs that leave no more
 * room below 2 GiB.
 *
 * Threads share it all.  Under the lock (threads.c) code is added and jumps are linked; that others
 * run the code meanwhile means:
 *	- what is complete is published by one store, which looking up does without the lock;
 *	- a jump is changed by one store into 8 aligned bytes: its rel32, or when that crosses a
 *	  boundary, the beginning of its slot, which jumps on;
 *	- a slot whose jump has been linked is not used again: a thread may be on its way there;
 *	- it is thrown away while the others are stopped outside (threads_stop()), and so are single
 *	  blocks whose code changes: they begin with a jump to an exit slot from then on.
 */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "cache.h"
#include "emit.h"
#include "engine.h"
#include "keep.h"
#include "limits.h"
#include "pages.h"
#include "places.h"
#include "sys.h"
#include "threads.h"

#define GATES_BYTES	  4096
#define CHAINS		  16384
#define TRACE_TOUCHES_MAX (2 * BLOCK_INSNS_MAX)
#define DROP_BYTES	  10u /* more than a jump: no other exit slot has its displacement there */

uint8_t *cache_base, *cache_at, *cold_at, *cache_end;
uint64_t blocks_flushes, blocks_changes;

/* How large the parts of the cache are. */
static const struct sizes {
	uint32_t slots, code, cold;
	uint32_t cold_room; /* more than the cold code of two blocks takes */
	uint32_t blocks, maps;
} full_size = {SLOTS_MAX, 28u << 20, 20u << 20, 2u << 20, BLOCKS_MAX, 16u << 20},
  small_size = {1u << 13, 1u << 20, 768u << 10, 384u << 10, 1u << 15, 1u << 20}, *sizes;

static uint8_t *code_start, *cold_start;
static struct block *block;
static uint32_t blocks;
/* Blocks by the page that they begin in, modulo CHAINS: numbers + 1. */
static uint32_t chain[CHAINS];
/* A trace is in several pages: a chain of its own for each. */
struct touch {
	uint32_t trace, next; /* number; number of a touch + 1 */
};
static struct touch *touch;
static uint32_t trace_chain[CHAINS];
static uint32_t touches;
static uint8_t *maps;
static uint32_t maps_used;

static const char *const gate[] = {
	[EXIT_LINK] = exit_link,	   [EXIT_INDIRECT] = exit_indirect,
	[EXIT_HEADROOM] = exit_headroom,   [EXIT_SYSCALL] = exit_syscall,
	[EXIT_STEP_NEXT] = exit_step_next, [EXIT_STEP_TAKEN] = exit_step_taken,
	[EXIT_STEP_JUMP] = exit_step_jump, [EXIT_HEADROOM_EDGE] = exit_headroom_edge,
	[EXIT_STEP_ME] = exit_step_me,	   [EXIT_LOG_FULL] = exit_log_full,
	[EXIT_RETURN] = exit_return,	   [EXIT_HEADROOM_FLAGS] = exit_headroom_flags,
};

static void write_gates(void)
{
	for (unsigned i = 1; i < sizeof(gate) / sizeof(gate[0]); i++) {
		struct emit e = {(uint8_t *)blocks_gate(i)};

		emit_jmp_far(&e, (uint64_t)gate[i]);
	}
}

static uint64_t cache_bytes(const struct sizes *of)
{
	return GATES_BYTES + TARGETS_BYTES + of->slots * SLOT_BYTES + of->code + of->cold;
}

/* Where the parts are. */
static void lay_out(uint64_t at)
{
	cache_base = (uint8_t *)at;
	cache_end = cache_base + cache_bytes(sizes);
	code_start = cache_base + GATES_BYTES + TARGETS_BYTES + sizes->slots * SLOT_BYTES;
	cold_start = code_start + sizes->code;
}

static bool place_of_size(const struct sizes *of)
{
	uint64_t at = place_cache(cache_bytes(of));

	if (!at ||
	    is_error(map_memory(at, cache_bytes(of), PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
				-1, 0)))
		return false;
	sizes = of;
	lay_out(at);
	return true;
}

/* The tables stay as large as they have been made at first. */
static bool place_somewhere(void)
{
	bool small = sizes == &small_size || limits_are_tight();

	return (!small && place_of_size(&full_size)) || place_of_size(&small_size);
}

void blocks_place(void)
{
	if (!place_somewhere())
		engine_fail(126, "no room for translations below 2 GiB beside the program");
}

static void fill(void)
{
	write_gates();
	lookup_place((uint32_t *)(cache_base + GATES_BYTES));
	slots_place(cache_base + GATES_BYTES + TARGETS_BYTES, sizes->slots);
}

void blocks_start(void)
{
	lookup_start(sizes->blocks);
	slots_start();
	fill();
	block = engine_memory(sizes->blocks * sizeof(*block));
	maps = engine_memory(sizes->maps);
	touch = engine_memory(sizes->blocks * sizeof(*touch));
	if (sizes == &small_size)
		keep_nothing(); /* what is kept of a small cache is little, and takes memory */
	blocks_flush();
}

void blocks_move(void)
{
	uint8_t *old = cache_base;
	uint64_t bytes = cache_bytes(sizes);

	threads_stop();
	blocks_flush();
	if (!place_somewhere())
		engine_unsupported("the program maps memory where its translations are, and leaves "
				   "no room for them below 2 GiB");
	syscall2(__NR_munmap, (long)old, (long)bytes);
	fill();
	blocks_flush();
	keep_nothing();
	threads_go();
}

void blocks_flush(void)
{
	threads_stop();
	cache_at = code_start;
	cold_at = cold_start;
	blocks_flushes++;
	blocks_changes++;
	if (blocks) { /* memory that nobody has used is not touched */
		memset(chain, 0, sizeof(chain));
		memset(trace_chain, 0, sizeof(trace_chain));
	}
	blocks = touches = 0;
	maps_used = 0;
	slots_set(0, 0);
	lookup_clear();
	keep_flushed();
	memory_forget_translations();
	threads_go();
}

bool blocks_full(void)
{
	return blocks == sizes->blocks || maps_used > sizes->maps - 1024 ||
	       touches > sizes->blocks - TRACE_TOUCHES_MAX || slots_full() ||
	       cache_at > cold_start - 16384 || cold_at > cache_end - sizes->cold_room;
}

struct block *block_new(uint64_t pc)
{
	struct block *b = block + blocks;

	*b = (struct block){0};
	b->pc = pc;
	b->code = (uint32_t)(cache_at - cache_base);
	b->map = maps_used;
	b->thunk = (uint8_t)target_in_front(pc);
	return b;
}

/* Address i of a trace. */
static uint32_t trace_pc(const struct block *b, unsigned i)
{
	uint32_t pc;

	memcpy(&pc, block_map(b) + 2 + b->insns + 4 * i, sizeof(pc));
	return pc;
}

static void trace_touches(const struct block *b, uint64_t pc)
{
	uint32_t *head = &trace_chain[pc / PAGE % CHAINS];

	if (*head && touch[*head - 1].trace == block_number(b))
		return;
	touch[touches] = (struct touch){block_number(b), *head};
	*head = ++touches;
}

static void trace_add(const struct block *b)
{
	for (unsigned i = 0; i < b->insns; i++) {
		trace_touches(b, trace_pc(b, i));
		trace_touches(b, trace_pc(b, i) + INSN_BYTES_MAX - 1);
	}
}

static void chain_add(struct block *b)
{
	uint32_t *head = &chain[b->pc / PAGE % CHAINS];

	if (b->trace) {
		trace_add(b);
		return;
	}
	b->next = *head;
	*head = block_number(b) + 1;
}

void block_done(struct block *b)
{
	__atomic_store_n(&blocks, blocks + 1, __ATOMIC_RELEASE);
	chain_add(b);
	engine_link->blocks++;
	engine_link->cache_bytes += b->code_bytes;
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
	uint32_t offset, low = 0, high = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE);

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

/* --- blocks whose code has changed --- */

static bool is_in(const struct block *b, uint64_t start, uint64_t end)
{
	if (!b->trace)
		return b->pc < end && b->pc + b->bytes > start;
	for (unsigned i = 0; i < b->insns; i++) {
		uint32_t pc = trace_pc(b, i);

		if (pc < end && pc + INSN_BYTES_MAX > start)
			return true;
	}
	return false;
}

/* Has it room for a jump where no exit slot has its displacement?  A charge is longer than one. */
static bool can_begin_with_jump(const struct block *b)
{
	const uint8_t *charge = block_map(b);

	return b->code_bytes >= DROP_BYTES || (b->insns && (charge[0] || charge[1]));
}

bool block_drop(struct block *b)
{
	uint64_t key = b->careful ? b->pc | CAREFUL_KEY : b->pc;
	struct emit e = {cache_base + b->code};

	if (!can_begin_with_jump(b) || blocks_full())
		return false;
	b->gone = true;
	emit_jmp(&e, exit_slot_dropped(key));
	lookup_drop(key);
	return true;
}

void block_replace(uint64_t old_code, uint64_t code)
{
	struct block *old = block_of_code(old_code);
	struct emit e = {(uint8_t *)old_code};

	if (!old || !can_begin_with_jump(old))
		return;
	threads_stop();
	old->gone = true;
	block_of_code(code)->is_target |= old->is_target;
	emit_jmp(&e, code);
	threads_go();
}

/* Drop those of a chain that are in the range, and take them out of it. */
static bool chain_drop(uint32_t *at, uint64_t start, uint64_t end)
{
	while (*at) {
		struct block *b = &block[*at - 1];

		if (!is_in(b, start, end)) {
			at = &b->next;
			continue;
		}
		if (!block_drop(b))
			return false;
		*at = b->next;
	}
	return true;
}

/* The same for traces.  One that is gone is in the chains of its other pages still. */
static bool traces_drop(uint32_t *at, uint64_t start, uint64_t end)
{
	while (*at) {
		struct touch *t = &touch[*at - 1];
		struct block *b = &block[t->trace];

		if (!b->gone && !is_in(b, start, end)) {
			at = &t->next;
			continue;
		}
		if (!b->gone && !block_drop(b))
			return false;
		*at = t->next;
	}
	return true;
}

/* A block is shorter than a page: it begins in one of these pages or in the one before. */
static bool pages_drop(uint64_t start, uint64_t end)
{
	uint64_t first = start < PAGE ? 0 : start / PAGE - 1, last = (end - 1) / PAGE;

	if (!keep_list(first * PAGE, end))
		return false;
	if (last - first >= CHAINS)
		first = last - CHAINS + 1;
	for (; first <= last; first++)
		if (!chain_drop(&chain[first % CHAINS], start, end) ||
		    !traces_drop(&trace_chain[first % CHAINS], start, end))
			return false;
	return true;
}

void blocks_forget(uint64_t start, uint64_t end)
{
	threads_stop();
	blocks_changes++;
	if (!pages_drop(start, end))
		blocks_flush();
	threads_go();
}

uint64_t block_append(uint64_t patch, uint64_t key)
{
	uint64_t flushes = blocks_flushes, code;

	if (!threads_alone() || (uint8_t *)patch + 4 != cache_at || !blocks || blocks_full() ||
	    cache_at[-5] != 0xe9 || keep_parts(block[blocks - 1].pc, key & ~CAREFUL_KEY) ||
	    !memory_code_end(key & ~CAREFUL_KEY) || memory_is_volatile(key & ~CAREFUL_KEY))
		return 0;
	cache_at -= 5;
	block[blocks - 1].code_bytes -= 5;
	code = translate_block(key);
	return blocks_flushes == flushes ? code : 0;
}

/* --- all of it, as it is kept between runs (keep.c) --- */

void blocks_state(struct blocks_state *state)
{
	*state = (struct blocks_state){
		.base = (uint64_t)cache_base,
		.code_bytes = (uint32_t)(cache_at - code_start),
		.cold_bytes = (uint32_t)(cold_at - cold_start),
		.map_bytes = maps_used,
		.blocks = blocks,
	};
	slots_get(&state->slots, &state->slot_free_list);
}

bool blocks_set_state(const struct blocks_state *state)
{
	if (state->base != (uint64_t)cache_base || state->code_bytes > sizes->code ||
	    state->cold_bytes > sizes->cold || state->map_bytes > sizes->maps ||
	    state->blocks > sizes->blocks || state->slots > sizes->slots)
		return false;
	cache_at = code_start + state->code_bytes;
	cold_at = cold_start + state->cold_bytes;
	maps_used = state->map_bytes;
	blocks = state->blocks;
	slots_set(state->slots, state->slot_free_list);
	return true;
}

void blocks_parts(struct blocks_part part[BLOCKS_PARTS])
{
	part[0] = (struct blocks_part){code_start, (size_t)(cache_at - code_start)};
	part[1] = (struct blocks_part){cold_start, (size_t)(cold_at - cold_start)};
	slots_parts(part + 2);
	part[4] = (struct blocks_part){block, blocks * sizeof(*block)};
	part[5] = (struct blocks_part){maps, maps_used};
}

bool blocks_list(const uint32_t *number, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct block *b = &block[number[i]];

		if (touches > sizes->blocks - TRACE_TOUCHES_MAX)
			return false;
		if (!b->gone)
			chain_add(b);
	}
	return true;
}

uint32_t blocks_count(void)
{
	return blocks;
}
