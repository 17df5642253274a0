/* SPDX-License-Identifier: MIT */
/*
 * translate.c: program code to counted blocks.
 *
 * A block is a path of program code, copied.  Where its flags are dead, within the first few
 * instructions, it subtracts what the whole path produces from the headroom of each
 * meter and leaves when one is used up.  The few instructions before that point are
 * covered by a reserve that counting.c keeps back.  Where no such point exists,
 * the flags are kept in AX around it.  What depends on the outcome of a final
 * conditional branch is charged on the way out.
 *
 * A trace is the block of a loop's head that goes on through branches.  Where one
 * of them goes another way than was followed, the rest of the charge is given back.
 */
#include "emit.h"
#include "keep.h"
#include "path.h"
#include "sys.h"

#define WAYS_OUT_MAX	  2048
#define TRACED_METERS_MAX 64
#define JMP_BYTES	  5
#define JCC_BYTES	  6
#define CHECK_BYTES	  8 /* at the most */

struct charge {
	uint16_t offset;
	uint16_t n;
};

/*
 * A way out that is taken when a meter has run out.  From the block's charge: what is in
 * charged[first..last-1] is taken back.  From an edge, where the branch is done: that is
 * what is still to be charged.
 */
struct way_out {
	uint8_t *check;
	uint16_t first, last;
	uint32_t site;
	bool edge;
	bool flags_kept;
};

/* A branch that leaves the path for what stands with the cold code. */
struct side {
	uint8_t *rel32;
	uint8_t branch;
	bool taken;
};

/* Under the lock. */
static struct path d; /* of the block in hand */
static struct way_out way_out[WAYS_OUT_MAX];
static struct charge charged[WAYS_OUT_MAX];
static struct side side[BLOCK_INSNS_MAX + 1];
static unsigned ways_out, charges, sides;
static uint32_t number; /* of the block in hand */
static uint64_t
	behind; /* what comes right behind it, so that no jump has to go there; 0: nothing */
static bool careful;
static bool aligned; /* the block in hand is worth NOPs */

/* What has been translated and not been shown to other threads yet: block by block until what they
 * go on with is there, too. */
static struct {
	uint64_t key, code;
	bool returned_to;
	uint64_t thunk; /* then: in front of the code */
} made[RUN_BLOCKS_MAX + 1];
static unsigned mades;

static unsigned lane_offset(unsigned m)
{
	return CTX_LANES + (m * LANES + (careful ? 0 : number % LANES)) * 8;
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
	const struct insn *insn = &d.insn[i];
	uint64_t kind =
		is_conditional(insn) ? SPMU_SIGBIT(COND_TAKEN) : insn->signals & SPMU_SIGSET_TAKEN;

	if (is_logged(kind))
		emit_log(e, d.pc[i], insn->target, log_kind(kind));
}

/* --- charging --- */

static void charge(struct emit *e, struct charge c, struct way_out out)
{
	charged[charges++] = c;
	emit_charge(e, c.offset, c.n);
	if (aligned)
		emit_clear_of_line(e, CHECK_BYTES);
	out.check = emit_check(e); /* its target comes with the cold code */
	way_out[ways_out++] = out;
}

/* Charge the whole path.  Each way out takes back what has been charged up to it. */
static void charge_block(struct emit *e, bool keep_flags)
{
	for (unsigned m = 0; m < meters; m++) {
		unsigned n = 0;

		for (unsigned i = 0; i < d.n; i++)
			n += path_occurrences(&d, i, m);
		if (!n)
			continue;
		if (!charges && keep_flags)
			emit_flags_save(e);
		charge(e, (struct charge){(uint16_t)lane_offset(m), (uint16_t)n},
		       (struct way_out){.last = (uint16_t)(charges + 1),
					.site = number | m << 24,
					.flags_kept = keep_flags});
	}
	if (charges && keep_flags)
		emit_flags_restore(e);
}

/* What this outcome of the last branch (or another than was followed, of branch i) produces on
 * meter m beside what has been charged; negative: to be given back. */
