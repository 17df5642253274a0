/* SPDX-License-Identifier: MIT */
/*
 * points.c: addresses at which the engine acts before the instruction runs: the beginnings of the
 * functions that --region and --toggle name, and the addresses to which they return.  The
 * instruction there runs as a precise step.
 *
 * The tool knows the names of functions.  A process that maps a file with code writes a record.
 * Then it waits until the tool has written the addresses into the shared memory.
 */
#include "engine/count/points.h"

#include <asm/unistd.h>
#include <linux/futex.h>

#include "engine/count/count.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"
#include "hosts/user/hash.h"

#define PLACES	4096 /* a power of two */
#define CLAIMED 1    /* as the address of a point that is being written */

bool points_used;

static struct point table[PLACES];
static uint32_t seen; /* of the points in the shared memory */

static uint32_t place_of(uint64_t pc)
{
	return (uint32_t)(hash_of(pc) >> 32) % PLACES;
}

const struct point *points_find(uint64_t pc)
{
	uint64_t there;

	for (uint32_t i = place_of(pc);
	     (there = __atomic_load_n(&table[i].address, __ATOMIC_ACQUIRE)); i = (i + 1) % PLACES)
		if (there == pc)
			return &table[i];
	return NULL;
}

void points_add(uint64_t pc, uint32_t region)
{
	static uint32_t count;
	uint32_t i = place_of(pc);
	uint64_t nobody = 0;

	if (points_find(pc))
		return;
	if (__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) > PLACES / 2)
		engine_unsupported("the functions of --region and --toggle have too many callers");
	while (!__atomic_compare_exchange_n(&table[i].address, &nobody, CLAIMED, false,
					    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		i = (i + 1) % PLACES;
		nobody = 0;
	}
	table[i].region = region;
	__atomic_store_n(&table[i].address, pc, __ATOMIC_RELEASE);
	__atomic_store_n(&points_used, true, __ATOMIC_RELEASE);
}

/* Waits until the tool has read all records up to now. */
static void wait_for_tool(void)
{
	struct link *l = engine_link;
	uint64_t head = __atomic_load_n(&l->head, __ATOMIC_ACQUIRE);
	uint32_t word;

	for (;;) {
		word = __atomic_load_n(&l->tail_futex, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&l->tail, __ATOMIC_SEQ_CST) >= head)
			return;
		__atomic_store_n(&l->engine_waits, 1, __ATOMIC_SEQ_CST);
		if (!ring_wait(&l->tail_futex, word))
			return;
	}
}

void points_start(void)
{
	seen = __atomic_load_n(&engine_link->points, __ATOMIC_ACQUIRE);
}

void points_follow_mapping(void)
{
	uint32_t count;

	if (!engine_wants(LINK_WANT_POINTS) || ring_is_mute())
		return;
	wait_for_tool();
	count = __atomic_load_n(&engine_link->points, __ATOMIC_ACQUIRE);
	for (; seen < count && seen < LINK_POINTS_MAX; seen++) {
		const struct link_point *p = &engine_link->point[seen];

		if (p->pid == current->pid)
			points_add(p->address, p->region);
	}
}
