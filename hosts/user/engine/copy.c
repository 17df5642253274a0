/* SPDX-License-Identifier: MIT */
/*
 * copy.c: the machine code of one block.
 *
 * A block is a path of program code, copied.  Where its flags are dead, within the first few
 * instructions, it subtracts what the whole path produces from the headroom of each
 * meter and leaves when one is used up.  The few instructions before that point are
 * covered by a reserve that counting.c keeps back.  Where no such point exists,
 * the flags are kept in AX around it.  What depends on the outcome of a final
 * conditional branch is charged on the way out.  Where a trace's
 * branch goes another way than was followed, the rest of the charge is given back.
 */
#include "copy.h"

#include "keep.h"
#include "sys.h"

#define WAYS_OUT_MAX 2048
#define JMP_BYTES    5
#define JCC_BYTES    6
#define CHECK_BYTES  8 /* at the most */

struct charge {
	uint16_t offset;
	uint16_t n;
};

/*
 * A way out from an edge that is taken when a meter has run out.  The branch is done: what is in
 * charged[first..last-1] is still to be charged.
 */
struct way_out {
	uint8_t *check;
	uint16_t first, last;
	uint32_t site;
	bool flags_kept;
};

/* A branch that leaves the path for what stands with the cold code. */
struct side {
	uint8_t *rel32;
	uint8_t branch;
	bool taken;
};

/* Under the lock. */
static struct way_out way_out[WAYS_OUT_MAX];
static struct charge charged[WAYS_OUT_MAX];
static struct side side[BLOCK_INSNS_MAX + 1];
static unsigned ways_out, charges, sides;
/* The block in hand. */
static const struct path *path;
static uint64_t behind;
static uint32_t number;
static bool careful, aligned, upward;

static unsigned lane_offset(unsigned m)
{
	return CTX_LANES + (m * LANES + (careful ? 0 : lane_of(number))) * 8;
}

/* --- the log of taken branches --- */

static bool is_logged(uint64_t kind)
{
	return (branch_signals & kind) != 0;
}

static uint32_t log_kind(uint64_t kind)
{
	return branch_kinds ? (uint32_t)__builtin_ctzll(kind) : LOG_NO_KIND;
}

/* Branch i of the path was taken. */
static void log_taken(struct emit *e, unsigned i)
{
	const struct insn *insn = &path->insn[i];
	uint64_t kind =
		is_conditional(insn) ? SPMU_SIGBIT(COND_TAKEN) : insn->signals & SPMU_SIGSET_TAKEN;

	if (is_logged(kind))
		emit_log(e, path->pc[i], insn->target, log_kind(kind));
}

/* --- charging --- */

static bool is_checked(unsigned m)
{
	return !upward || !meter_is_distant(m);
}

static uint8_t *charge(struct emit *e, struct charge c, uint64_t target)
{
	emit_charge(e, c.offset, c.n);
	if (aligned)
		emit_clear_of_line(e, CHECK_BYTES);
	return emit_check(e, target);
}

/* The way out of the block's charge number i: maps.c has what is to be taken back. */
static uint64_t headroom_exit(unsigned i, bool flags_kept)
{
	struct emit e = {cold_at};
	uint64_t at = (uint64_t)cold_at;

	emit_leave(&e, flags_kept ? EXIT_HEADROOM_FLAGS : EXIT_HEADROOM, number | i << 24);
	cold_at = e.at;
	return at;
}

/* What the whole path produces on meter m.  All but the last of its instructions retire. */
static unsigned charge_of(unsigned m)
{
	unsigned n = 0, i = meter_signals[m] == SPMU_SIGBIT(INSTRUCTIONS) ? n = path->n - 1 : 0;

	for (; i < path->n; i++)
		n += path_occurrences(path, i, m);
	return n;
}

/* Charge the whole path of the block, whose code begins at `start`. */
static void charge_block(struct emit *e, bool keep_flags, const uint8_t *start)
{
	bool any_checked = !upward || !counting_all_distant();
	unsigned done = 0;

	for (unsigned m = 0; m < meters; m++) {
		struct charge c = {(uint16_t)lane_offset(m), (uint16_t)charge_of(m)};
		const uint8_t *check = e->at;

		if (!c.n)
			continue;
		if (!done && keep_flags)
			emit_flags_save(e);
		if (is_checked(m))
			check = charge(e, c, headroom_exit(done, keep_flags));
		else
			emit_charge(e, c.offset, c.n);
		if (any_checked)
			block_map_charge(m, c.n, (unsigned)(check - start));
		done++;
	}
	if (done && keep_flags)
		emit_flags_restore(e);
}