static int edge_balance(unsigned i, bool taken, unsigned m)
{
	uint64_t outcome = taken ? SPMU_SIGBIT(COND_TAKEN) : SPMU_SIGBIT(COND_NTAKEN);
	int n = 0;

	if (is_conditional(&d.insn[i])) {
		uint64_t followed = SPMU_SIGBIT(COND_TAKEN) ^ SPMU_SIGBIT(COND_NTAKEN) ^ outcome;

		if (i + 1 == d.n)
			return (meter_signals[m] & COND_SIGNALS) == outcome;
		n = ((meter_signals[m] & outcome) != 0) - ((meter_signals[m] & followed) != 0);
	}
	while (++i < d.n)
		n -= (int)path_occurrences(&d, i, m);
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
		charge(e, (struct charge){(uint16_t)lane_offset(m), (uint16_t)n},
		       (struct way_out){.first = (uint16_t)(charges + 1),
					.site = slot,
					.edge = true,
					.flags_kept = keep});
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
		for (unsigned c = out->first; c < out->last; c++) {
			if (out->edge)
				emit_charge(&e, charged[c].offset, charged[c].n);
			else
				emit_refund(&e, charged[c].offset, charged[c].n);
		}
		if (!out->edge)
			emit_note(&e, CTX_WANTED, charged[out->last - 1].n);
		if (!out->edge)
			emit_note(&e, CTX_CHECK_AT, (uint32_t)(uint64_t)out->check);
		if (out->flags_kept)
			emit_flags_restore(&e);
		emit_leave(&e, out->edge ? EXIT_HEADROOM_EDGE : EXIT_HEADROOM, out->site);
	}
	cold_at = e.at;
}

/* --- leaving --- */

static uint64_t find_code(uint64_t pc)
{
	uint64_t key = careful ? pc | CAREFUL_KEY : pc;

	for (unsigned i = 0; i < mades; i++)
		if (made[i].key == key)
			return made[i].code;
	return blocks_lookup(key);
}

/* Where a jump to program address pc goes for now: its code, or a slot.  The closing jump of a
 * loop goes to a slot first, so that the loop's head can become a trace. */
static uint64_t jump_target(uint64_t pc, uint64_t rel32, bool closes_loop)
{
	uint64_t key = careful ? pc | CAREFUL_KEY : pc, code = find_code(pc);

	keep_jump(rel32, key);
	if (code && (careful || !closes_loop || !blocks_may_trace(pc)))
		return code;
	return exit_slot_new(key, rel32, closes_loop && !careful);
}

static void emit_goto(struct emit *e, uint64_t pc, bool closes_loop)
{
	uint8_t *rel32;

	if (aligned)
		emit_clear_of_line(e, JMP_BYTES);
	rel32 = emit_jmp(e, 0);
	emit_patch(rel32, jump_target(pc, (uint64_t)rel32, closes_loop));
}

/* At the end of a block: what comes behind it needs no jump. */
static void emit_go_on(struct emit *e, uint64_t pc, bool closes_loop)
{
	if (pc != behind)
		emit_goto(e, pc, closes_loop);
}

