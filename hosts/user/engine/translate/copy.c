/* SPDX-License-Identifier: MIT */
/*
 * copy.c: writes the machine code of one block.
 *
 * A block is a copied path of program code. Within the first few instructions, where the flags are
 * dead, it subtracts what the whole path produces from the headroom of each meter. It leaves if one
 * is used up. A reserve that shards.c keeps back covers the few instructions before that point. If
 * there is no such point, AX holds the flags during the charge.
 *
 * What depends on the outcome of a final conditional branch is charged on the way out.  Where a
 * branch of a trace leaves the path, the rest of the charge is given back.
 */
#include "engine/translate/copy.h"

#include "engine/cache/cache.h"
#include "engine/count/count.h"
#include "engine/count/meter_list.h"
#include "engine/persist/persist.h"
#include "engine/rt/context.h"
#include "engine/rt/context_words.h"
#include "engine/rt/sys.h"
#include "engine/translate/copy_edges.h"
#include "engine/translate/copy_flow.h"
#include "engine/translate/describe.h"
#include "engine/translate/path.h"
#include "engine/translate/translate.h"
#include "engine/x86/emit.h"

/* --- the log of taken branches --- */

static bool is_logged(const struct copy *copy, uint64_t kind)
{
	return (copy->list->branch_signals & kind) != 0;
}

static uint32_t log_kind(const struct copy *copy, uint64_t kind)
{
	return copy->list->branch_kinds ? (uint32_t)__builtin_ctzll(kind) : LOG_NO_KIND;
}

static void log_branch(struct copy *copy, struct emit *e, const struct taken *taken)
{
	uint64_t from = copy->path->pc[taken->branch];

	if (!is_logged(copy, taken->kind))
		return;
	if (copy->list->flow) {
		copy_flow(copy, e, taken);
		return;
	}
	if (taken->to)
		emit_log(e, from, taken->to, log_kind(copy, taken->kind));
	else
		emit_log_indirect(e, from, log_kind(copy, taken->kind));
}

/* Logs that branch i of the path was taken. */
static void log_taken(struct copy *copy, struct emit *e, unsigned i, enum copy_way way)
{
	const struct insn *insn = &copy->path->insn[i];

	log_branch(copy, e,
		   &(struct taken){
			   .branch = i,
			   .kind = path_is_conditional(insn) ? SPMU_SIGBIT(COND_TAKEN)
							     : insn->signals & SPMU_SIGSET_TAKEN,
			   .to = insn->target,
			   .way = way,
		   });
}

/* The same for an indirect branch; `to` is 0 if RCX holds its target. */
static void log_indirect(struct copy *copy, struct emit *e, unsigned i, uint64_t to)
{
	log_branch(copy, e,
		   &(struct taken){
			   .branch = i,
			   .kind = copy->path->insn[i].signals & SPMU_SIGSET_TAKEN,
			   .to = to,
			   .way = to ? WAY_ON : WAY_BALANCED,
		   });
}

/* --- charging --- */

static bool is_checked(struct copy *copy, unsigned m)
{
	return !copy->forward || !shards_is_unchecked(m);
}

/* Returns the exit of the block's charge number i.  side_tables.c knows what must be taken back. */
static uint64_t headroom_exit(struct copy *copy, unsigned i, bool flags_kept)
{
	struct emit e = {cache_cold_at};
	uint64_t at = (uint64_t)cache_cold_at;

	emit_leave(&e, flags_kept ? EXIT_HEADROOM_FLAGS : EXIT_HEADROOM, copy->number | i << 24);
	cache_cold_at = e.at;
	return at;
}

/* Returns what the whole path produces on meter m.  All its instructions except the last retire. */
static unsigned charge_of(struct copy *copy, unsigned m)
{
	unsigned n = 0, i = copy->list->signals[m] == SPMU_SIGBIT(INSTRUCTIONS)
				    ? n = copy->path->n - 1
				    : 0;

	for (; i < copy->path->n; i++)
		n += path_occurrences(copy->path, i, m);
	return n;
}

