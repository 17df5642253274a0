/* SPDX-License-Identifier: MIT */
/*
 * copy_flow.c: chooses how each taken branch of a block is logged or counted (count/flow.c).
 */
#include "engine/translate/copy_flow.h"

#include <softpmu/signals.h>

#include "engine/cache/cache.h"
#include "engine/count/code_files.h"
#include "engine/count/flow_places.h"
#include "engine/count/flow_edges.h"
#include "engine/rt/engine.h"

#define CALLS (SPMU_SIGBIT(CALL_REL) | SPMU_SIGBIT(CALL_IND))

/* Counts the branch, if that is enough.  Returns false if not. */
static bool count(const struct copy *copy, struct emit *e, const struct taken *taken)
{
	uint64_t counted = SPMU_SIGBIT(COND_TAKEN) | SPMU_SIGBIT(JMP_REL);
	unsigned counter;

	if (flow_edges_in_any_order())
		counted = taken->to ? SPMU_SIGSET_TAKEN : SPMU_SIGBIT(RET_NEAR);
	if (!(taken->kind & counted))
		return false;
	counter = flow_edges_counter(copy->path->pc[taken->branch], taken->to);
	if (!counter || !emit_reaches_word(e, counter))
		return false;
	emit_count(e, counter, !taken->to || !path_flags_dead_at(taken->to));
	return true;
}

static struct emit_flow record_of(const struct copy *copy, const struct taken *taken)
{
	const struct insn *insn = &copy->path->insn[taken->branch];
	struct emit_flow f = {
		.from = copy->path->pc[taken->branch],
		.to = taken->to,
		.indirect = !taken->to,
		.bytes = engine_flow_bytes(),
		.meters = copy->list->meters,
		.shards = copy->list->shards,
		.keep_flags = !taken->to || !path_flags_dead_at(taken->to),
	};

	for (unsigned m = 0; m < f.meters; m++) {
		f.shard[m] = CTX_SHARDS + m * SHARDS * 8;
		f.ahead[m] = copy_edges_ahead(copy, taken->branch, taken->way, m);
	}
	if (taken->kind & CALLS)
		f.returns_to = f.from + insn->length;
	return f;
}

/* Returns the place of the sums of a branch to a constant function; 0: there is none. */
static uint32_t sums_of(const struct emit_flow *f)
{
	if (!code_files_have(f->from) || !code_files_have(f->to) ||
	    !code_files_marked(LINK_MARK_START, f->to))
		return 0;
	return flow_places_get(&(struct flow_call){f->from, f->to, f->returns_to});
}

static uint32_t site_of(const struct emit_flow *f)
{
	return code_files_have(f->from) ? flow_places_site(f->from, f->returns_to) : 0;
}

static void emit_call(struct emit *e, struct emit_flow *f)
{
	if (f->to == f->returns_to) { /* it only reads the instruction pointer */
		emit_flow(e, f);
		return;
	}
	f->kind = FLOW_CALL;
	if (!f->indirect && (f->call = sums_of(f)))
		emit_flow_call(e, f);
	else if (f->indirect && (f->site = site_of(f)))
		emit_flow_call_indirect(e, f);
	else
		emit_flow(e, f);
}

/* Returns a counter for the branch from there, with `to` 0 to anywhere; 0: there is none. */
static unsigned counter_of(const struct emit *e, const struct emit_flow *f, uint64_t to)
{
	unsigned counter = flow_edges_counter(f->from, to);

	return counter && emit_reaches_word(e, counter) ? counter : 0;
}

static void emit_return_from(struct emit *e, struct emit_flow *f, const struct insn *insn)
{
	f->kind = FLOW_RETURN;
	if (!insn->immediate && (f->counter = counter_of(e, f, 0)))
		emit_flow_return(e, f);
	else
		emit_flow(e, f);
}

/* The tool knows what a linkage table and the dynamic linker do. */
static void emit_jump_to(struct emit *e, struct emit_flow *f, bool is_direct)
{
	bool is_stub = code_files_marked(LINK_MARK_STUB, f->from);

	if (f->indirect || code_files_marked(LINK_MARK_START, f->to))
		f->kind = FLOW_JUMP;
	if (f->kind == FLOW_OTHER && !is_direct && (f->counter = counter_of(e, f, f->to)))
		emit_flow_jump_inside(e, f);
	else if (f->kind == FLOW_OTHER || code_files_marked(LINK_MARK_RESOLVER, f->from) ||
		 (is_stub && is_direct))
		emit_flow(e, f);
	else if (is_stub && (f->counter = counter_of(e, f, 0)))
		emit_flow_out_of_stub(e, f);
	else if (!is_stub && !f->indirect && (f->call = sums_of(f)))
		emit_flow_jump(e, f);
	else if (!is_stub && f->indirect && (f->site = site_of(f)))
		emit_flow_jump_indirect(e, f);
	else
		emit_flow(e, f);
}

static void log_branch(const struct copy *copy, struct emit *e, const struct taken *taken)
{
	struct emit_flow f = record_of(copy, taken);

	if (flow_edges_in_any_order())
		emit_flow(e, &f);
	else if (taken->kind & CALLS)
		emit_call(e, &f);
	else if (taken->kind & SPMU_SIGBIT(RET_NEAR))
		emit_return_from(e, &f, &copy->path->insn[taken->branch]);
	else
		emit_jump_to(e, &f, !(taken->kind & SPMU_SIGBIT(JMP_IND)));
}

/* The side table has a byte for the length of each instruction but the last.  So the code of a
 * branch within the path is in the area of rarely run code. */
void copy_flow(struct copy *copy, struct emit *e, const struct taken *taken)
{
	struct emit away = {cache_cold_at};

	if (count(copy, e, taken))
		return;
	if (taken->way != WAY_ON || taken->branch + 1 == copy->path->n) {
		log_branch(copy, e, taken);
		return;
	}
	emit_jmp(e, (uint64_t)away.at);
	log_branch(copy, &away, taken);
	emit_jmp(&away, (uint64_t)e->at);
	cache_cold_at = away.at;
}
