/* SPDX-License-Identifier: MIT */
/*
 * step.c: one instruction in a form that comes back to the engine: the precise form.
 * Steps stand in a small table by program address, each with room for its code.
 */
#include <linux/mman.h>

#include "emit.h"
#include "frames.h"
#include "path.h"
#include "sys.h"

#define STEPS	   16384
#define STEP_BYTES 128

uint64_t program_gs;

static struct step *steps;
static uint8_t *steps_code;

void steps_start(void)
{
	steps = engine_memory(STEPS * sizeof(*steps));
	steps_code = (uint8_t *)memory_place_first(STEPS * STEP_BYTES);
	if (!steps_code || is_error(map_memory((uint64_t)steps_code, STEPS * STEP_BYTES,
					       PROT_READ | PROT_WRITE | PROT_EXEC,
					       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)))
		engine_fail(126, "no room for single steps below 2 GiB");
}

void steps_forget(void)
{
	if (steps)
		memset(steps, 0, STEPS * sizeof(*steps));
}

/* MOV between RAX and a word at a 64-bit address. */
static void emit_rax(struct emit *e, unsigned opcode, const void *word)
{
	emit_bytes(e, (const uint8_t[]){0x48, (uint8_t)opcode}, 2);
	emit_bytes(e, (const uint8_t *)&word, 8);
}

/* The program's GS base for one instruction; no flag changes and the stack is not touched. */
static void emit_with_gs(struct emit *e, const struct insn *insn, uint64_t pc)
{
	static const uint8_t wrgsbase[] = {0xf3, 0x48, 0x0f, 0xae, 0xd8}; /* of RAX */

	emit_save(e, RAX, CTX_SPILL_FLAGS);
	emit_rax(e, 0xa1, &program_gs);
	emit_bytes(e, wrgsbase, sizeof(wrgsbase));
	emit_rax(e, 0xa1, &context->spill_flags);
	emit_copy(e, insn, (const uint8_t *)pc, pc);
	emit_rax(e, 0xa3, &context->spill_flags);
	emit_rax(e, 0xb8, context); /* MOV RAX, imm64 */
	emit_bytes(e, wrgsbase, sizeof(wrgsbase));
	emit_load(e, RAX, CTX_SPILL_FLAGS);
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
		if (insn->uses_gs)
			emit_with_gs(e, insn, pc);
		else
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

	bool changes = memory_is_volatile(pc);

	if (s->pc == pc && s->code && !changes)
		return s;
	end = memory_code_end(pc);
	if (!end || (changes && !memory_readable(pc, 1)))
		return NULL; /* a stack has not grown so far yet */
	if (!path_decode(pc, end, &s->insn)) {
		s->insn.kind = INSN_UNDEFINED;
		s->insn.length = (uint8_t)(end - pc);
	}
	if (!changes) {
		memory_watch_page(pc);
		memory_watch_page(pc + s->insn.length - 1);
	}
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
