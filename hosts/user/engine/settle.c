/* SPDX-License-Identifier: MIT */
/*
 * settle.c: translated code that is left in the middle: what has retired, which
 * meters were charged for it, and the program's own registers there.
 */
#include <asm/sigcontext.h>

#include "emit.h"
#include "engine.h"
#include "path.h"
#include "settle.h"
#include "sys.h"

#define MOVABS_BYTES 10

/* A place in a block's code. */
struct place {
	unsigned index; /* of the instruction */
	bool charged;	/* behind the check */
	bool exact;	/* nothing of the instruction, or of the charge, has been done */
};

static struct place place_in(const struct block *b, uint32_t offset)
{
	const uint8_t *map = block_map(b);
	uint32_t start, end = 0;

	for (unsigned i = 0; i < b->insns; i++) {
		if (i == b->check_at) {
			start = end;
			end += map[0] | (uint32_t)map[1] << 8;
			if (offset < end)
				return (struct place){i, false, offset == start};
		}
		start = end;
		end += map[2 + i];
		if (offset < end)
			return (struct place){i, i >= b->check_at, offset == start};
	}
	return (struct place){b->insns, true, !b->insns && !offset};
}

static uint32_t offset_in(const struct block *b, uint64_t rip)
{
	return (uint32_t)(rip - (uint64_t)cache_base) - b->code;
}

bool settle_possible(uint64_t rip)
{
	const struct block *b = block_of_code(rip);

	return b && place_in(b, offset_in(b, rip)).exact;
}

/* The push of a return address above 2 GiB that faults when RSP has moved already. */
static void restore_stack(struct sigcontext *regs)
{
	static const uint8_t low[] = {0xc7, 0x04, 0x24}, high[] = {0xc7, 0x44, 0x24, 0x04};

	if (!memcmp((const void *)regs->rip, low, sizeof(low)) ||
	    !memcmp((const void *)regs->rip, high, sizeof(high)))
		regs->rsp += 8;
}

/* The program's own registers where code that we wrote has borrowed some: at regs->rip, which is
 * in the code of this instruction that begins at `code`. */
static void restore_borrowed(struct sigcontext *regs, const struct insn *insn)
{
	switch (insn->kind) {
	case INSN_CALL_IND:
	case INSN_RET:
	case INSN_JMP_IND:
		if (insn->kind == INSN_CALL_IND)
			restore_stack(regs);
		regs->rcx = current->spill_rcx;
		break;
	case INSN_CALL_REL:
		restore_stack(regs);
		break;
	default:
		break;
	}
}

/* An operand that is out of reach goes through a register (emit_copy() in emit.c): it is saved; MOV
 * reg, imm64; the instruction. */
static void restore_far(struct sigcontext *regs, const struct insn *insn)
{
	const uint8_t *load = (const uint8_t *)regs->rip - MOVABS_BYTES;
	unsigned reg;

	if (is_indirect(insn) || !insn->rip_offset ||
	    !emit_is_save(load - emit_word_bytes(), &reg) || load[0] != 0x48 ||
	    (load[1] & 0xf8) != 0xb8)
		return; /* or NOPs stand in front of it */
	if (reg == RSI)
		regs->rsi = current->spill_flags;
	else if (reg == RDI)
		regs->rdi = current->spill_flags;
	else if (reg == RBP)
		regs->rbp = current->spill_flags;
}

static void settle_step(struct sigcontext *regs, const struct step *s, unsigned retired)
{
	bool exact;
	unsigned index = step_index(s, regs->rip, &exact);
	struct insn insn;

	current->run.step_left = true;
	current->pc = s->pc;
	for (unsigned i = 0; i < index + retired; i++) {
		uint64_t ip = current->pc;

		current->pc += s->insn[i].bytes;
		counting_retire(ip, current->pc, s->insn[i].signals, NULL);
	}
	if (exact || retired ||
	    !insn_decode((const uint8_t *)current->pc, INSN_BYTES_MAX, current->pc, &insn))
		return;
	restore_borrowed(regs, &insn);
	restore_far(regs, &insn);
}

void settle(struct sigcontext *regs, unsigned retired)
{
	const struct block *b = block_of_code(regs->rip);
	const struct step *s = step_of_code(regs->rip);
	struct place at;
	struct insn insn;

	if (s) {
		settle_step(regs, s, retired);
		return;
	}
	if (!b)
		return; /* at an instruction boundary: current->pc is right */
	at = place_in(b, offset_in(b, regs->rip));
	at.index += retired;
	for (unsigned m = 0; m < meters; m++) {
		if (at.charged)
			current->lane[m][0] += block_occurrences(b, at.index, b->insns, m);
		else
			current->lane[m][0] -= block_occurrences(b, 0, at.index, m);
	}
	current->pc = block_pc_of(b, at.index);
	if (at.exact || retired ||
	    !insn_decode((const uint8_t *)current->pc, 15, current->pc, &insn))
		return;
	restore_borrowed(regs, &insn);
	restore_far(regs, &insn);
}
