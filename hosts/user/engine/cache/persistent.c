/* SPDX-License-Identifier: MIT */
/*
 * persistent.c: the part of the code cache that came from a file of an earlier run, and the
 * notes that are needed to write one.
 */
#include "engine/cache/persistent.h"

#include "engine/cache/cache.h"
#include "engine/count/meter_list.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define JUMPS_MAX 65536
#define FOUND_MAX (1u << 20)

struct persistent persistent;

void persistent_off(void)
{
	persistent.off = true;
}

void persistent_clear(void)
{
	persistent.jumps = persistent.founds = 0;
	persistent.saved_modules = 0;
	persistent.blocks = persistent.index_size = 0;
}

void persistent_note_target(uint64_t key, bool of_return)
{
	if (persistent.off || !engine_link->cache_folder[0] || key & LOW_HEADROOM_KEY ||
	    persistent.founds == FOUND_MAX)
		return;
	if (!persistent.found)
		persistent.found = heap_allocate(FOUND_MAX * sizeof(*persistent.found));
	persistent.found[persistent.founds++] = key | (of_return ? PERSISTENT_OF_RETURN : 0) |
						(uint64_t)current->list->variant
							<< PERSISTENT_VARIANT;
}

void persistent_note_jump(uint64_t rel32, uint64_t key)
{
	if (!persistent.jump)
		persistent.jump = heap_allocate(JUMPS_MAX * sizeof(*persistent.jump));
	if (persistent.jumps == JUMPS_MAX)
		persistent.off = true;
	else
		persistent.jump[persistent.jumps++] = (struct module_jump){key, (uint32_t)rel32};
}
