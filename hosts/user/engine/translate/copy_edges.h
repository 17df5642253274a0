/* SPDX-License-Identifier: MIT */
/* copy_edges.h: the block that copy.c writes, and what its edges charge (copy_edges.c). */
#ifndef SOFTPMU_ENGINE_COPY_EDGES_H
#define SOFTPMU_ENGINE_COPY_EDGES_H

#include "engine/count/count.h"
#include "engine/count/meter_list.h"
#include "engine/rt/context.h"
#include "engine/rt/context_words.h"
#include "engine/translate/copy.h"
#include "engine/translate/path.h"
#include "engine/x86/emit.h"

#define WAYS_OUT_MAX 2048
#define CHECK_BYTES  8 /* at most */

struct charge {
	uint16_t offset;
	uint32_t n;
};

/*
 * An exit on an edge, taken when a meter has run out.  The branch is complete;
 * charged[first..last-1] must still be charged.
 */
struct way_out {
	uint8_t *check;
	uint16_t first, last;
	uint32_t site;
	bool flags_kept;
};

/* A branch that leaves the path to code in the area of rarely run code. */
struct side {
	uint8_t *rel32;
	uint8_t branch;
	bool taken;
};

/* The block being translated. */
struct copy {
	const struct path *path;
	const struct meter_list *list; /* the thread's, which does not change meanwhile */
	const struct fresh *fresh;
	const struct activity_block *activity; /* what it logs; NULL: nothing */
	uint64_t after;
	uint32_t number;
	bool low_headroom, aligned, forward;
	unsigned ways_out, charges, sides;
	struct way_out way_out[WAYS_OUT_MAX];
	struct charge charged[WAYS_OUT_MAX];
	struct side side[BLOCK_INSNS_MAX + 1];
};

/* Returns the offset of the word in which the block charges meter m. */
static inline unsigned copy_shard_offset(const struct copy *copy, unsigned m)
{
	return CTX_SHARDS + (m * SHARDS + (copy->low_headroom ? 0 : shard_of(copy->number))) * 8;
}

/* Emits a charge with its check, which leads to `target`.  Returns the check. */
static inline uint8_t *copy_charge(const struct copy *copy, struct emit *e, struct charge c,
				   uint64_t target)
{
	emit_charge(e, c.offset, c.n);
	if (copy->aligned)
		emit_clear_of_line(e, CHECK_BYTES);
	return emit_check(e, target);
}

/* How the path goes on after a branch. */
enum copy_way {
	WAY_ON,	      /* as the path does */
	WAY_OUT,      /* it is left, or ends; the balance comes later */
	WAY_BALANCED, /* the same, and the balance was emitted */
};
/* Returns how much more than the instructions up to branch i, which was taken, is charged. */
int copy_edges_ahead(const struct copy *copy, unsigned i, enum copy_way way, unsigned m);
/* Returns whether nothing must be charged where branch i leaves with this outcome. */
bool copy_edge_is_free(const struct copy *copy, unsigned i, bool taken);
/* Emits the balance of each meter on the way to `pc`, where branch i leaves the path.  If a
 * meter has no headroom left, the branch is complete: the exit charges the other meters and
 * continues at pc. */
void copy_edges_balance(struct copy *copy, struct emit *e, unsigned i, bool taken, uint64_t pc);
/* Emits these exits. */
void copy_edges_emit_exits(struct copy *copy);

#endif
