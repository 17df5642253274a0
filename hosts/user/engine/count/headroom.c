/* SPDX-License-Identifier: MIT */
/* headroom.c: adds up the parts of a meter's headroom (shards.c). */
#include "engine/count/headroom.h"

#include "engine/count/count.h"
#include "engine/count/units.h"
#include "engine/rt/context.h"

int64_t headroom_of_bulk(unsigned m)
{
	int64_t headroom = current->counting->meter[m].held;

	for (unsigned i = 0; i < SHARDS; i++)
		headroom += current->shard[m][i];
	return headroom;
}

int64_t headroom_held(unsigned m)
{
	const struct counting *c = current->counting;

	return c->mode == COUNTING_PRECISE ? 0 : c->meter[m].held + c->meter[m].reserve;
}

int64_t headroom_left(unsigned m)
{
	const struct counting *c = current->counting;

	return c->mode == COUNTING_PRECISE ? c->meter[m].unit->headroom
					   : headroom_of_bulk(m) + c->meter[m].reserve;
}
