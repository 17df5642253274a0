/* SPDX-License-Identifier: MIT */
/* operands.h: constants and values in instructions of the program (operands.c). */
#ifndef SOFTPMU_ENGINE_OPERANDS_H
#define SOFTPMU_ENGINE_OPERANDS_H

#include <stdbool.h>
#include <stdint.h>

#include <hosts/user/decode/decode.h>

#define LEA	0x8d
#define MOV_REG 0xb8 /* to 0xbf: r = immediate */
#define MOV_IMM 0xc7 /* r/m = immediate of 32 bits */

/* Returns whether operand_constant() may return a constant.  Without branches: the processor could
 * not predict them. */
static inline bool operand_may_be_constant(const struct insn *insn)
{
	unsigned opcode = insn->opcode;

	return ((opcode == LEA) & (insn->rip_offset != 0)) | (opcode == MOV_IMM) |
	       ((opcode & 0xf8) == MOV_REG);
}

/* For these instructions: the address that LEA computes from RIP, or the immediate of a MOV; 0: the
 * instruction is another one.  `code`: its bytes. */
uint64_t operand_constant(const struct insn *insn, const uint8_t *code, uint64_t pc);

/* The 64-bit value that a MOV stores.  False: the instruction is another one. */
bool operand_stored(const struct insn *insn, const uint8_t *code, const uint64_t gpr[16],
		    uint64_t *value);

/* Returns the number of the register that is the r/m operand; INSN_NO_REG: it is memory. */
unsigned operand_register(const struct insn *insn, const uint8_t *code);

#endif