/* Emits the charge of the whole path.  The block's code begins at `start`. */
static void charge_block(struct copy *copy, struct emit *e, bool keep_flags, const uint8_t *start)
{
	bool any_checked = !copy->forward || !shards_all_unchecked();
	unsigned done = 0;

	for (unsigned m = 0; m < copy->list->meters; m++) {
		struct charge c = {(uint16_t)copy_shard_offset(copy, m), charge_of(copy, m)};
		const uint8_t *check = e->at;

		if (!c.n)
			continue;
		if (!done && keep_flags)
			emit_flags_save(e);
		if (is_checked(copy, m))
			check = copy_charge(copy, e, c, headroom_exit(copy, done, keep_flags));
		else
			emit_charge(e, c.offset, c.n);
		if (any_checked)
			side_table_add_charge(m, c.n, (unsigned)(check - start));
		done++;
	}
	if (done && keep_flags)
		emit_flags_restore(e);
}

/* --- leaving --- */

/* Returns where a jump to program address pc goes for now: to its code, or to a stub. */
static uint64_t jump_target(struct copy *copy, uint64_t pc, uint64_t rel32)
{
	uint64_t key = copy->low_headroom ? pc | LOW_HEADROOM_KEY : pc,
		 code = fresh_code(copy->fresh, key);

	persist_jump(rel32, key);
	return code ? code : exit_stub_new(key, rel32, copy->list->variant);
}

static void emit_goto(struct copy *copy, struct emit *e, uint64_t pc)
{
	uint8_t *rel32;

	if (copy->aligned)
		emit_clear_of_line(e, JMP_BYTES);
	rel32 = emit_jmp(e, 0);
	emit_patch(rel32, jump_target(copy, pc, (uint64_t)rel32));
}

/* Emits the end of a block that continues at pc.  Code that follows directly needs no jump. */
static void emit_go_on(struct copy *copy, struct emit *e, uint64_t pc)
{
	if (pc != copy->after)
		emit_goto(copy, e, pc);
}

static void emit_outcome(struct copy *copy, struct emit *e, unsigned i, bool taken)
{
	const struct insn *insn = &copy->path->insn[i];
	uint64_t pc = taken ? insn->target : copy->path->pc[i] + insn->length;

	if (taken)
		log_taken(copy, e, i, WAY_OUT);
	copy_edges_balance(copy, e, i, taken, pc);
	if (taken)
		emit_goto(copy, e, pc);
	else
		emit_go_on(copy, e, pc);
}

static void emit_conditional(struct copy *copy, struct emit *e, unsigned i)
{
	const struct insn *insn = &copy->path->insn[i];
	uint8_t *rel32;

	if (insn->kind == INSN_JCXZ) {
		*emit_jcxz(e, insn, (const uint8_t *)copy->path->pc[i]) =
			5; /* over the next jump */
		rel32 = emit_jmp(e, 0);
		emit_outcome(copy, e, i, true);
		emit_patch(rel32, (uint64_t)e->at);
	} else {
		rel32 = emit_jcc(e, insn->opcode & 15, 0);
		if (!is_logged(copy, SPMU_SIGBIT(COND_TAKEN)) && copy_edge_is_free(copy, i, true))
			emit_patch(rel32, jump_target(copy, insn->target, (uint64_t)rel32));
		else
			copy->side[copy->sides++] = (struct side){rel32, (uint8_t)i, true};
	}
	emit_outcome(copy, e, i, false);
}

/* Emits the end of an indirect branch after RCX has got its target. */
static void emit_indirect_end(struct copy *copy, struct emit *e, const struct insn *insn)
{
	if (insn->kind == INSN_RET && !insn->immediate)
		emit_return(e, lookup_targets(copy->low_headroom, true));
	else
		emit_through_table(e, lookup_targets(copy->low_headroom, false));
}

