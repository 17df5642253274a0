/* SPDX-License-Identifier: MIT */
/*
 * timed_block.c: analyses blocks for timelines (uarch_time.h): what each instruction costs, which
 * registers it needs, and the rules of the family: macro-fusion, micro-fusion, zero idioms and
 * moves that do not execute.
 *
 * The rules are those of Intel's Optimization Reference Manual (3.4.2.2, 3.5.1.7), of Abel and
 * Reineke (uiCA, ICS 2022), and of AMD's Software Optimization Guides for families 19H.
 */
#include <string.h>

#include "src/uarch/instruction.h"
#include "src/uarch/timed.h"

_Static_assert(sizeof(struct spmu_timed_block) + sizeof(struct timed_insn) <=
		       SPMU_TIMED_BLOCK_OF_ONE,
	       "room for one instruction");

size_t spmu_timed_block_bytes(unsigned count)
{
	return sizeof(struct spmu_timed_block) + count * sizeof(struct timed_insn);
}

/* --- registers --- */

struct register_list {
	uint8_t *list;
	unsigned count, most;
};

static void add(struct register_list *to, unsigned number)
{
	for (unsigned i = 0; i < to->count; i++)
		if (to->list[i] == number)
			return;
	if (to->count < to->most)
		to->list[to->count++] = (uint8_t)number;
}

/* Returns the number that a field of the encoding has. */
static unsigned number_in(const struct instruction *insn, unsigned field)
{
	switch (field) {
	case FORM_REG:
		return insn->reg;
	case FORM_RM:
		return insn->rm;
	case FORM_V:
		return insn->v;
	case FORM_OPCODE:
		return insn->opcode_register;
	case FORM_IS4:
		return insn->is4;
	default:
		return insn->mask;
	}
}

/* Adds the registers that some fields name. */
static void add_fields(struct register_list *to, const struct instruction *insn, unsigned fields)
{
	for (unsigned field = FORM_REG; field <= FORM_K; field <<= 1) {
		unsigned n = number_in(insn, field);

		if (!(fields & field) || (field == FORM_K && !n))
			continue;
		switch (FORM_KIND(insn->operands->kinds, field)) {
		case FORM_GPR8:
			add(to, n & (!insn->has_rex && n >= 4 && n < 8 ? 3 : 15));
			break;
		case FORM_GPR:
			add(to, n & 15);
			break;
		case FORM_VECTOR:
			add(to, TIMED_VECTOR + (n & 31));
			break;
		case FORM_MASK:
			add(to, TIMED_MASK + (n & 7));
			break;
		case FORM_MMX:
			add(to, TIMED_MMX + (n & 7));
			break;
		default:
			break;
		}
	}
}

static void add_gprs(struct register_list *to, unsigned set)
{
	for (unsigned i = 0; i < 16; i++)
		if (set >> i & 1)
			add(to, i);
}

static void find_registers(const struct instruction *insn, struct timed_insn *to)
{
	const struct form_operands *o = insn->operands;
	struct register_list source = {to->source, 0, TIMED_SOURCES};
	struct register_list target = {to->target, 0, TIMED_TARGETS};

	memset(to->source, TIMED_NONE, sizeof(to->source));
	memset(to->address, TIMED_NONE, sizeof(to->address));
	memset(to->target, TIMED_NONE, sizeof(to->target));
	add_fields(&source, insn, o->reads);
	add_gprs(&source, o->gpr_reads);
	add_fields(&target, insn, o->writes);
	add_gprs(&target, o->gpr_writes);
	if (o->properties & FORM_READS_CARRY)
		add(&source, TIMED_CARRY);
	if (o->properties & FORM_READS_FLAGS)
		add(&source, TIMED_FLAGS);
	if (o->properties & FORM_WRITES_CARRY)
		add(&target, TIMED_CARRY);
	if (o->properties & FORM_WRITES_FLAGS)
		add(&target, TIMED_FLAGS);
	if (o->properties & FORM_READS_X87)
		add(&source, TIMED_X87);
	if (o->properties & FORM_WRITES_X87)
		add(&target, TIMED_X87);
	if (insn->base != NO_FIELD)
		to->address[0] = insn->base;
	if (insn->index != NO_FIELD)
		to->address[1] = insn->vector_index ? (uint8_t)(TIMED_VECTOR + (insn->index & 31))
						    : insn->index;
}

