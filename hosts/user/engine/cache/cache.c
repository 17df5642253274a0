/* SPDX-License-Identifier: MIT */
/*
 * cache.c: the place of the code cache and its parts: trampolines to the engine, the tables of
 * indirect targets, exit stubs, code, and code that rarely runs.  A program that leaves little
 * space below 2 GiB gets a smaller cache.
 */
#include "engine/cache/cache.h"

#include <linux/mman.h>

#include "engine/cache/parts.h"
#include "engine/cache/persistent.h"
#include "engine/memory/limits.h"
#include "engine/memory/places.h"
#include "engine/rt/context_words.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"
#include "engine/x86/emit.h"
#include "engine/x86/enter.h"

#define TRAMPOLINES_BYTES 4096

uint8_t *cache_base, *cache_at, *cache_cold_at, *cache_end;
uint32_t *cache_targets, *cache_other_targets;
uint8_t *cache_stubs, *cache_code, *cache_cold, *cache_cold_end;
struct block *cache_blocks;
uint64_t cache_flushes, cache_changes;

static const struct cache_sizes full_size = {STUBS_MAX,	 32u << 20, 16u << 20,	 2u << 20,
					     BLOCKS_MAX, 16u << 20, VARIANTS_MAX},
				small_size = {1u << 13, 768u << 10, 640u << 10, 384u << 10,
					      1u << 15, 1u << 20,   2};
const struct cache_sizes *cache_sizes;

static const char *const exits[] = {
	[EXIT_LINK] = exit_link,
	[EXIT_INDIRECT] = exit_indirect,
	[EXIT_HEADROOM] = exit_headroom,
	[EXIT_SYSCALL] = exit_syscall,
	[EXIT_STEP_NEXT] = exit_step_next,
	[EXIT_STEP_TAKEN] = exit_step_taken,
	[EXIT_STEP_JUMP] = exit_step_jump,
	[EXIT_HEADROOM_EDGE] = exit_headroom_edge,
	[EXIT_STEP_ME] = exit_step_me,
	[EXIT_LOG_FULL] = exit_log_full,
	[EXIT_RETURN] = exit_return,
	[EXIT_HEADROOM_FLAGS] = exit_headroom_flags,
	[EXIT_STEP_ABORTED] = exit_step_aborted,
};

static void write_trampolines(void)
{
	for (unsigned i = 1; i < sizeof(exits) / sizeof(exits[0]); i++) {
		struct emit e = {(uint8_t *)emit_trampoline(i)};

		emit_jmp_far(&e, (uint64_t)exits[i]);
	}
}

static uint64_t cache_bytes(const struct cache_sizes *of)
{
	return TRAMPOLINES_BYTES + of->variants * TARGETS_BYTES + of->stubs * STUB_BYTES +
	       of->code + of->cold;
}

/* Sets the places of the parts. */
static void lay_out(uint64_t at)
{
	cache_base = emit_trampolines = (uint8_t *)at;
	cache_end = cache_base + cache_bytes(cache_sizes);
	cache_targets = (uint32_t *)(cache_base + TRAMPOLINES_BYTES);
	cache_stubs = cache_base + TRAMPOLINES_BYTES + TARGETS_BYTES;
	cache_code = cache_stubs + cache_sizes->stubs * STUB_BYTES;
	cache_cold = cache_code + cache_sizes->code;
	cache_cold_end = cache_cold + cache_sizes->cold;
	cache_other_targets = (uint32_t *)cache_cold_end;
}

static bool place_of_size(const struct cache_sizes *of)
{
	uint64_t at = place_cache(cache_bytes(of));

	if (!at ||
	    is_error(sys_map(at, cache_bytes(of), PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
			     0)))
		return false;
	cache_sizes = of;
	lay_out(at);
	write_trampolines();
	return true;
}

/* The tables keep the size that they got at first. */
static bool place_somewhere(void)
{
	bool small = cache_sizes == &small_size || limits_are_tight();

	return (!small && place_of_size(&full_size)) || place_of_size(&small_size);
}

void cache_place(void)
{
	if (!place_somewhere())
		engine_fail(126, "no room for translations below 2 GiB beside the program");
}

bool cache_is_small(void)
{
	return cache_sizes == &small_size;
}

void cache_move(void)
{
	uint8_t *old = cache_base;
	uint64_t bytes = cache_bytes(cache_sizes);

	if (!place_somewhere())
		engine_unsupported("the program maps memory where its translations are, and leaves "
				   "no room for them below 2 GiB");
	sys_unmap((uint64_t)old, bytes);
}