static void emit_indirect(struct copy *copy, struct emit *e, unsigned i)
{
	const struct insn *insn = &copy->path->insn[i];
	uint64_t kind = insn->signals & SPMU_SIGSET_TAKEN, expected = 0;

	if (!is_logged(copy, kind))
		expected = plt_cache_target(insn, copy->path->pc[i]);
	emit_indirect_target(e, insn, copy->path->pc[i]);
	if (expected) {
		copy->side[copy->sides++] =
			(struct side){emit_expect(e, expected), (uint8_t)i, true};
		emit_goto(copy, e, expected);
		return;
	}
	log_indirect(copy, e, i, 0);
	emit_indirect_end(copy, e, insn);
}

static void emit_last(struct copy *copy, struct emit *e)
{
	unsigned i = copy->path->n - 1;
	const struct insn *insn = &copy->path->insn[i];
	uint64_t pc = copy->path->pc[i];

	switch (insn->kind) {
	case INSN_JCC:
	case INSN_JCXZ:
		emit_conditional(copy, e, i);
		break;
	case INSN_CALL_REL:
		emit_push_address(e, pc + insn->length);
		log_taken(copy, e, i, WAY_ON);
		emit_goto(copy, e, insn->target);
		break;
	case INSN_JMP_REL:
		log_taken(copy, e, i, WAY_ON);
		emit_go_on(copy, e, insn->target);
		break;
	case INSN_JMP_IND:
	case INSN_CALL_IND:
	case INSN_RET:
		emit_indirect(copy, e, i);
		break;
	case INSN_SYSCALL:
		emit_leave(e, EXIT_SYSCALL, copy->number);
		break;
	default:
		emit_copy(e, insn, (const uint8_t *)pc, pc);
		emit_go_on(copy, e, pc + insn->length);
	}
}

/* Emits an instruction after which the path continues. */
static void emit_inner(struct copy *copy, struct emit *e, unsigned i)
{
	const struct insn *insn = &copy->path->insn[i];
	unsigned condition = insn->opcode & 15;
	bool taken = path_taken(copy->path, i);

	switch (insn->kind) {
	case INSN_JCC:
		copy->side[copy->sides++] = (struct side){
			emit_jcc(e, taken ? condition ^ 1 : condition, 0), (uint8_t)i, !taken};
		if (taken)
			log_taken(copy, e, i, WAY_ON);
		break;
	case INSN_CALL_REL:
		emit_push_address(e, copy->path->pc[i] + insn->length);
		log_taken(copy, e, i, WAY_ON);
		break;
	case INSN_JMP_REL:
		log_taken(copy, e, i, WAY_ON);
		break;
	case INSN_JMP_IND:
	case INSN_CALL_IND:
	case INSN_RET:
		emit_indirect_target(e, insn, copy->path->pc[i]);
		copy->side[copy->sides++] =
			(struct side){emit_expect(e, copy->path->pc[i + 1]), (uint8_t)i, true};
		log_indirect(copy, e, i, copy->path->pc[i + 1]);
		break;
	default:
		emit_copy(e, insn, (const uint8_t *)copy->path->pc[i], copy->path->pc[i]);
	}
}

/* Emits the exit of an indirect branch with another target, which RCX holds. */
static void emit_unexpected(struct copy *copy, struct emit *e, unsigned i)
{
	copy_edges_balance(copy, e, i, true, 0);
	log_indirect(copy, e, i, 0);
	emit_indirect_end(copy, e, &copy->path->insn[i]);
}

/* Emits the side exits.  In a trace each begins a cache line, because some are taken every other
 * time. */
static void emit_sides(struct copy *copy, bool lines)
{
	struct emit e = {cache_cold_at};

	for (unsigned s = 0; s < copy->sides; s++) {
		if (lines)
			emit_line(&e);
		emit_patch(copy->side[s].rel32, (uint64_t)e.at);
		if (path_is_indirect(&copy->path->insn[copy->side[s].branch]))
			emit_unexpected(copy, &e, copy->side[s].branch);
		else
			emit_outcome(copy, &e, copy->side[s].branch, copy->side[s].taken);
	}
	cache_cold_at = e.at;
}