/* --- rules --- */

static bool is_same_register(const struct instruction *insn)
{
	const struct form_operands *o = insn->operands;

	if (insn->memory || !(o->reads & FORM_RM))
		return false;
	return o->reads & FORM_V ? insn->rm == insn->v : insn->rm == insn->reg;
}

/* Lets an instruction not execute: it only takes its place. */
static void let_rest(struct timed_insn *to)
{
	to->uses = 0;
	to->latency = 0;
	to->starts = 0;
}

static void apply_idioms(const struct spmu_core_shape *core, const struct instruction *insn,
			 struct timed_insn *to)
{
	uint32_t is = insn->operands->properties;

	if (core->rules & SPMU_CORE_ZERO_IDIOMS && is & (FORM_ZERO_IDIOM | FORM_ONES_IDIOM) &&
	    is_same_register(insn)) {
		memset(to->source, TIMED_NONE, sizeof(to->source));
		if (is & FORM_ZERO_IDIOM)
			let_rest(to);
	}
	if (!insn->memory && ((core->rules & SPMU_CORE_MOVES && is & FORM_MOVE) ||
			      (core->rules & SPMU_CORE_VECTOR_MOVES && is & FORM_VECTOR_MOVE))) {
		let_rest(to);
		to->flags |= TIMED_MOVED;
	}
}

static bool micro_fuses(const struct spmu_core_shape *core, const struct instruction *insn,
			unsigned uops)
{
	uint32_t is = insn->operands->properties;
	bool has_index = insn->index != NO_FIELD;

	if (!(core->rules & SPMU_CORE_MICRO_FUSES) || !insn->memory || !(is & FORM_LOADS) ||
	    uops < 2)
		return false;
	/* Later families keep an operand with an index unless there are three operands. */
	return !has_index ||
	       !(core->rules & SPMU_CORE_UNLAMINATES || insn->operands->reads & FORM_V);
}

/* Returns whether the address of a LEA needs more than one clock. */
static bool is_slow_lea(const struct spmu_core_shape *core, const struct instruction *insn)
{
	if (core->rules & SPMU_CORE_LEA_SCALED && insn->scaled)
		return true;
	return core->rules & SPMU_CORE_LEA_THREE && insn->base != NO_FIELD &&
	       insn->index != NO_FIELD && insn->displaced;
}

/* Counts the micro-operations that ports execute.  Dividers are not ports. */
static void count_starts(const struct spmu_core_costs *costs, struct timed_insn *to)
{
	unsigned n = 0;

	for (unsigned i = 0; i < to->uses; i++) {
		const struct port_use *use = &costs->use[to->use + i];
		unsigned first = (unsigned)__builtin_ctzll(costs->ports[use->ports]);

		n += costs->unit && costs->unit[first] == TIMED_DIVIDER ? 0 : use->clocks;
	}
	to->starts = n < UINT8_MAX ? (uint8_t)n : UINT8_MAX;
	to->at_load = to->flags & TIMED_LOADS && n ? 1 : 0;
}

static void find_cost(const struct spmu_core_shape *core, const struct instruction *insn,
		      struct timed_insn *to)
{
	const struct form_cost *cost = &core->costs->cost[core->costs->row[insn->cost]];
	uint32_t is = insn->operands->properties;

	to->slots = to->uops = cost->uops;
	to->slots -= micro_fuses(core, insn, cost->uops);
	to->latency = cost->latency;
	to->load = cost->load;
	to->use = cost->ports;
	to->uses = cost->uses;
	to->flags = (uint8_t)((is & FORM_LOADS ? TIMED_LOADS : 0) |
			      (is & FORM_STORES ? TIMED_STORES : 0) |
			      (is & FORM_SERIALIZES ? TIMED_SERIALIZES : 0));
	if (insn->lock || is & FORM_LOCKS) {
		to->flags |= TIMED_LOCKS;
		to->latency += core->locked;
	}
	if (is & FORM_LEA && is_slow_lea(core, insn)) {
		to->latency = core->lea;
		to->flags |= TIMED_SLOW_LEA;
	}
	if (is & (FORM_READS_X87 | FORM_WRITES_X87))
		to->flags |= TIMED_X87_UOPS;
	count_starts(core->costs, to);
	apply_idioms(core, insn, to);
}

