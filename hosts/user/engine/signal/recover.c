/* SPDX-License-Identifier: MIT */
/*
 * recover.c: state recovery, for when a signal or a fault stops translated code in the middle.
 *
 * It finds which of the block's instructions have retired, and corrects the charges so that exactly
 * these are charged.  It restores the program's registers as they are after the last of them.
 */
#include <asm/sigcontext.h>

#include "engine/cache/cache.h"
#include "engine/count/activity.h"
#include "engine/count/count.h"
#include "engine/count/meter_list.h"
#include "engine/memory/access.h"
#include "engine/rt/context.h"
#include "engine/rt/sys.h"
#include "engine/signal/recover.h"
#include "engine/translate/path.h"
#include "engine/translate/translate.h"
#include "engine/x86/emit.h"
#include "engine/x86/recognise.h"

/* A place in the code of a block. */
struct place {
	unsigned index; /* of the instruction */
	bool charged;	/* after the check */
	bool exact;	/* nothing of the instruction, or of the charge, has run */
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

bool recover_is_possible(uint64_t rip)
{
	const struct block *b = block_of_code(rip);

	return b && place_in(b, offset_in(b, rip)).exact;
}

/* Restores RSP, if the push of a return address above 2 GiB faults after RSP has moved. */
static void restore_stack(struct sigcontext *regs)
{
	if (recognise_half_push((const uint8_t *)regs->rip))
		regs->rsp += 8;
}

/* Restores the program's registers that emitted code has spilled, at regs->rip.  That is in the
 * code of this instruction, which begins at `code`. */
static void restore_spilled(struct sigcontext *regs, const struct insn *insn)
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

static void restore_register(struct sigcontext *regs, unsigned reg, uint64_t value)
{
	if (reg == RSI)
		regs->rsi = value;
	else if (reg == RDI)
		regs->rdi = value;
	else if (reg == RBP)
		regs->rbp = value;
}

/* Handles an operand out of reach, which goes through a register (emit_copy() in emit.c).  The
 * code saves the register, then has MOV reg, imm64, then the instruction. */
static void restore_far(struct sigcontext *regs, const struct insn *insn)
{
	unsigned reg;

	if (insn->rip_offset && recognise_far_operand((const uint8_t *)regs->rip, &reg))
		restore_register(regs, reg, current->spill_flags);
}

/* Restores the register through which an instruction with the program's GS reaches its operand. */
static void restore_in_gs(struct sigcontext *regs, const struct insn *insn)
{
	uint8_t copy[INSN_BYTES_MAX];

	if (!insn->rip_offset)
		return;
	memcpy(copy, (const uint8_t *)current->pc, insn->length);
	restore_register(regs, emit_through_register(insn, copy), current->spill_rcx);
}

/* Some processors have written the return address below RSP when CALL faults because its target is
 * no address.  That is the address after the copy, and becomes the program's. */
static void restore_return(const struct sigcontext *regs, const struct insn *insn)
{
	uint64_t *below = (uint64_t *)(regs->rsp - sizeof(*below));

	if (insn->kind == INSN_CALL_IND && access_readable((uint64_t)below, sizeof(*below)) &&
	    *below == regs->rip + insn->length)
		*below = current->pc + insn->length;
}

static void recover_step(struct sigcontext *regs, const struct step *s, unsigned retired)
{
	bool exact;
	unsigned index = step_index(s, regs->rip, &exact);
	struct insn insn;

	current->run.step_left = true;
	current->pc = s->pc;
	for (unsigned i = 0; i < index + retired; i++) {
		uint64_t ip = current->pc;

		current->pc += s->insn[i].bytes;
		if (i < index)
			counting_retire_plain(ip, current->pc, s->insn[i].signals);
		else /* a trap: it accesses no memory */
			counting_retire(ip, current->pc, s->insn[i].signals, NULL);
	}
	if (exact || retired ||
	    !insn_decode((const uint8_t *)current->pc, INSN_BYTES_MAX, current->pc, &insn))
		return;
	if (s->uses_gs) {
		restore_in_gs(regs, &insn);
		restore_return(regs, &insn);
	} else if (!s->special) {
		restore_spilled(regs, &insn);
	}
	restore_far(regs, &insn);
}

uint64_t *recover_high_register(struct sigcontext *regs, unsigned reg)
{
	__u64 *high[] = {&regs->r8,  &regs->r9,	 &regs->r10, &regs->r11,
			 &regs->r12, &regs->r13, &regs->r14, &regs->r15};

	return (uint64_t *)high[reg - 8];
}

/* Restores the registers that a block spills for its log, until its last instruction. */
static void recover_activity(struct sigcontext *regs, const struct block *b, const struct place *at,
			     unsigned retired)
{
	const struct activity_block *running;

	if (!current->list->activity || !at->charged || (at->index + 1u == b->insns && !at->exact))
		return;
	running = activity_running();
	*recover_high_register(regs, running->log_register) = current->spill_high[0];
	*recover_high_register(regs, running->other_register) = current->spill_high[1];
	activity_leave(at->index + retired);
}

void recover(struct sigcontext *regs, unsigned retired)
{
	const struct block *b = block_of_code(regs->rip);
	const struct step *s = step_of_code(regs->rip);
	struct place at;
	struct insn insn;

	if (s) {
		recover_step(regs, s, retired);
		return;
	}
	if (!b)
		return; /* at an instruction boundary: current->pc is right */
	at = place_in(b, offset_in(b, regs->rip));
	recover_activity(regs, b, &at, retired);
	at.index += retired;
	for (unsigned m = 0; m < current->list->meters; m++) {
		if (at.charged)
			current->shard[m][0] += side_table_occurrences(b, at.index, b->insns, m);
		else
			current->shard[m][0] -= side_table_occurrences(b, 0, at.index, m);
	}
	current->pc = side_table_pc_of(b, at.index);
	if (at.exact || retired ||
	    !insn_decode((const uint8_t *)current->pc, INSN_BYTES_MAX, current->pc, &insn))
		return;
	restore_spilled(regs, &insn);
	restore_far(regs, &insn);
}
