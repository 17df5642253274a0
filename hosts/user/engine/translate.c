/* SPDX-License-Identifier: MIT */
/*
 * translate.c: program code to counted blocks, and to single steps.
 *
 * A block is program code up to the next control transfer, copied.  Where its flags
 * are dead, within the first few instructions, it subtracts what the whole block produces
 * from the headroom of each meter and leaves when one is used up.  The few
 * instructions before that point are covered by a reserve that counting.c keeps
 * back.  Where no such point exists, the flags are kept in AX around it.  What
 * depends on the outcome of a final conditional branch is charged on
 * the way out.
 *
 * A step is one instruction that comes back to the engine: the precise form.
 */
#include "emit.h"
#include "engine.h"
#include "sys.h"

#define STEPS	       4096
#define STEP_BYTES     128
#define PEEK_INSNS     6
#define COND_SIGNALS   (SPMU_SIGBIT(COND_TAKEN) | SPMU_SIGBIT(COND_NTAKEN))
#define MEMORY_SIGNALS (SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES) | SPMU_SIGBIT(LOCK_LOADS))

struct decoded {
	struct insn insn[BLOCK_INSNS_MAX];
	uint64_t pc[BLOCK_INSNS_MAX + 1];
	unsigned n;
};

static struct decoded d; /* of the block in hand */
static struct step *steps;
static uint8_t *steps_code;

void translate_start(void)
{
	steps = engine_memory(STEPS * sizeof(*steps));
	steps_code = (uint8_t *)memory_place_first(STEPS * STEP_BYTES);
	if (!steps_code ||
	    is_error(map_memory((uint64_t)steps_code, STEPS * STEP_BYTES, 7, 0x32, -1, 0)))
		engine_fail(126, "no room for single steps below 2 GiB");
}

void translate_forget_steps(void)
{
	if (steps)
		memset(steps, 0, STEPS * sizeof(*steps));
}

static bool ends_block(unsigned kind)
{
	return kind != INSN_PLAIN && kind != INSN_CPUID && kind != INSN_RDPMC;
}

/* Must the engine look at it each time? */
static bool needs_engine(const struct insn *insn)
{
	if (insn->kind == INSN_FAR || insn->kind == INSN_GSBASE || insn->kind == INSN_XBEGIN ||
	    insn->uses_gs)
		return true;
	if (insn->rep && insn->signals & MEMORY_SIGNALS)
		for (unsigned m = 0; m < meters; m++)
			if (meter_signals[m] & MEMORY_SIGNALS)
				return true; /* a count of 0 touches no memory */
	return false;
}

static bool decode_at(uint64_t pc, uint64_t end, struct insn *insn)
{
	uint64_t available = end - pc;

	if (available > INSN_BYTES_MAX + 1)
		available = INSN_BYTES_MAX + 1;
	return insn_decode((const uint8_t *)pc, available, pc, insn);
}

static void decode_block(uint64_t pc, uint64_t end)
{
	d.n = 0;
	while (d.n < BLOCK_INSNS_MAX && pc < end) {
		struct insn *insn = &d.insn[d.n];

		if (!decode_at(pc, end, insn)) {
			/* Runs off the mapping: alone in its block it faults as it should. */
			if (d.n)
				break;
			insn->kind = INSN_UNDEFINED;
			insn->length = (uint8_t)(end - pc);
		}
		if (d.n && needs_engine(insn))
			break;
		d.pc[d.n++] = pc;
		pc += insn->length;
		if (ends_block(insn->kind) || needs_engine(insn))
			break;
	}
	d.pc[d.n] = pc;
}

/* Are the arithmetic flags certainly overwritten before anything at pc reads them? */
static bool flags_dead_at(uint64_t pc)
{
	uint64_t end = memory_code_end(pc);
	unsigned live = FLAGS_ALL;

	for (unsigned i = 0; end && i < PEEK_INSNS && pc < end; i++) {
		struct insn insn;

		if (!decode_at(pc, end, &insn) || insn.flags_read & live)
			return false;
		live &= ~(unsigned)insn.flags_written;
		if (!live)
			return true;
		if (insn.kind == INSN_JMP_REL || insn.kind == INSN_CALL_REL)
			pc = insn.target, end = memory_code_end(pc);
		else if (ends_block(insn.kind))
			return false;
		else
			pc += insn.length;
	}
	return false;
}