static void emit_outcome(struct emit *e, unsigned i, bool taken)
{
	const struct insn *insn = &d.insn[i];
	uint64_t pc = taken ? insn->target : d.pc[i] + insn->length;

	if (taken)
		log_taken(e, i);
	settle_edge(e, i, taken, pc);
	if (taken)
		emit_goto(e, pc, insn->target <= d.pc[i]);
	else
		emit_go_on(e, pc, false);
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
	const struct insn *insn = &d.insn[i];
	uint8_t *rel32;

	if (insn->kind == INSN_JCXZ) {
		*emit_jcxz(e, insn, (const uint8_t *)d.pc[i]) = 5; /* over the jump behind it */
		rel32 = emit_jmp(e, 0);
		emit_outcome(e, i, true);
		emit_patch(rel32, (uint64_t)e->at);
	} else {
		rel32 = emit_jcc(e, insn->opcode & 15, 0);
		if (edge_is_free(i, true))
			emit_patch(rel32, jump_target(insn->target, (uint64_t)rel32,
						      insn->target <= d.pc[i]));
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
	const struct insn *insn = &d.insn[i];
	uint64_t kind = insn->signals & SPMU_SIGSET_TAKEN, expected = 0;

	if (!is_logged(kind))
		expected = stable_target(insn, d.pc[i]);
	emit_indirect_target(e, insn, d.pc[i]);
	if (expected) {
		side[sides++] = (struct side){emit_expect(e, expected), (uint8_t)i, true};
		emit_goto(e, expected, false);
		return;
	}
	if (is_logged(kind))
		emit_log_indirect(e, d.pc[i], log_kind(kind));
	emit_indirect_end(e, insn);
}

static void emit_last(struct emit *e)
{
	unsigned i = d.n - 1;
	const struct insn *insn = &d.insn[i];
	uint64_t pc = d.pc[i];

	switch (insn->kind) {
	case INSN_JCC:
	case INSN_JCXZ:
		emit_conditional(e, i);
		break;
	case INSN_CALL_REL:
		emit_push_address(e, pc + insn->length);
		log_taken(e, i);
		emit_goto(e, insn->target, false);
		break;
	case INSN_JMP_REL:
		log_taken(e, i);
		emit_go_on(e, insn->target, insn->target <= pc);
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
		emit_go_on(e, pc + insn->length, false);
	}
}

/* An instruction of the path behind which it goes on. */
static void emit_inner(struct emit *e, unsigned i)
{
	const struct insn *insn = &d.insn[i];
	unsigned condition = insn->opcode & 15;
	bool taken = path_taken(&d, i);

	switch (insn->kind) {
	case INSN_JCC:
		side[sides++] = (struct side){emit_jcc(e, taken ? condition ^ 1 : condition, 0),
					      (uint8_t)i, !taken};
		if (taken)
			log_taken(e, i);
		break;
	case INSN_CALL_REL:
		emit_push_address(e, d.pc[i] + insn->length);
		log_taken(e, i);
		break;
	case INSN_JMP_REL:
		log_taken(e, i);
		break;
	case INSN_JMP_IND:
	case INSN_CALL_IND:
	case INSN_RET:
		emit_indirect_target(e, insn, d.pc[i]);
		side[sides++] = (struct side){emit_expect(e, d.pc[i + 1]), (uint8_t)i, true};
		if (is_logged(insn->signals & SPMU_SIGSET_TAKEN))
			emit_log(e, d.pc[i], d.pc[i + 1],
				 log_kind(insn->signals & SPMU_SIGSET_TAKEN));
		break;
	default:
		emit_copy(e, insn, (const uint8_t *)d.pc[i], d.pc[i]);
	}
}

/* An indirect branch that goes elsewhere: RCX has the target. */
static void emit_unexpected(struct emit *e, unsigned i)
{
	uint64_t kind = d.insn[i].signals & SPMU_SIGSET_TAKEN;

	settle_edge(e, i, true, 0);
	if (is_logged(kind))
		emit_log_indirect(e, d.pc[i], log_kind(kind));
	emit_indirect_end(e, &d.insn[i]);
}

static void emit_sides(void)
{
	struct emit e = {cold_at};

	for (unsigned s = 0; s < sides; s++) {
		emit_patch(side[s].rel32, (uint64_t)e.at);
		if (is_indirect(&d.insn[side[s].branch]))
			emit_unexpected(&e, side[s].branch);
		else
			emit_outcome(&e, side[s].branch, side[s].taken);
	}
	cold_at = e.at;
}

/* --- blocks --- */

/* Before instruction i: its branch, or the next one's, with which processors make it one. */
static void align_branch(struct emit *e, unsigned i)
{
	bool branch = d.insn[i].kind == INSN_JCC;

	if (d.insn[i].kind == INSN_PLAIN && i + 1 < d.n && d.insn[i + 1].kind == INSN_JCC)
		emit_clear_of_line(e, d.insn[i].length + JCC_BYTES);
	else if (branch && (!i || d.insn[i - 1].kind != INSN_PLAIN))
		emit_clear_of_line(e, JCC_BYTES);
}

/*
 * The whole block, with the lengths of its parts in its map: two bytes for the charge,
 * one for each instruction, and for a trace the address of each.
 */
static void emit_block(struct emit *e, struct block *b)
{
	int point = path_dead_flags(&d, careful ? 0 : CHECK_INSNS_MAX);
	uint8_t *map = block_map_space(2 + d.n + (b->trace ? 4 * (d.n + 1) : 0));

	ways_out = charges = sides = 0;
	b->check_at = point < 0 ? 0 : (uint8_t)point;
	b->check_bytes = (uint8_t)(d.pc[b->check_at] - d.pc[0]);
	b->insns = (uint8_t)d.n;
	for (unsigned i = 0; i < d.n; i++) {
		uint8_t *start = e->at;

		if (i == b->check_at) {
			charge_block(e, point < 0);
			map[0] = (uint8_t)(e->at - start);
			map[1] = (uint8_t)((e->at - start) >> 8);
			start = e->at;
		}
		if (aligned)
			align_branch(e, i);
		if (i + 1 < d.n)
			emit_inner(e, i);
		else
			emit_last(e);
		map[2 + i] = (uint8_t)(e->at - start > 255 ? 255 : e->at - start);
	}
	for (unsigned i = 0; b->trace && i <= d.n; i++) {
		uint32_t low = (uint32_t)d.pc[i];

		memcpy(map + 2 + d.n + 4 * i, &low, 4);
	}
	aligned = false; /* what seldom runs is not */
	emit_sides();
	emit_ways_out();
}

/* True: it has to be looked at again. */
static bool watch_path(void)
{
	bool again = false;

	for (unsigned i = 0; i < d.n; i++) {
		again |= memory_watch_page(d.pc[i]);
		again |= memory_watch_page(d.pc[i] + d.insn[i].length - 1);
	}
	return again;
}

static void translate_path(uint64_t key, bool trace)
{
	struct emit e = {cache_at};
	struct block *b;

	b = block_new(d.pc[0]);
	b->trace = trace;
	b->bytes = (uint16_t)(d.pc[d.n] - d.pc[0]);
	b->careful = careful;
	keep_begin(b->pc);
	for (unsigned i = 0; i < d.n; i++)
		b->spans |= keep_outside(d.pc[i]) || keep_outside(d.pc[i] + d.insn[i].length - 1);
	number = block_number(b);
	made[mades].key = key;
	made[mades++].code = (uint64_t)cache_at;
	if (path_needs_engine(&d.insn[0])) {
		b->insns = 0;
		b->check_at = b->check_bytes = 0;
		emit_leave(&e, EXIT_STEP_ME, number);
	} else {
		emit_block(&e, b);
	}
	b->code_bytes = (uint16_t)(e.at - cache_at);
	cache_at = e.at;
	block_done(b);
}

/* The code of the first. */
static uint64_t publish(void)
{
	for (unsigned i = 0; i < mades; i++) {
		blocks_add(made[i].key, made[i].code);
		if (made[i].returned_to)
			target_set(made[i].key, made[i].thunk, true);
	}
	mades = 0;
	return made[0].code;
}

/*
 * Where the program certainly goes on behind the block in hand, or will come back to: translated
 * with it, what comes there saves an exit to the engine.  (To go on behind conditional branches
 * costs more for what never runs than it saves.)  0: nowhere.  Code that changes (a compiler's that
 * is just being written) is left until it runs.
 */
static uint64_t goes_on(void)
{
	const struct insn *last = &d.insn[d.n - 1];
	uint64_t pc = d.pc[d.n];

	if (careful || mades + 1 >= RUN_BLOCKS_MAX || path_needs_engine(&d.insn[0]))
		return 0;
	switch (last->kind) {
	case INSN_JMP_REL:
		pc = last->target;
		break;
	case INSN_CALL_REL:
	case INSN_CALL_IND:
	case INSN_SYSCALL:
	case INSN_PLAIN:
		break;
	default:
		return 0;
	}
	if (pc == d.pc[0] || keep_parts(d.pc[0], pc) || !memory_is_constant(pc) || blocks_full() ||
	    find_code(pc))
		return 0;
	return pc;
}

static bool is_call(const struct insn *insn)
{
	return insn->kind == INSN_CALL_REL || insn->kind == INSN_CALL_IND;
}

/* The block at pc; where to go on translating, 0: nowhere. */
static uint64_t translate_next(uint64_t pc)
{
	const struct insn *last;
	uint64_t next;

	do {
		path_of_block(&d, pc, memory_block_end(pc),
			      careful ? CAREFUL_INSNS_MAX : PLAIN_INSNS_MAX);
	} while (watch_path());
	next = goes_on();
	last = &d.insn[d.n - 1];
	behind = is_call(last) || last->kind == INSN_SYSCALL ? 0 : next;
	if (made[mades].returned_to)
		made[mades].thunk = target_thunk(careful ? pc | CAREFUL_KEY : pc, true);
	translate_path(careful ? pc | CAREFUL_KEY : pc, false);
	behind = 0;
	made[mades].returned_to = is_call(last); /* the next one */
	return next;
}

uint64_t translate_block(uint64_t key)
{
	uint64_t pc = key & ~CAREFUL_KEY, end = memory_block_end(pc);

	if (!end || memory_is_volatile(pc))
		return 0;
	if (blocks_full())
		blocks_flush();
	careful = key & CAREFUL_KEY;
	made[0].returned_to = false;
	while (pc)
		pc = translate_next(pc);
	return publish();
}

uint64_t translate_trace(uint64_t pc)
{
	uint64_t plain = blocks_lookup(pc);

	if (!plain || !blocks_may_trace(pc) || blocks_full() || meters > TRACED_METERS_MAX)
		return plain;
	blocks_no_trace(pc);
	if (!path_of_trace(&d, pc) || watch_path())
		return plain;
	careful = false;
	made[0].returned_to = false;
	translate_path(pc, true);
	return publish();
}

bool translate_recorded(const uint64_t *pcs, unsigned n)
{
	uint64_t plain = blocks_lookup(pcs[0]), code;
	struct emit e;

	if (meters > TRACED_METERS_MAX || !path_of_record(&d, pcs, n) || watch_path())
		return false;
	blocks_no_trace(pcs[0]);
	careful = false;
	made[0].returned_to = false;
	aligned = true;
	e.at = cache_at;
	emit_line(&e);
	cache_at = e.at;
	translate_path(pcs[0], true);
	code = publish();
	block_of_code(code)->recorded = true;
	if (plain)
		block_replace(plain, code);
	return true;
}

/* --- what is known of a block afterwards --- */

void block_path(struct path *p, const struct block *b)
{
	const uint8_t *pcs = block_map(b) + 2 + b->insns;

	if (!b->trace) {
		path_of_block(p, b->pc, memory_block_end(b->pc),
			      b->careful ? CAREFUL_INSNS_MAX : PLAIN_INSNS_MAX);
		return;
	}
	p->n = b->insns;
	for (unsigned i = 0; i <= p->n; i++) {
		uint32_t low;

		memcpy(&low, pcs + 4 * i, 4);
		p->pc[i] = low;
		if (i < p->n)
			path_decode(low, memory_code_end(low), &p->insn[i]);
	}
}

unsigned block_occurrences(const struct block *b, unsigned first, unsigned last, unsigned m)
{
	struct path p;
	unsigned n = 0;

	block_path(&p, b);
	for (unsigned i = first; i < last && i < p.n; i++)
		n += path_occurrences(&p, i, m);
	return n;
}

unsigned syscall_occurrences(unsigned m)
{
	static const uint8_t bytes[] = {0x0f, 0x05};
	struct path p = {.n = 1};

	insn_decode(bytes, sizeof(bytes), 0, &p.insn[0]);
	return path_occurrences(&p, 0, m);
}

uint64_t block_pc_of(const struct block *b, unsigned index)
{
	struct path p;

	if (!index)
		return b->pc;
	block_path(&p, b);
	return p.pc[index < p.n ? index : p.n];
}

uint64_t block_check_code(const struct block *block)
{
	const uint8_t *map = block_map(block);
	uint64_t code = (uint64_t)cache_base + block->code;

	for (unsigned i = 0; i < block->check_at; i++)
		code += map[2 + i];
	return code;
}

void block_leave_at_check(const struct block *b)
{
	struct path p;
	bool decoded = false;

	for (unsigned m = 0; m < meters && b->check_at; m++) {
		if (meter_signals[m] == SPMU_SIGBIT(INSTRUCTIONS)) {
			current->lane[m][0] -= b->check_at;
			continue;
		}
		if (!decoded)
			path_of_block(&p, b->pc, memory_block_end(b->pc), b->check_at);
		decoded = true;
		for (unsigned i = 0; i < b->check_at; i++)
			current->lane[m][0] -= path_occurrences(&p, i, m);
	}
}
