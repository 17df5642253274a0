/* SPDX-License-Identifier: MIT */
/*
 * emit_activity.c: emits the machine code that logs what a block accesses (count/activity.c).
 *
 *	save A and B; A = the place in the log; [A] = the block's number
 *	for each access whose address is not constant: [A + 8 * i] = its base register, or
 *		B = base + index * scale; [A + 8 * i] = B
 *	the place in the log = A + 8 * words; restore A and B
 *
 * A and B are two of R8 to R15 that no instruction of the block uses.  No flag changes.
 */
#include "engine/rt/context_words.h"
#include "engine/x86/emit.h"
#include "engine/x86/opcodes.h"

#define R8  8u
#define R12 12u /* as a base it needs a SIB byte */
#define R16 16u

#define REX(w, r, x, b) (0x40u | (w) << 3 | (r) << 2 | (x) << 1 | (b))

/* The register of a ModRM or SIB field with its extension. */
static unsigned high(unsigned extension, unsigned field)
{
	return extension ? 1u << (R8 + field) : 0;
}

/* The high registers of ModRM and SIB. */
static unsigned of_modrm(const uint8_t *modrm, unsigned r, unsigned x, unsigned b)
{
	unsigned set = high(r, *modrm >> 3 & 7) | high(b, *modrm & 7);

	if (*modrm < 0xc0 && (*modrm & 7) == 4)
		set |= high(x, modrm[1] >> 3 & 7) | high(b, modrm[1] & 7);
	return set;
}

unsigned emit_high_registers(const struct insn *insn, const uint8_t *code)
{
	const uint8_t *prefix = code + insn->prefix_bytes;
	unsigned r, x, b, vvvv = 0;

	if (insn->kind == INSN_SYSCALL)
		return 1u << 11;
	if (is_rex(*prefix)) {
		r = *prefix >> 2 & 1;
		x = *prefix >> 1 & 1;
		b = *prefix & 1;
	} else if (*prefix == PREFIX_VEX2 || *prefix == PREFIX_VEX3 || *prefix == PREFIX_EVEX ||
		   (*prefix == PREFIX_XOP && insn->opcode_offset > insn->prefix_bytes)) {
		bool is_short = *prefix == PREFIX_VEX2;

		r = !(prefix[1] >> 7);
		x = !is_short && !(prefix[1] >> 6 & 1);
		b = !is_short && !(prefix[1] >> 5 & 1);
		vvvv = ~(unsigned)prefix[is_short ? 1 : 2] >> 3 & 15;
		vvvv = vvvv >= R8 ? 1u << vvvv : 0;
	} else {
		return 0;
	}
	if (insn->modrm_offset)
		return of_modrm(code + insn->modrm_offset, r, x, b) | vvvv;
	return high(b, insn->opcode & 7) | vvvv;
}

bool emit_choose_registers(unsigned used, uint8_t *log, uint8_t *other)
{
	unsigned found = 0;

	for (unsigned reg = R16 - 1; reg >= R8; reg--) {
		if (used >> reg & 1)
			continue;
		if (!(found & 1) && reg != R12) {
			*log = (uint8_t)reg;
			found |= 1;
		} else if (!(found & 2)) {
			*other = (uint8_t)reg;
			found |= 2;
		}
	}
	return found == 3;
}

/* MOV between R8 to R15 and a word of the context.  REX.R follows the prefix of GS, if there is
 * one. */
static void with_rex_r(struct emit *e, unsigned reg, unsigned offset,
		       void (*move)(struct emit *e, unsigned reg, unsigned offset))
{
	uint8_t *rex = e->at + (emit_context ? 0 : 1);

	move(e, reg & 7, offset);
	*rex |= REX(0, 1, 0, 0);
}

/* MOV [A + 8 * word], reg */
static void put_word(struct emit *e, unsigned log, unsigned word, unsigned reg)
{
	emit8(e, REX(1, reg >> 3, 0, 1));
	emit8(e, 0x89);
	emit8(e, 0x80 | (reg & 7) << 3 | (log & 7));
	emit32(e, word * 8);
}

void emit_activity_begin(struct emit *e, unsigned log, unsigned other, int32_t number)
{
	with_rex_r(e, log, CTX_SPILL_HIGH, emit_save);
	with_rex_r(e, other, CTX_SPILL_HIGH + 8, emit_save);
	with_rex_r(e, log, CTX_ACTIVITY, emit_load);
	emit8(e, REX(1, 0, 0, 1));
	emit8(e, 0xc7); /* MOV QWORD [A], number */
	emit8(e, 0x40 | (log & 7));
	emit8(e, 0);
	emit32(e, (uint32_t)number);
}

void emit_activity_register(struct emit *e, unsigned log, unsigned word, unsigned reg)
{
	put_word(e, log, word, reg);
}

void emit_activity_sum(struct emit *e, unsigned log, unsigned other, unsigned word,
		       const struct insn_access *access)
{
	bool has_base = access->base != INSN_NO_REG;
	unsigned base = has_base ? access->base : 5; /* none */

	/* LEA B, [base + index * scale], with a displacement of 0 */
	emit8(e, REX(1, 1, access->index >> 3, base >> 3));
	emit8(e, 0x8d);
	emit8(e, (has_base ? 0x44u : 0x04u) | (other & 7) << 3);
	emit8(e, (unsigned)access->scale_shift << 6 | (access->index & 7u) << 3 | (base & 7));
	if (has_base)
		emit8(e, 0);
	else
		emit32(e, 0);
	put_word(e, log, word, other);
}

void emit_activity_end(struct emit *e, unsigned log, unsigned other, unsigned words)
{
	emit8(e, REX(1, 1, 0, 1));
	emit8(e, 0x8d); /* LEA A, [A + 8 * words] */
	emit8(e, 0x80 | (log & 7) << 3 | (log & 7));
	emit32(e, words * 8);
	with_rex_r(e, log, CTX_ACTIVITY, emit_save);
	with_rex_r(e, log, CTX_SPILL_HIGH, emit_load);
	with_rex_r(e, other, CTX_SPILL_HIGH + 8, emit_load);
}