/* The first point at which the meters can be charged without keeping flags; -1: none. */
static int charge_point(unsigned live)
{
	int best = -1;

	for (unsigned i = d.n; i-- > 0;) {
		live = (live & ~(unsigned)d.insn[i].flags_written) | d.insn[i].flags_read;
		if (!live && i <= CHECK_INSNS_MAX)
			best = (int)i;
	}
	return best;
}

static unsigned flags_live_out(void)
{
	const struct insn *last = &d.insn[d.n - 1];

	switch (last->kind) {
	case INSN_JMP_REL:
	case INSN_CALL_REL:
		return flags_dead_at(last->target) ? 0 : FLAGS_ALL;
	case INSN_JCC:
	case INSN_JCXZ:
		return flags_dead_at(last->target) && flags_dead_at(d.pc[d.n]) ? 0 : FLAGS_ALL;
	case INSN_PLAIN:
	case INSN_CPUID:
	case INSN_RDPMC:
		return flags_dead_at(d.pc[d.n]) ? 0 : FLAGS_ALL;
	default:
		return FLAGS_ALL;
	}
}

/* The signals of an instruction on a meter: those of a branch's outcome only when the
 * meter does not care which it is. */
static unsigned occurrences(const struct insn *insn, unsigned m)
{
	uint64_t set = insn->signals & meter_signals[m];
	unsigned n = 0;

	for (; set; set &= set - 1)
		n++;
	if ((insn->kind == INSN_JCC || insn->kind == INSN_JCXZ) &&
	    (meter_signals[m] & COND_SIGNALS) == COND_SIGNALS)
		n++;
	return n;
}

unsigned block_occurrences(const struct block *block, unsigned first, unsigned last, unsigned m)
{
	uint64_t end = memory_code_end(block->pc), pc = block->pc;
	unsigned n = 0;

	for (unsigned i = 0; i < last; i++) {
		struct insn insn;

		if (!decode_at(pc, end, &insn))
			break;
		if (i >= first)
			n += occurrences(&insn, m);
		pc += insn.length;
	}
	return n;
}

uint64_t block_pc_of(const struct block *block, unsigned index)
{
	uint64_t end = memory_code_end(block->pc), pc = block->pc;

	for (unsigned i = 0; i < index; i++) {
		struct insn insn;

		if (!decode_at(pc, end, &insn))
			break;
		pc += insn.length;
	}
	return pc;
}

uint64_t block_check_code(const struct block *block)
{
	const uint8_t *map = block_map(block);
	uint64_t code = (uint64_t)cache_base + block->code;

	for (unsigned i = 0; i < block->check_at; i++)
		code += map[2 + i];
	return code;
}

/* A way out that is taken when a meter has run out.  It takes back what the block has charged
 * so far (on an edge, where the branch is done, the charge stands). */
struct way_out {
	uint8_t *rel32;
	uint8_t meter;
	uint8_t reason;
	uint8_t last_refund; /* how many of the charges it takes back */
	bool flags_kept;
};

struct charged {
	uint16_t offset;
	uint16_t n;
};

static struct way_out way_out[3 * LANED_METERS];
static struct charged charged[LANED_METERS];
static unsigned ways_out, charges;

static unsigned lane_offset(unsigned m, uint32_t block)
{
	return CTX_LANES + (m * LANES + block % LANES) * 8;
}

