/* SPDX-License-Identifier: MIT */
/* disasm_att.h: a decoded instruction in AT&T's syntax. */
#ifndef SOFTPMU_TOOL_DISASM_ATT_H
#define SOFTPMU_TOOL_DISASM_ATT_H

#include <Zydis/Zydis.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the instruction that runs at `address` as GNU as reads it and objdump prints it.
 * `operands` are the visible ones. */
void disasm_att(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
		uint64_t address, char *text, size_t bytes);

#endif
