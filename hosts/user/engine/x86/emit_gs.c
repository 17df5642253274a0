/* SPDX-License-Identifier: MIT */
/* emit_gs.c: the machine code around an instruction that needs the program's GS base (emit.h). */
#include "engine/rt/context.h"
#include "engine/x86/emit.h"

/* MOV RAX, [address]; MOV [address], RAX; MOV RAX, imm64 */
#define MOV_RAX_FROM 0xa1
#define MOV_RAX_TO   0xa3
#define MOV_RAX_IMM  0xb8

/* Emits MOV between RAX and a word at a 64-bit address. */
static void emit_rax(struct emit *e, unsigned opcode, const void *word)
{
	emit_bytes(e, (const uint8_t[]){0x48, (uint8_t)opcode}, 2);
	emit_bytes(e, (const uint8_t *)&word, 8);
}

static const uint8_t wrgsbase[] = {0xf3, 0x48, 0x0f, 0xae, 0xd8}; /* of RAX */
static const uint8_t rdgsbase[] = {0xf3, 0x48, 0x0f, 0xae, 0xc8};

void emit_program_gs(struct emit *e, struct context *c)
{
	emit_save(e, RAX, CTX_SPILL_FLAGS);
	emit_rax(e, MOV_RAX_FROM, &c->program_gs);
	emit_bytes(e, wrgsbase, sizeof(wrgsbase));
	emit_rax(e, MOV_RAX_FROM, &c->spill_flags);
}

void emit_with_gs(struct emit *e, const struct insn *insn, uint64_t pc, struct context *c)
{
	uint8_t copy[INSN_BYTES_MAX];
	unsigned scratch = INSN_NO_REG;

	memcpy(copy, (const uint8_t *)pc, insn->length);
	if (insn->rip_offset) {
		scratch = emit_through_register(insn, copy);
		emit_save(e, scratch, CTX_SPILL_RCX);
		emit_movabs(e, scratch, emit_rip_target(insn, pc));
	}
	emit_program_gs(e, c);
	emit_few(e, copy, insn->length);
	emit_rax(e, MOV_RAX_TO, &c->spill_flags);
	if (insn->kind == INSN_GSBASE) {
		emit_bytes(e, rdgsbase, sizeof(rdgsbase));
		emit_rax(e, MOV_RAX_TO, &c->program_gs);
	}
	emit_rax(e, MOV_RAX_IMM, c);
	emit_bytes(e, wrgsbase, sizeof(wrgsbase));
	emit_load(e, RAX, CTX_SPILL_FLAGS);
	if (insn->rip_offset)
		emit_load(e, scratch, CTX_SPILL_RCX);
}

void emit_faults(struct emit *e)
{
	emit_bytes(e, (const uint8_t[]){0xf4, 0x0f, 0x0b}, 3); /* HLT; UD2 */
}