static void charge(struct emit *e, unsigned m, unsigned n, uint32_t block, unsigned reason,
		   bool flags_kept)
{
	struct way_out *out = &way_out[ways_out++];

	emit_charge(e, lane_offset(m, block), n);
	out->rel32 = emit_jcc(e, 8, 0); /* JS, patched at the end of the block */
	out->meter = (uint8_t)m;
	out->reason = (uint8_t)reason;
	out->last_refund = 0;
	if (reason == EXIT_HEADROOM) {
		charged[charges++] = (struct charged){(uint16_t)lane_offset(m, block), (uint16_t)n};
		out->last_refund = (uint8_t)charges;
	}
	out->flags_kept = flags_kept;
}

static void charge_block(struct emit *e, uint32_t block, bool keep_flags)
{
	charges = 0;
	for (unsigned m = 0; m < meters; m++) {
		unsigned n = 0;

		for (unsigned i = 0; i < d.n; i++)
			n += occurrences(&d.insn[i], m);
		if (!n)
			continue;
		if (!charges && keep_flags)
			emit_flags_save(e);
		charge(e, m, n, block, EXIT_HEADROOM, keep_flags);
	}
	if (charges && keep_flags)
		emit_flags_restore(e);
}

static bool charges_edge(uint64_t outcome)
{
	for (unsigned m = 0; m < meters; m++)
		if ((meter_signals[m] & COND_SIGNALS) == outcome)
			return true;
	return false;
}

/* Charge what only this outcome of the branch produces, on its way to `pc`. */
static void charge_edge(struct emit *e, uint32_t block, uint64_t outcome, uint64_t pc)
{
	bool keep = !flags_dead_at(pc);
	unsigned reason =
		outcome == SPMU_SIGBIT(COND_TAKEN) ? EXIT_HEADROOM_TAKEN : EXIT_HEADROOM_NTAKEN;

	if (!charges_edge(outcome))
		return;
	if (keep)
		emit_flags_save(e);
	for (unsigned m = 0; m < meters; m++)
		if ((meter_signals[m] & COND_SIGNALS) == outcome)
			charge(e, m, 1, block, reason, keep);
	if (keep)
		emit_flags_restore(e);
}

static void emit_ways_out(uint32_t block)
{
	struct emit e = {cold_at};

	for (unsigned i = 0; i < ways_out; i++) {
		const struct way_out *out = &way_out[i];

		emit_patch(out->rel32, (uint64_t)e.at);
		for (unsigned c = 0; c < out->last_refund; c++)
			emit_refund(&e, charged[c].offset, charged[c].n);
		if (out->last_refund)
			emit_note(&e, CTX_WANTED, charged[out->last_refund - 1].n);
		if (out->flags_kept)
			emit_flags_restore(&e);
		emit_leave(&e, out->reason, block | (uint32_t)out->meter << 24);
	}
	cold_at = e.at;
}

/* Jump to program address pc: straight to its code when that is there, else by a slot. */
static void emit_goto(struct emit *e, uint64_t pc)
{
	uint64_t code = blocks_lookup(pc);
	uint8_t *rel32 = emit_jmp(e, code);

	if (!code)
		emit_patch(rel32, exit_slot_new(pc, (uint64_t)rel32));
}

static void emit_jcc_goto(struct emit *e, unsigned condition, uint64_t pc)
{
	uint64_t code = blocks_lookup(pc);
	uint8_t *rel32 = emit_jcc(e, condition, code);

	if (!code)
		emit_patch(rel32, exit_slot_new(pc, (uint64_t)rel32));
}

/* JCXZ and LOOP have 8-bit displacements only: the result is where the taken way's
 * distance goes. */
static uint8_t *emit_jcxz(struct emit *e, const struct insn *insn, const uint8_t *bytes)
{
	emit_bytes(e, bytes, (size_t)insn->length - 1);
	return e->at++;
}

