/* SPDX-License-Identifier: MIT */
/*
 * copy_edges.c: what depends on the outcome of a branch.
 *
 * It is charged on the way out of the block: what a final conditional branch produces, and what is
 * given back where a branch of a trace leaves the path.
 */
#include "engine/translate/copy_edges.h"

#include "engine/cache/cache.h"

/* Returns what this outcome of branch i produces on meter m in addition to the charge.  Branch i is
 * the last one, or the one that leaves the path.  A negative result is given back. */
static int edge_balance(const struct copy *copy, unsigned i, bool taken, unsigned m)
{
	uint64_t outcome = taken ? SPMU_SIGBIT(COND_TAKEN) : SPMU_SIGBIT(COND_NTAKEN);
	int n = 0;

	if (path_is_conditional(&copy->path->insn[i])) {
		uint64_t followed = SPMU_SIGBIT(COND_TAKEN) ^ SPMU_SIGBIT(COND_NTAKEN) ^ outcome;

		if (i + 1 == copy->path->n)
			return (copy->list->signals[m] & COND_SIGNALS) == outcome;
		n = ((copy->list->signals[m] & outcome) != 0) -
		    ((copy->list->signals[m] & followed) != 0);
	}
	while (++i < copy->path->n)
		n -= (int)path_occurrences(copy->path, i, m);
	return n;
}

int copy_edges_ahead(const struct copy *copy, unsigned i, enum copy_way way, unsigned m)
{
	int n = 0;

	if (way == WAY_BALANCED)
		return 0;
	if (way == WAY_OUT)
		return -edge_balance(copy, i, true, m);
	while (++i < copy->path->n)
		n += (int)path_occurrences(copy->path, i, m);
	return n;
}

bool copy_edge_is_free(const struct copy *copy, unsigned i, bool taken)
{
	for (unsigned m = 0; m < copy->list->meters; m++)
		if (edge_balance(copy, i, taken, m))
			return false;
	return true;
}

void copy_edges_balance(struct copy *copy, struct emit *e, unsigned i, bool taken, uint64_t pc)
{
	unsigned first = copy->ways_out;
	bool any = false, keep;
	uint32_t stub = 0;

	for (unsigned m = 0; m < copy->list->meters; m++)
		any |= edge_balance(copy, i, taken, m) != 0;
	if (!any)
		return;
	keep = !path_flags_dead_at(pc);
	if (keep)
		emit_flags_save(e);
	for (unsigned m = 0; m < copy->list->meters; m++) {
		int n = edge_balance(copy, i, taken, m);

		if (n < 0)
			emit_refund(e, copy_shard_offset(copy, m), (unsigned)-n);
	}
	for (unsigned m = 0; m < copy->list->meters; m++) {
		int n = edge_balance(copy, i, taken, m);

		if (n <= 0)
			continue;
		if (first == copy->ways_out)
			stub = exit_stub_keep(pc);
		copy->charged[copy->charges] =
			(struct charge){(uint16_t)copy_shard_offset(copy, m), (uint32_t)n};
		copy->way_out[copy->ways_out++] = (struct way_out){
			.check = copy_charge(copy, e, copy->charged[copy->charges],
					     0), /* the exit has the target */
			.first = (uint16_t)(copy->charges + 1),
			.site = stub,
			.flags_kept = keep,
		};
		copy->charges++;
	}
	if (keep)
		emit_flags_restore(e);
	for (unsigned w = first; w < copy->ways_out; w++)
		copy->way_out[w].last = (uint16_t)copy->charges;
}

void copy_edges_emit_exits(struct copy *copy)
{
	struct emit e = {cache_cold_at};

	for (unsigned i = 0; i < copy->ways_out; i++) {
		const struct way_out *out = &copy->way_out[i];

		emit_check_target((uint64_t)out->check, (uint64_t)e.at);
		for (unsigned c = out->first; c < out->last; c++)
			emit_charge(&e, copy->charged[c].offset, copy->charged[c].n);
		if (out->flags_kept)
			emit_flags_restore(&e);
		emit_leave(&e, EXIT_HEADROOM_EDGE, out->site);
	}
	cache_cold_at = e.at;
}