/* Returns whether a conditional jump needs CF, and whether it needs one of SF, PF and OF alone. */
static bool needs_carry(unsigned condition)
{
	return condition == 2 || condition == 3 || condition == 6 || condition == 7;
}

static bool needs_odd_flag(unsigned condition)
{
	return condition < 2 || (condition >= 8 && condition < 12);
}

static bool fuses(const struct spmu_core_shape *core, const struct instruction *first,
		  const struct instruction *jump)
{
	uint32_t is = first->operands->properties;
	unsigned condition = jump->opcode & 15;

	if (!(jump->operands->properties & FORM_CONDITIONAL_JUMP) || first->rip_relative ||
	    is & FORM_STORES)
		return false;
	if (core->rules & SPMU_CORE_FUSES_AMD)
		return is & (FORM_FUSES_TEST | FORM_FUSES_COMPARE | FORM_FUSES_COUNT);
	if (!(core->rules & SPMU_CORE_FUSES_INTEL))
		return false;
	return is & FORM_FUSES_TEST || (is & FORM_FUSES_COMPARE && !needs_odd_flag(condition)) ||
	       (is & FORM_FUSES_COUNT && !needs_odd_flag(condition) && !needs_carry(condition));
}

/* Gives an instruction no place of its own: it is fused with the one before. */
static void join(struct timed_insn *to)
{
	to->slots = to->uops = 0;
	to->flags |= TIMED_FUSED;
}

/* Makes one micro-operation of two instructions.  Intel's use the jump's port, unless there is also
 * a load.  AMD's use the ports of both: two jumps execute in a clock, and there is no result
 * without an ALU (measured: tests/accuracy/kernels.c, two_jumps and add_4). */
static void fuse(const struct spmu_core_shape *core, struct timed_insn *first,
		 struct timed_insn *jump)
{
	join(jump);
	if (core->rules & SPMU_CORE_FUSES_AMD)
		return;
	if (!(first->flags & TIMED_LOADS)) {
		first->use = jump->use;
		first->uses = jump->uses;
	}
	let_rest(jump);
}

/* Returns whether an instruction needs and does nothing. */
static bool is_nop(const struct timed_insn *insn)
{
	return !insn->uses && !insn->flags && insn->source[0] == TIMED_NONE &&
	       insn->target[0] == TIMED_NONE;
}

/* Fuses an instruction with the one before, if the family does that. */
static void fuse_pair(const struct spmu_core_shape *core, const struct instruction *first,
		      const struct instruction *second, struct timed_insn *pair)
{
	if (fuses(core, first, second))
		fuse(core, &pair[0], &pair[1]);
	else if (core->rules & SPMU_CORE_FUSES_NOPS && is_nop(&pair[1]) &&
		 !(pair[0].flags & TIMED_FUSED))
		join(&pair[1]);
}

struct spmu_timed_block *spmu_timed_block_create(void *memory, const struct spmu_core_shape *core,
						 uint64_t linear, const struct spmu_code *code,
						 unsigned count)
{
	struct spmu_timed_block *b = (struct spmu_timed_block *)memory;
	struct instruction insn[2]; /* this one, and the one before */
	struct spmu_core_shape shape;

	if (!b || !count || count > SPMU_TIMED_INSNS_MAX || !core_shape_take(&shape, core))
		return NULL;
	*b = (struct spmu_timed_block){.linear = linear, .end = linear, .count = count};
	for (unsigned i = 0; i < count; i++) {
		(void)instruction_read(code[i].bytes, code[i].length, &insn[0]);
		find_registers(&insn[0], &b->insn[i]);
		find_cost(&shape, &insn[0], &b->insn[i]);
		b->insn[i].length = code[i].length & 15u;
		b->insn[i].mark = timed_mark_of(&insn[0]) & 15u;
		if (i > 0)
			fuse_pair(&shape, &insn[1], &insn[0], &b->insn[i - 1]);
		b->end += code[i].length;
		insn[1] = insn[0];
	}
	b->returns = timed_is_return(&insn[1]);
	return b;
}