static void emit_conditional(struct emit *e, const struct insn *insn, uint64_t pc, uint32_t block)
{
	bool edge = charges_edge(SPMU_SIGBIT(COND_TAKEN));
	uint8_t *short_distance = NULL, *rel32 = NULL;

	if (insn->kind == INSN_JCXZ)
		short_distance = emit_jcxz(e, insn, (const uint8_t *)pc);
	else if (edge)
		rel32 = emit_jcc(e, insn->opcode & 15, 0);
	else
		emit_jcc_goto(e, insn->opcode & 15, insn->target);
	if (short_distance) {
		/* over a near jump to the not-taken way */
		*short_distance = 5;
		rel32 = emit_jmp(e, 0);
		charge_edge(e, block, SPMU_SIGBIT(COND_TAKEN), insn->target);
		emit_goto(e, insn->target);
		emit_patch(rel32, (uint64_t)e->at);
		rel32 = NULL;
	}
	charge_edge(e, block, SPMU_SIGBIT(COND_NTAKEN), pc + insn->length);
	emit_goto(e, pc + insn->length);
	if (rel32) {
		emit_patch(rel32, (uint64_t)e->at);
		charge_edge(e, block, SPMU_SIGBIT(COND_TAKEN), insn->target);
		emit_goto(e, insn->target);
	}
}

/* RCX = where the indirect branch goes; the program's RCX is spilled, stack adjusted. */
static void emit_indirect_target(struct emit *e, const struct insn *insn, uint64_t pc)
{
	emit_save(e, RCX, CTX_SPILL_RCX);
	if (insn->kind == INSN_RET) {
		emit_bytes(e, (const uint8_t[]){0x48, 0x8b, 0x0c, 0x24}, 4); /* MOV RCX, [RSP] */
		emit_bytes(e, (const uint8_t[]){0x48, 0x8d, 0xa4, 0x24}, 4); /* LEA RSP, [RSP+n] */
		emit32(e, 8 + insn->immediate);
		return;
	}
	emit_branch_operand(e, insn, (const uint8_t *)pc, pc);
	if (insn->kind == INSN_CALL_IND)
		emit_push_address(e, pc + insn->length);
}

static void emit_indirect(struct emit *e, const struct insn *insn, uint64_t pc)
{
	emit_save(e, RAX, CTX_SPILL_RAX);
	emit_indirect_target(e, insn, pc);
	emit_bytes(e, (const uint8_t[]){0x0f, 0xb7, 0xc1}, 3);	     /* MOVZX EAX, CX */
	emit_bytes(e, (const uint8_t[]){0x65, 0xff, 0x24, 0xc5}, 4); /* JMP gs:[RAX*8+...] */
	emit32(e, CTX_TARGETS);
}

static void emit_last(struct emit *e, const struct insn *insn, uint64_t pc, uint32_t block)
{
	switch (insn->kind) {
	case INSN_JCC:
	case INSN_JCXZ:
		emit_conditional(e, insn, pc, block);
		break;
	case INSN_CALL_REL:
		emit_push_address(e, pc + insn->length);
		emit_goto(e, insn->target);
		break;
	case INSN_JMP_REL:
		emit_goto(e, insn->target);
		break;
	case INSN_JMP_IND:
	case INSN_CALL_IND:
	case INSN_RET:
		emit_indirect(e, insn, pc);
		break;
	case INSN_SYSCALL:
		emit_leave(e, EXIT_SYSCALL, block);
		break;
	default:
		emit_copy(e, insn, (const uint8_t *)pc, pc);
		emit_goto(e, pc + insn->length);
	}
}

/* The whole block, with the lengths of its parts in its map: two bytes for the charge,
 * then one for each instruction. */
static void emit_block(struct emit *e, struct block *b)
{
	int point = charge_point(FLAGS_ALL);
	uint8_t *map = block_map_space(2 + d.n);
	uint32_t number = block_number(b);
	unsigned check = 0;

	if (point < 0)
		point = charge_point(flags_live_out());
	ways_out = 0;
	b->check_at = point < 0 ? 0 : (uint8_t)point;
	b->insns = (uint8_t)d.n;
	for (unsigned i = 0; i < d.n; i++) {
		uint8_t *start = e->at;

		if (i == b->check_at) {
			charge_block(e, number, point < 0);
			check = (unsigned)(e->at - start);
			map[0] = (uint8_t)check;
			map[1] = (uint8_t)(check >> 8);
			start = e->at;
		}
		if (i + 1 < d.n)
			emit_copy(e, &d.insn[i], (const uint8_t *)d.pc[i], d.pc[i]);
		else
			emit_last(e, &d.insn[i], d.pc[i], number);
		map[2 + i] = (uint8_t)(e->at - start > 255 ? 255 : e->at - start);
	}
	emit_ways_out(number);
}

