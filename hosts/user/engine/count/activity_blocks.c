/* SPDX-License-Identifier: MIT */
/* activity_blocks.c: memory for descriptions of blocks, by which logs name them. */
#include "engine/count/activity.h"
#include "engine/count/activity_parts.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define BLOCKS_BYTES (UINT64_C(256) << 20)

_Static_assert(BLOCKS_BYTES / ACTIVITY_UNIT == ACTIVITY_NUMBER_MASK + 1, "each block has a number");

uint8_t *activity_blocks;
static uint8_t *blocks_at;

void *activity_allocate(size_t bytes)
{
	uint8_t *memory;

	if (!activity_blocks)
		activity_blocks = blocks_at = heap_allocate(BLOCKS_BYTES);
	/* Logs name descriptions, so they are never freed. */
	if (blocks_at + bytes > activity_blocks + BLOCKS_BYTES)
		engine_unsupported("the program has more code than a model of the machine can "
				   "follow");
	memory = blocks_at;
	blocks_at += (bytes + ACTIVITY_UNIT - 1) / ACTIVITY_UNIT * ACTIVITY_UNIT;
	return memory;
}

int32_t activity_number(const struct activity_block *block)
{
	uint64_t number = ((uint64_t)block - (uint64_t)activity_blocks) / ACTIVITY_UNIT;

	return (int32_t)(1u << 31 | (uint32_t)block->words << ACTIVITY_NUMBER_BITS |
			 (uint32_t)number);
}
