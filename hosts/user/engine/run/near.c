/* SPDX-License-Identifier: MIT */
/*
 * near.c: near branches that the engine runs itself.
 *
 * They are JMP and CALL through memory in GS, because GS is the engine's, and those whose
 * address has 16 bits (insn_near_16).  A branch that faults runs unchanged: it faults before it
 * has changed anything.
 */
#include "engine/run/near.h"

#include "engine/count/count.h"
#include "engine/memory/access.h"
#include "engine/rt/context.h"
#include "engine/rt/segments.h"
#include "engine/rt/sys.h"
#include "engine/x86/keys.h"
#include "engine/x86/operands.h"

struct branch {
	const struct step *step;
	const struct insn *insn;
	unsigned bytes; /* of an address on the stack or in an operand */
	uint64_t target;
};

/* Reads an address.  Returns false if that faults. */
static bool read_target(struct branch *b, uint64_t at)
{
	if (!access_readable(at, b->bytes))
		return false;
	b->target = 0;
	memcpy(&b->target, (const void *)at, b->bytes);
	return true;
}

static bool read_operand(struct branch *b)
{
	READING_CODE;
	unsigned reg = operand_register(b->insn, (const uint8_t *)b->step->pc);

	if (reg != INSN_NO_REG) {
		b->target = b->bytes == 2 ? (uint16_t)current->gpr[reg] : current->gpr[reg];
		return true;
	}
	return read_target(b, insn_data_address(b->insn, b->step->pc, current->gpr, read_fs_base(),
						current->program_gs));
}

static bool push_return(const struct branch *b)
{
	uint64_t back = b->step->pc + b->insn->length, sp = current->gpr[4] - b->bytes;

	if (!access_writable(sp, b->bytes))
		return false;
	memcpy((void *)sp, &back, b->bytes);
	current->gpr[4] = sp;
	return true;
}

/* Returns false if the branch faults. */
static bool follow(struct branch *b)
{
	switch (b->insn->kind) {
	case INSN_JMP_IND:
		return read_operand(b) && is_canonical(b->target);
	case INSN_CALL_IND:
		return read_operand(b) && is_canonical(b->target) && push_return(b);
	case INSN_RET:
		if (!read_target(b, current->gpr[4]) || !is_canonical(b->target))
			return false;
		current->gpr[4] += b->bytes + b->insn->immediate;
		return true;
	default: /* CALL with a displacement */
		return push_return(b);
	}
}

bool near_run(const struct step *s, const struct insn *insn, const struct accesses *list)
{
	struct branch b = {
		.step = s,
		.insn = insn,
		.bytes = insn->near_16 ? 2 : 8,
		.target = insn->target,
	};

	if (!follow(&b))
		return false;
	current->pc = b.target;
	counting_retire(s->pc, b.target, insn->signals, list);
	current->run.traps = current->run.trap_flag;
	return true;
}