uint64_t translate_block(uint64_t pc)
{
	uint64_t end = memory_code_end(pc);
	struct emit e;
	struct block *b;

	if (!end)
		return 0;
	if (blocks_full())
		blocks_flush();
	decode_block(pc, end);
	for (uint64_t page = pc & ~UINT64_C(4095); page < d.pc[d.n]; page += 4096)
		memory_watch_page(page);
	b = block_new(pc);
	e.at = cache_at;
	if (needs_engine(&d.insn[0])) {
		b->insns = 0;
		b->check_at = 0;
		emit_leave(&e, EXIT_STEP_ME, block_number(b));
	} else {
		emit_block(&e, b);
	}
	b->code_bytes = (uint16_t)(e.at - cache_at);
	engine_link->cache_bytes += b->code_bytes;
	block_publish(b, (uint64_t)cache_at);
	cache_at = e.at;
	return (uint64_t)cache_base + b->code;
}

static void emit_step(struct emit *e, const struct insn *insn, uint64_t pc)
{
	uint8_t *taken;

	switch (insn->kind) {
	case INSN_JCC:
		taken = emit_jcc(e, insn->opcode & 15, 0);
		emit_jmp(e, (uint64_t)blocks_gate(EXIT_STEP_NEXT));
		emit_patch(taken, (uint64_t)blocks_gate(EXIT_STEP_TAKEN));
		break;
	case INSN_JCXZ:
		*emit_jcxz(e, insn, (const uint8_t *)pc) = 5;
		emit_jmp(e, (uint64_t)blocks_gate(EXIT_STEP_NEXT));
		emit_jmp(e, (uint64_t)blocks_gate(EXIT_STEP_TAKEN));
		break;
	case INSN_CALL_REL:
		emit_push_address(e, pc + insn->length);
		emit_jmp(e, (uint64_t)blocks_gate(EXIT_STEP_TAKEN));
		break;
	case INSN_JMP_REL:
		emit_jmp(e, (uint64_t)blocks_gate(EXIT_STEP_TAKEN));
		break;
	case INSN_JMP_IND:
	case INSN_CALL_IND:
	case INSN_RET:
		emit_indirect_target(e, insn, pc);
		emit_save(e, RCX, CTX_PC);
		emit_load(e, RCX, CTX_SPILL_RCX);
		emit_jmp(e, (uint64_t)blocks_gate(EXIT_STEP_JUMP));
		break;
	default:
		emit_copy(e, insn, (const uint8_t *)pc, pc);
		emit_jmp(e, (uint64_t)blocks_gate(EXIT_STEP_NEXT));
	}
}

struct step *translate_step(uint64_t pc)
{
	uint32_t slot = (uint32_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 40) % STEPS;
	struct step *s = steps + slot;
	uint64_t end;
	struct emit e;

	if (s->pc == pc && s->code)
		return s;
	end = memory_code_end(pc);
	if (!end)
		return NULL;
	if (!decode_at(pc, end, &s->insn)) {
		s->insn.kind = INSN_UNDEFINED;
		s->insn.length = (uint8_t)(end - pc);
	}
	memory_watch_page(pc);
	memory_watch_page(pc + s->insn.length - 1);
	s->pc = pc;
	s->code = (uint64_t)(steps_code + slot * STEP_BYTES);
	e.at = (uint8_t *)s->code;
	emit_step(&e, &s->insn, pc);
	return s;
}

struct step *step_of_code(uint64_t address)
{
	uint64_t slot = (address - (uint64_t)steps_code) / STEP_BYTES;

	return address >= (uint64_t)steps_code && slot < STEPS ? steps + slot : NULL;
}
