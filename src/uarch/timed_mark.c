/* SPDX-License-Identifier: MIT */
/*
 * timed_mark.c: instructions that events count by their kind (timed.h).
 *
 * Length-changing prefixes: Intel's Optimization Reference Manual (3.4.2.3).  An operand-size
 * prefix makes an immediate operand shorter.  Moves are left out: from Sandy Bridge on, they are no
 * problem.
 */
#include "src/uarch/instruction.h"
#include "src/uarch/timed.h"

#define PAGE(map, prefix) ((map)*FORM_LEGACY_PREFIXES + (prefix))
#define PREFIX_66	  1u
#define PREFIX_F3	  2u

static bool is_branch(const struct instruction *insn)
{
	unsigned map = insn->page / FORM_LEGACY_PREFIXES, opcode = insn->opcode;

	if (insn->page >= FORM_PAGE_VEX || map > 1)
		return false;
	if (map == 1)
		return (opcode & 0xf0) == 0x80;
	return (opcode & 0xf0) == 0x70 || (opcode >= 0xe0 && opcode <= 0xe3) ||
	       (opcode >= 0xe8 && opcode <= 0xeb) || (opcode & 0xfe) == 0xc2 ||
	       (opcode == 0xff && insn->reg % 8 >= 2 && insn->reg % 8 <= 5);
}

bool timed_is_return(const struct instruction *insn)
{
	return insn->page < FORM_LEGACY_PREFIXES && (insn->opcode & 0xfe) == 0xc2;
}

/* Returns whether an operand-size prefix changes the length of an instruction of one opcode
 * byte. */
static bool changes_length(const struct instruction *insn)
{
	unsigned opcode = insn->opcode;

	if (insn->page != PAGE(0, PREFIX_66) || insn->wide)
		return false;
	if (opcode < 0x40)
		return (opcode & 7) == 5; /* ADD AX and others */
	return opcode == 0x68 || opcode == 0x69 || opcode == 0x81 || opcode == 0xa9 ||
	       (opcode == 0xf7 && insn->reg % 8 < 2);
}

static enum timed_mark prefetch_of(const struct instruction *insn)
{
	static const uint8_t hints[] = {MARK_PREFETCH_NTA, MARK_PREFETCH_T0, MARK_PREFETCH_T1_T2,
					MARK_PREFETCH_T1_T2};
	unsigned which = insn->reg % 8;

	if (insn->page != PAGE(1, 0) || !insn->memory)
		return MARK_NONE;
	if (insn->opcode == 0x0d)
		return which == 1 || which == 2 ? MARK_PREFETCH_W : MARK_NONE;
	return insn->opcode == 0x18 && which < 4 ? (enum timed_mark)hints[which] : MARK_NONE;
}

/* Returns whether one of the fields is a vector register. */
static bool has_vector(const struct instruction *insn, unsigned fields)
{
	for (unsigned field = FORM_REG; field <= FORM_IS4; field <<= 1)
		if (fields & field && FORM_KIND(insn->operands->kinds, field) == FORM_VECTOR)
			return true;
	return false;
}

static enum timed_mark vector_of(const struct instruction *insn)
{
	const struct form_operands *o = insn->operands;

	if (insn->page < FORM_PAGE_VEX)
		return has_vector(insn, o->writes) ? MARK_SSE : MARK_NONE;
	if (insn->page == FORM_PAGE_VEX && insn->opcode == 0x77)
		return MARK_AVX_CLEAR;
	if (!has_vector(insn, o->writes))
		return MARK_NONE;
	return insn->vector_length ? MARK_AVX_WIDE : MARK_AVX;
}

enum timed_mark timed_mark_of(const struct instruction *insn)
{
	enum timed_mark mark = prefetch_of(insn);

	if (mark != MARK_NONE)
		return mark;
	if (is_branch(insn))
		return MARK_BRANCH;
	if (changes_length(insn))
		return MARK_LENGTH;
	if (insn->page == PAGE(0, PREFIX_F3) && insn->opcode == 0x90 && !insn->opcode_register)
		return MARK_PAUSE;
	if (insn->page == PAGE(0, 0) && insn->opcode == 0xc7 && !insn->memory && insn->reg == 7)
		return MARK_TRANSACTION;
	return vector_of(insn);
}