/* What this outcome of the last branch (or another than was followed, of branch i) produces on
 * meter m beside what has been charged; negative: to be given back. */
static int edge_balance(unsigned i, bool taken, unsigned m)
{
	uint64_t outcome = taken ? SPMU_SIGBIT(COND_TAKEN) : SPMU_SIGBIT(COND_NTAKEN);
	int n = 0;

	if (is_conditional(&path->insn[i])) {
		uint64_t followed = SPMU_SIGBIT(COND_TAKEN) ^ SPMU_SIGBIT(COND_NTAKEN) ^ outcome;

		if (i + 1 == path->n)
			return (meter_signals[m] & COND_SIGNALS) == outcome;
		n = ((meter_signals[m] & outcome) != 0) - ((meter_signals[m] & followed) != 0);
	}
	while (++i < path->n)
		n -= (int)path_occurrences(path, i, m);
	return n;
}

/* On the way to `pc`, where branch i leaves the path: the balance of each meter.  When a meter
 * has no room left, the branch is done: the way out charges the others and goes on at pc. */
static void settle_edge(struct emit *e, unsigned i, bool taken, uint64_t pc)
{
	unsigned first = ways_out;
	bool any = false, keep;
	uint32_t slot = 0;

	for (unsigned m = 0; m < meters; m++)
		any |= edge_balance(i, taken, m) != 0;
	if (!any)
		return;
	keep = !flags_dead_at(pc);
	if (keep)
		emit_flags_save(e);
	for (unsigned m = 0; m < meters; m++) {
		int n = edge_balance(i, taken, m);

		if (n < 0)
			emit_refund(e, lane_offset(m), (unsigned)-n);
	}
	for (unsigned m = 0; m < meters; m++) {
		int n = edge_balance(i, taken, m);

		if (n <= 0)
			continue;
		if (first == ways_out)
			slot = exit_slot_keep(pc);
		charged[charges] = (struct charge){(uint16_t)lane_offset(m), (uint16_t)n};
		way_out[ways_out++] = (struct way_out){
			.check = charge(e, charged[charges], 0), /* the target comes with the way */
			.first = (uint16_t)(charges + 1),
			.site = slot,
			.flags_kept = keep,
		};
		charges++;
	}
	if (keep)
		emit_flags_restore(e);
	for (unsigned w = first; w < ways_out; w++)
		way_out[w].last = (uint16_t)charges;
}

static void emit_ways_out(void)
{
	struct emit e = {cold_at};

	for (unsigned i = 0; i < ways_out; i++) {
		const struct way_out *out = &way_out[i];

		emit_check_target((uint64_t)out->check, (uint64_t)e.at);
		for (unsigned c = out->first; c < out->last; c++)
			emit_charge(&e, charged[c].offset, charged[c].n);
		if (out->flags_kept)
			emit_flags_restore(&e);
		emit_leave(&e, EXIT_HEADROOM_EDGE, out->site);
	}
	cold_at = e.at;
}

/* --- leaving --- */

/* Where a jump to program address pc goes for now: its code, or a slot. */
static uint64_t jump_target(uint64_t pc, uint64_t rel32)
{
	uint64_t key = careful ? pc | CAREFUL_KEY : pc, code = translated_code(key);

	keep_jump(rel32, key);
	return code ? code : exit_slot_new(key, rel32);
}

static void emit_goto(struct emit *e, uint64_t pc)
{
	uint8_t *rel32;

	if (aligned)
		emit_clear_of_line(e, JMP_BYTES);
	rel32 = emit_jmp(e, 0);
	emit_patch(rel32, jump_target(pc, (uint64_t)rel32));
}

/* At the end of a block: what comes behind it needs no jump. */
static void emit_go_on(struct emit *e, uint64_t pc)
{
	if (pc != behind)
		emit_goto(e, pc);
}

