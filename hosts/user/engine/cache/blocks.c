/* SPDX-License-Identifier: MIT */
/*
 * blocks.c: the code cache, and the description of the code in it.
 *
 * Code in the cache only grows.  When the cache or a table is full, everything is discarded and
 * the cache begins empty.  cache.c has the mapping, exit_stubs.c the exit stubs, lookup.c the
 * tables.
 *
 * All threads share the cache.  Code is added and jumps are linked under the lock (lock.c).
 * Other threads run the code meanwhile, therefore:
 *	- one store publishes what is complete, and lookups take no lock;
 *	- one store into 8 aligned bytes changes a jump: its rel32, or, if that crosses a boundary,
 *	  the beginning of its stub, which jumps on;
 *	- a stub whose jump has been linked is not used again, because a thread may be about to
 *	  enter it;
 *	- the cache is emptied while the other threads are stopped (lock_stop_others()).  So are
 *	  single blocks whose code changes: they begin with a jump to an exit stub from then on.
 */
#include "engine/cache/cache.h"
#include "engine/cache/parts.h"
#include "engine/cache/persistent.h"
#include "engine/count/flow_edges.h"
#include "engine/count/meter_list.h"
#include "engine/memory/pages.h"
#include "engine/memory/regions.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"
#include "engine/x86/emit.h"

#define CHAINS		  16384
#define TRACE_TOUCHES_MAX (2 * BLOCK_INSNS_MAX)
#define DROP_BYTES                                                                                 \
	10u /* longer than a jump, so that no other exit stub has its displacement there */

static uint32_t blocks;
/* Blocks by the page that they begin in, modulo CHAINS: their number + 1. */
static uint32_t chain[CHAINS];
/* A trace is in several pages, and has an entry in the chain of each. */
struct touch {
	uint32_t trace, next; /* number of the trace; number of the next entry + 1 */
};
static struct touch *touch;
static uint32_t trace_chain[CHAINS];
static uint32_t touches;
static uint8_t *maps;
static uint32_t maps_used;

static void fill(void)
{
	lookup_place(cache_targets, cache_other_targets);
	exit_stubs_place(cache_stubs, cache_sizes->stubs);
}

void blocks_start(void)
{
	lookup_start(cache_sizes->blocks);
	exit_stubs_start();
	fill();
	cache_blocks = heap_allocate(cache_sizes->blocks * sizeof(*cache_blocks));
	maps = heap_allocate(cache_sizes->maps);
	touch = heap_allocate(cache_sizes->blocks * sizeof(*touch));
	if (cache_is_small())
		persistent_off(); /* the file of a small cache would save little and take memory */
	blocks_flush();
}

void blocks_move(void)
{
	lock_stop_others();
	blocks_flush();
	cache_move();
	fill();
	blocks_flush();
	persistent_off();
	lock_resume_others();
}

void blocks_flush(void)
{
	lock_stop_others();
	flow_edges_restart();
	cache_at = cache_code;
	cache_cold_at = cache_cold;
	cache_flushes++;
	cache_changes++;
	if (blocks) { /* unused memory is not touched */
		memset(chain, 0, sizeof(chain));
		memset(trace_chain, 0, sizeof(trace_chain));
	}
	blocks = touches = 0;
	maps_used = 0;
	exit_stubs_set(0, 0);
	lookup_clear();
	persistent_clear();
	regions_forget_translations();
	lock_resume_others();
}

bool blocks_full(void)
{
	return blocks == cache_sizes->blocks || maps_used > cache_sizes->maps - 1024 ||
	       touches > cache_sizes->blocks - TRACE_TOUCHES_MAX || exit_stubs_full() ||
	       flow_edges_full() || cache_at > cache_cold - 16384 ||
	       cache_cold_at > cache_cold_end - cache_sizes->cold_room;
}

void blocks_make_room(void)
{
	bool reclaimed = false;

	if (!blocks_full())
		return;
	lock_stop_others();
	if (exit_stubs_full())
		reclaimed = exit_stubs_reclaim();
	if (!reclaimed || blocks_full())
		blocks_flush();
	lock_resume_others();
}

struct block *block_new(uint64_t pc)
{
	struct block *b = cache_blocks + blocks;

	*b = (struct block){0};
	b->pc = pc;
	b->code = (uint32_t)(cache_at - cache_base);
	b->map = maps_used;
	b->thunk = (uint8_t)lookup_thunk_in_front(pc);
	b->variant = current->list->variant;
	return b;
}

/* Returns address i of a trace. */
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

struct block *block_of_code(uint64_t address)
{
	uint32_t offset, low = 0, high = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE);

	if (address < (uint64_t)cache_code || address >= (uint64_t)cache_at)
		return NULL;
	offset = (uint32_t)(address - (uint64_t)cache_base);
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (cache_blocks[middle].code > offset)
			high = middle;
		else
			low = middle + 1;
	}
	if (!low || offset >= cache_blocks[low - 1].code + cache_blocks[low - 1].code_bytes)
		return NULL;
	return cache_blocks + low - 1;
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

/* Returns whether the block has space for a jump where no exit stub has its displacement.  A
 * charge is longer than a jump. */
static bool can_begin_with_jump(const struct block *b)
{
	const uint8_t *charge = block_map(b);

	return b->code_bytes >= DROP_BYTES || (b->insns && (charge[0] || charge[1]));
}

