/* SPDX-License-Identifier: MIT */
/* operands.c: constants and values in instructions of the program. */
#include "engine/x86/operands.h"

#include <string.h>

#include <hosts/user/decode/decode.h>

#include "engine/x86/opcodes.h"

#define MOV_STORE 0x89 /* r/m = r */
#define REX_R	  0x04
#define REX_B	  0x01
#define MODRM_REG 0xc0 /* to 0xff: r/m is a register */

/* The last bytes of the instruction, with their sign. */
static uint64_t immediate(const struct insn *insn, const uint8_t *code, unsigned bytes)
{
	int64_t wide;
	int32_t narrow;

	if (bytes == sizeof(wide)) {
		memcpy(&wide, code + insn->length - sizeof(wide), sizeof(wide));
		return (uint64_t)wide;
	}
	memcpy(&narrow, code + insn->length - sizeof(narrow), sizeof(narrow));
	return (uint64_t)(int64_t)narrow;
}

uint64_t operand_constant(const struct insn *insn, const uint8_t *code, uint64_t pc)
{
	unsigned trailing = insn->length - insn->opcode_offset - 1u;

	if (insn->kind != INSN_PLAIN ||
	    (insn->opcode_offset && code[insn->opcode_offset - 1] == OPCODE_ESCAPE))
		return 0;
	if (insn->opcode == LEA)
		return insn->rip_offset ? pc + insn->length + (uint64_t)insn->displacement : 0;
	if (insn->opcode == MOV_IMM)
		return insn->modrm_offset && trailing >= 5 ? immediate(insn, code, 4) : 0;
	return !insn->modrm_offset && (trailing == 4 || trailing == 8)
		       ? immediate(insn, code, trailing)
		       : 0;
}

bool operand_stored(const struct insn *insn, const uint8_t *code, const uint64_t gpr[16],
		    uint64_t *value)
{
	uint8_t rex = code[insn->prefix_bytes];
	unsigned reg;

	if (insn->kind != INSN_PLAIN || insn->opcode_offset != insn->prefix_bytes + 1 ||
	    !is_rex_w(rex) || !insn->modrm_offset)
		return false;
	reg = code[insn->modrm_offset] >> 3 & 7;
	if (insn->opcode == MOV_STORE) {
		*value = gpr[reg + (rex & REX_R ? 8 : 0)];
		return true;
	}
	*value = immediate(insn, code, 4);
	return insn->opcode == MOV_IMM && !reg;
}

unsigned operand_register(const struct insn *insn, const uint8_t *code)
{
	unsigned modrm = code[insn->modrm_offset];
	unsigned rex = insn->opcode_offset ? code[insn->opcode_offset - 1] : 0;

	if (modrm < MODRM_REG)
		return INSN_NO_REG;
	return (modrm & 7) | (is_rex(rex) && rex & REX_B ? 8 : 0);
}