static void emit_outcome(struct emit *e, unsigned i, bool taken)
{
	const struct insn *insn = &path->insn[i];
	uint64_t pc = taken ? insn->target : path->pc[i] + insn->length;

	if (taken)
		log_taken(e, i);
	settle_edge(e, i, taken, pc);
	if (taken)
		emit_goto(e, pc);
	else
		emit_go_on(e, pc);
}

static bool edge_is_free(unsigned i, bool taken)
{
	if (taken && is_logged(SPMU_SIGBIT(COND_TAKEN)))
		return false;
	for (unsigned m = 0; m < meters; m++)
		if (edge_balance(i, taken, m))
			return false;
	return true;
}

static void emit_conditional(struct emit *e, unsigned i)
{
	const struct insn *insn = &path->insn[i];
	uint8_t *rel32;

	if (insn->kind == INSN_JCXZ) {
		*emit_jcxz(e, insn, (const uint8_t *)path->pc[i]) = 5; /* over the jump behind it */
		rel32 = emit_jmp(e, 0);
		emit_outcome(e, i, true);
		emit_patch(rel32, (uint64_t)e->at);
	} else {
		rel32 = emit_jcc(e, insn->opcode & 15, 0);
		if (edge_is_free(i, true))
			emit_patch(rel32, jump_target(insn->target, (uint64_t)rel32));
		else
			side[sides++] = (struct side){rel32, (uint8_t)i, true};
	}
	emit_outcome(e, i, false);
}

/* From where RCX has the target. */
static void emit_indirect_end(struct emit *e, const struct insn *insn)
{
	if (insn->kind == INSN_RET && !insn->immediate)
		emit_return(e, blocks_targets(careful, true));
	else
		emit_through_table(e, blocks_targets(careful, false));
}

static void emit_indirect(struct emit *e, unsigned i)
{
	const struct insn *insn = &path->insn[i];
	uint64_t kind = insn->signals & SPMU_SIGSET_TAKEN, expected = 0;

	if (!is_logged(kind))
		expected = stable_target(insn, path->pc[i]);
	emit_indirect_target(e, insn, path->pc[i]);
	if (expected) {
		side[sides++] = (struct side){emit_expect(e, expected), (uint8_t)i, true};
		emit_goto(e, expected);
		return;
	}
	if (is_logged(kind))
		emit_log_indirect(e, path->pc[i], log_kind(kind));
	emit_indirect_end(e, insn);
}

static void emit_last(struct emit *e)
{
	unsigned i = path->n - 1;
	const struct insn *insn = &path->insn[i];
	uint64_t pc = path->pc[i];

	switch (insn->kind) {
	case INSN_JCC:
	case INSN_JCXZ:
		emit_conditional(e, i);
		break;
	case INSN_CALL_REL:
		emit_push_address(e, pc + insn->length);
		log_taken(e, i);
		emit_goto(e, insn->target);
		break;
	case INSN_JMP_REL:
		log_taken(e, i);
		emit_go_on(e, insn->target);
		break;
	case INSN_JMP_IND:
	case INSN_CALL_IND:
	case INSN_RET:
		emit_indirect(e, i);
		break;
	case INSN_SYSCALL:
		emit_leave(e, EXIT_SYSCALL, number);
		break;
	default:
		emit_copy(e, insn, (const uint8_t *)pc, pc);
		emit_go_on(e, pc + insn->length);
	}
}

/* An instruction of the path behind which it goes on. */
static void emit_inner(struct emit *e, unsigned i)
{
	const struct insn *insn = &path->insn[i];
	unsigned condition = insn->opcode & 15;
	bool taken = path_taken(path, i);

	switch (insn->kind) {
	case INSN_JCC:
		side[sides++] = (struct side){emit_jcc(e, taken ? condition ^ 1 : condition, 0),
					      (uint8_t)i, !taken};
		if (taken)
			log_taken(e, i);
		break;
	case INSN_CALL_REL:
		emit_push_address(e, path->pc[i] + insn->length);
		log_taken(e, i);
		break;
	case INSN_JMP_REL:
		log_taken(e, i);
		break;
	case INSN_JMP_IND:
	case INSN_CALL_IND:
	case INSN_RET:
		emit_indirect_target(e, insn, path->pc[i]);
		side[sides++] = (struct side){emit_expect(e, path->pc[i + 1]), (uint8_t)i, true};
		if (is_logged(insn->signals & SPMU_SIGSET_TAKEN))
			emit_log(e, path->pc[i], path->pc[i + 1],
				 log_kind(insn->signals & SPMU_SIGSET_TAKEN));
		break;
	default:
		emit_copy(e, insn, (const uint8_t *)path->pc[i], path->pc[i]);
	}
}

