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

void emit_with_gs(struct emit *e, const struct insn *insn, uint64_t pc, struct context *c)
{
	static const uint8_t wrgsbase[] = {0xf3, 0x48, 0x0f, 0xae, 0xd8}; /* of RAX */
	static const uint8_t rdgsbase[] = {0xf3, 0x48, 0x0f, 0xae, 0xc8};

	emit_save(e, RAX, CTX_SPILL_FLAGS);
	emit_rax(e, MOV_RAX_FROM, &c->program_gs);
	emit_bytes(e, wrgsbase, sizeof(wrgsbase));
	emit_rax(e, MOV_RAX_FROM, &c->spill_flags);
	emit_copy(e, insn, (const uint8_t *)pc, pc);
	emit_rax(e, MOV_RAX_TO, &c->spill_flags);
	if (insn->kind == INSN_GSBASE) {
		emit_bytes(e, rdgsbase, sizeof(rdgsbase));
		emit_rax(e, MOV_RAX_TO, &c->program_gs);
	}
	emit_rax(e, MOV_RAX_IMM, c);
	emit_bytes(e, wrgsbase, sizeof(wrgsbase));
	emit_load(e, RAX, CTX_SPILL_FLAGS);
}

void emit_faults(struct emit *e)
{
	emit_bytes(e, (const uint8_t[]){0xf4, 0x0f, 0x0b}, 3); /* HLT; UD2 */
}