/* --- the block --- */

/* Aligns the branch of instruction i, or the branch after it that processors fuse with it. */
static void align_branch(struct copy *copy, struct emit *e, unsigned i)
{
	bool branch = copy->path->insn[i].kind == INSN_JCC;

	if (copy->path->insn[i].kind == INSN_PLAIN && i + 1 < copy->path->n &&
	    copy->path->insn[i + 1].kind == INSN_JCC)
		emit_clear_of_line(e, copy->path->insn[i].length + JCC_BYTES);
	else if (branch && (!i || copy->path->insn[i - 1].kind != INSN_PLAIN))
		emit_clear_of_line(e, JCC_BYTES);
}

static bool is_copied(const struct insn *insn)
{
	return insn->kind == INSN_PLAIN && !insn->rip_offset;
}

/* The last instruction runs with the program's own registers. */
static void log_activity(struct copy *copy, struct emit *e, unsigned i)
{
	describe_emit_insn(e, copy->activity, i);
	if (i + 1 == copy->path->n)
		describe_emit_end(e, copy->activity);
}

/*
 * Emits the whole block.  Its side table gets the lengths of the parts: two bytes for the
 * charge, one for each instruction, in a trace the address of each, and what is charged.
 */
static void emit_path(struct copy *copy, struct emit *e, struct block *b)
{
	bool at_start = copy->low_headroom || copy->activity;
	int point = path_dead_flags(copy->path, at_start ? 0 : path_charge_limit(copy->path));
	const uint8_t *code = e->at;
	uint8_t *map =
		block_map_space(2 + copy->path->n + (b->trace ? 4 * (copy->path->n + 1) : 0));

	b->check_at = point < 0 ? 0 : (uint8_t)point;
	b->check_bytes = (uint8_t)(copy->path->pc[b->check_at] - copy->path->pc[0]);
	b->insns = (uint8_t)copy->path->n;
	for (unsigned i = 0; i < copy->path->n; i++) {
		uint8_t *start = e->at;

		if (i == b->check_at) {
			charge_block(copy, e, point < 0, code);
			if (copy->activity)
				describe_emit_begin(e, copy->activity);
			map[0] = (uint8_t)(e->at - start);
			map[1] = (uint8_t)((e->at - start) >> 8);
			start = e->at;
		}
		if (copy->activity)
			log_activity(copy, e, i);
		if (copy->aligned)
			align_branch(copy, e, i);
		if (i + 1 < copy->path->n && is_copied(&copy->path->insn[i]))
			emit_program(e, (const uint8_t *)copy->path->pc[i],
				     copy->path->insn[i].length);
		else if (i + 1 < copy->path->n)
			emit_inner(copy, e, i);
		else
			emit_last(copy, e);
		map[2 + i] = (uint8_t)(e->at - start > 255 ? 255 : e->at - start);
	}
	for (unsigned i = 0; b->trace && i <= copy->path->n; i++) {
		uint32_t low = (uint32_t)copy->path->pc[i];

		memcpy(map + 2 + copy->path->n + 4 * i, &low, 4);
	}
}

void copy_block(struct emit *e, struct block *b, const struct copy_how *how)
{
	static struct copy in_hand; /* under the lock; it is large */
	struct copy *copy = &in_hand;

	path_forget_flags();
	copy->path = how->path;
	copy->list = current->list;
	copy->fresh = how->fresh;
	copy->activity = describe_path(how->path);
	copy->after = how->after;
	copy->number = block_number(b);
	copy->low_headroom = b->low_headroom;
	copy->forward = !b->low_headroom && !b->trace && path_goes_forward(how->path);
	copy->aligned = how->aligned;
	copy->ways_out = copy->charges = copy->sides = 0;
	emit_path(copy, e, b);
	copy->aligned = false; /* code that seldom runs is not aligned */
	copy->after = 0;
	emit_sides(copy, how->aligned);
	copy_edges_emit_exits(copy);
}