/* An indirect branch that goes elsewhere: RCX has the target. */
static void emit_unexpected(struct emit *e, unsigned i)
{
	uint64_t kind = path->insn[i].signals & SPMU_SIGSET_TAKEN;

	settle_edge(e, i, true, 0);
	if (is_logged(kind))
		emit_log_indirect(e, path->pc[i], log_kind(kind));
	emit_indirect_end(e, &path->insn[i]);
}

/* Of a trace each begins a line: some are taken every other time. */
static void emit_sides(bool lines)
{
	struct emit e = {cold_at};

	for (unsigned s = 0; s < sides; s++) {
		if (lines)
			emit_line(&e);
		emit_patch(side[s].rel32, (uint64_t)e.at);
		if (is_indirect(&path->insn[side[s].branch]))
			emit_unexpected(&e, side[s].branch);
		else
			emit_outcome(&e, side[s].branch, side[s].taken);
	}
	cold_at = e.at;
}

/* --- the block --- */

/* Before instruction i: its branch, or the next one's, with which processors make it one. */
static void align_branch(struct emit *e, unsigned i)
{
	bool branch = path->insn[i].kind == INSN_JCC;

	if (path->insn[i].kind == INSN_PLAIN && i + 1 < path->n &&
	    path->insn[i + 1].kind == INSN_JCC)
		emit_clear_of_line(e, path->insn[i].length + JCC_BYTES);
	else if (branch && (!i || path->insn[i - 1].kind != INSN_PLAIN))
		emit_clear_of_line(e, JCC_BYTES);
}

static bool is_copied(const struct insn *insn)
{
	return insn->kind == INSN_PLAIN && !insn->rip_offset;
}

/*
 * The whole block, with the lengths of its parts in its map: two bytes for the charge,
 * one for each instruction, for a trace the address of each, and what is charged.
 */
static void emit_path(struct emit *e, struct block *b)
{
	int point = path_dead_flags(path, careful ? 0 : path_charge_limit(path));
	const uint8_t *code = e->at;
	uint8_t *map = block_map_space(2 + path->n + (b->trace ? 4 * (path->n + 1) : 0));

	b->check_at = point < 0 ? 0 : (uint8_t)point;
	b->check_bytes = (uint8_t)(path->pc[b->check_at] - path->pc[0]);
	b->insns = (uint8_t)path->n;
	for (unsigned i = 0; i < path->n; i++) {
		uint8_t *start = e->at;

		if (i == b->check_at) {
			charge_block(e, point < 0, code);
			map[0] = (uint8_t)(e->at - start);
			map[1] = (uint8_t)((e->at - start) >> 8);
			start = e->at;
		}
		if (aligned)
			align_branch(e, i);
		if (i + 1 < path->n && is_copied(&path->insn[i]))
			emit_program(e, (const uint8_t *)path->pc[i], path->insn[i].length);
		else if (i + 1 < path->n)
			emit_inner(e, i);
		else
			emit_last(e);
		map[2 + i] = (uint8_t)(e->at - start > 255 ? 255 : e->at - start);
	}
	for (unsigned i = 0; b->trace && i <= path->n; i++) {
		uint32_t low = (uint32_t)path->pc[i];

		memcpy(map + 2 + path->n + 4 * i, &low, 4);
	}
}

void copy_block(struct emit *e, struct block *b, const struct copy_how *how)
{
	flags_forget();
	path = how->path;
	behind = how->behind;
	number = block_number(b);
	careful = b->careful;
	upward = !careful && !b->trace && path_goes_upward(path);
	aligned = how->aligned;
	ways_out = charges = sides = 0;
	emit_path(e, b);
	aligned = false; /* what seldom runs is not */
	behind = 0;
	emit_sides(how->aligned);
	emit_ways_out();
}