bool block_drop(struct block *b)
{
	uint64_t key = b->low_headroom ? b->pc | LOW_HEADROOM_KEY : b->pc;
	struct emit e = {cache_base + b->code};

	if (exit_stubs_full()) /* the other threads are stopped */
		exit_stubs_reclaim();
	if (!can_begin_with_jump(b) || exit_stubs_full())
		return false;
	b->gone = true;
	emit_jmp(&e, exit_stub_dropped(key, b->variant));
	lookup_drop(key, b->variant);
	return true;
}

void block_replace(uint64_t old_code, uint64_t code)
{
	struct block *old = block_of_code(old_code);
	struct emit e = {(uint8_t *)old_code};

	if (!old || !can_begin_with_jump(old))
		return;
	lock_stop_others();
	old->gone = true;
	block_of_code(code)->is_target |= old->is_target;
	emit_jmp(&e, code);
	lock_resume_others();
}

/* Drops the blocks of a chain that are in the range, and removes them from the chain. */
static bool chain_drop(uint32_t *at, uint64_t start, uint64_t end)
{
	while (*at) {
		struct block *b = &cache_blocks[*at - 1];

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

/* The same for traces.  A dropped one is still in the chains of its other pages. */
static bool traces_drop(uint32_t *at, uint64_t start, uint64_t end)
{
	while (*at) {
		struct touch *t = &touch[*at - 1];
		struct block *b = &cache_blocks[t->trace];

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

/* Enters these blocks of a saved cache in the lists by page.  Returns false if there are too
 * many. */
static bool list_numbers(const uint32_t *number, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct block *b = &cache_blocks[number[i]];

		if (touches > cache_sizes->blocks - TRACE_TOUCHES_MAX)
			return false;
		if (!b->gone)
			chain_add(b);
	}
	return true;
}

/* What came from a file of modules that reach into this range is going to be dropped. */
static bool list_persistent(uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < persistent.saved_modules; i++) {
		struct module *m = &persistent.saved[i];

		if (!m->taken || m->listed || m->is.start >= end || m->is.end <= start)
			continue;
		m->listed = true;
		if (!list_numbers(persistent.number + m->first, m->count))
			return false;
	}
	return true;
}

/* A block is shorter than a page, so it begins in one of these pages or in the page before. */
static bool pages_drop(uint64_t start, uint64_t end)
{
	uint64_t first = start < PAGE ? 0 : start / PAGE - 1, last = (end - 1) / PAGE;

	if (!list_persistent(first * PAGE, end))
		return false;
	if (last - first >= CHAINS)
		first = last - CHAINS + 1;
	for (; first <= last; first++)
		if (!chain_drop(&chain[first % CHAINS], start, end) ||
		    !traces_drop(&trace_chain[first % CHAINS], start, end))
			return false;
	return true;
}

static void forget(uint64_t start, uint64_t end)
{
	lock_stop_others();
	cache_changes++;
	if (!pages_drop(start, end))
		blocks_flush();
	lock_resume_others();
}

/* Whole pages: what else is in them would not be watched. */
void blocks_forget_pages(uint64_t start, uint64_t bytes)
{
	uint64_t end = in_pages(start + bytes);

	start &= -PAGE;
	forget(start, end);
	pages_clear(start, end, PAGE_TRANSLATED);
}

struct block *block_before_jump(uint64_t rel32)
{
	if (!blocks || blocks_full() || (uint8_t *)rel32 + 4 != cache_at || !emit_is_jmp(rel32))
		return NULL;
	return &cache_blocks[blocks - 1];
}

void block_take_jump_off(struct block *b)
{
	cache_at -= JMP_BYTES;
	b->code_bytes -= JMP_BYTES;
}

/* --- all of it, for the persistent code cache (persist.c) --- */

void blocks_state(struct blocks_state *state)
{
	*state = (struct blocks_state){
		.base = (uint64_t)cache_base,
		.code_bytes = (uint32_t)(cache_at - cache_code),
		.cold_bytes = (uint32_t)(cache_cold_at - cache_cold),
		.map_bytes = maps_used,
		.blocks = blocks,
	};
	exit_stubs_get(&state->stubs, &state->stub_free_list);
}

bool blocks_set_state(const struct blocks_state *state)
{
	if (state->base != (uint64_t)cache_base || state->code_bytes > cache_sizes->code ||
	    state->cold_bytes > cache_sizes->cold || state->map_bytes > cache_sizes->maps ||
	    state->blocks > cache_sizes->blocks || state->stubs > cache_sizes->stubs)
		return false;
	cache_at = cache_code + state->code_bytes;
	cache_cold_at = cache_cold + state->cold_bytes;
	maps_used = state->map_bytes;
	blocks = state->blocks;
	exit_stubs_set(state->stubs, state->stub_free_list);
	return true;
}

void blocks_parts(struct blocks_part part[BLOCKS_PARTS])
{
	part[0] = (struct blocks_part){cache_code, (size_t)(cache_at - cache_code)};
	part[1] = (struct blocks_part){cache_cold, (size_t)(cache_cold_at - cache_cold)};
	exit_stubs_parts(part + 2);
	part[4] = (struct blocks_part){cache_blocks, blocks * sizeof(*cache_blocks)};
	part[5] = (struct blocks_part){maps, maps_used};
}

uint32_t blocks_count(void)
{
	return blocks;
}
