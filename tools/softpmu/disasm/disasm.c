/* SPDX-License-Identifier: MIT */
/*
 * disasm.c: disassembles with Zydis, in Intel's syntax or in AT&T's (disasm_att.c).  Each address
 * in an instruction (the target of a branch, a RIP-relative operand) is followed by its symbol.
 */
#include "tools/softpmu/disasm/disasm.h"

#include <Zydis/Zydis.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/disasm/disasm_att.h"

struct disasm {
	ZydisDecoder decoder;
	ZydisFormatter formatter;
	disasm_name *name;
	void *opaque;
	bool intel;
};

/*
 * Appends the name of a branch's target, or the address and the name of a RIP-relative operand.
 */
static void append_name(const struct disasm *disasm, const ZydisDecodedInstruction *instruction,
			const ZydisDecodedOperand *operands, uint64_t address, char *text,
			size_t text_bytes)
{
	size_t used = strlen(text);
	char name[200];
	ZyanU64 target;
	bool named;
	uint8_t i;

	for (i = 0; i < instruction->operand_count_visible; i++) {
		const ZydisDecodedOperand *operand = &operands[i];
		bool branch =
			operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand->imm.is_relative;
		bool relative = operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
				operand->mem.base == ZYDIS_REGISTER_RIP;

		if ((!branch && !relative) ||
		    !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(instruction, operand, address, &target)))
			continue;
		named = disasm->name(disasm->opaque, target, name, sizeof(name));
		if (relative)
			used += (size_t)snprintf(text + used, text_bytes - used, "  # %" PRIx64,
						 target);
		if (named && used < text_bytes)
			snprintf(text + used, text_bytes - used, " <%s>", name);
		return;
	}
}

struct disasm *disasm_new(bool intel, disasm_name *name, void *opaque)
{
	struct disasm *disasm = tool_alloc(sizeof(*disasm));
	bool made;

	disasm->name = name;
	disasm->opaque = opaque;
	disasm->intel = intel;
	made = ZYAN_SUCCESS(ZydisDecoderInit(&disasm->decoder, ZYDIS_MACHINE_MODE_LONG_64,
					     ZYDIS_STACK_WIDTH_64)) &&
	       ZYAN_SUCCESS(ZydisFormatterInit(&disasm->formatter, ZYDIS_FORMATTER_STYLE_INTEL)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(
		       &disasm->formatter, ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, 1)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(&disasm->formatter,
						      ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, 0)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(&disasm->formatter,
						      ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
						      ZYDIS_PADDING_DISABLED)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(&disasm->formatter,
						      ZYDIS_FORMATTER_PROP_DISP_PADDING,
						      ZYDIS_PADDING_DISABLED)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(&disasm->formatter,
						      ZYDIS_FORMATTER_PROP_IMM_PADDING,
						      ZYDIS_PADDING_DISABLED));
	if (made)
		return disasm;
	disasm_free(disasm);
	return NULL;
}

void disasm_free(struct disasm *disasm)
{
	free(disasm);
}

size_t disasm_one(struct disasm *disasm, const uint8_t *code, size_t room, uint64_t address,
		  char *text, size_t text_bytes)
{
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	bool good = ZYAN_SUCCESS(
		ZydisDecoderDecodeFull(&disasm->decoder, code, room, &instruction, operands));

	if (good && disasm->intel)
		good = ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
			&disasm->formatter, &instruction, operands,
			instruction.operand_count_visible, text, text_bytes, address, disasm));
	else if (good)
		disasm_att(&instruction, operands, address, text, text_bytes);
	if (!good) {
		snprintf(text, text_bytes, ".byte 0x%02x", code[0]);
		return 1;
	}
	append_name(disasm, &instruction, operands, address, text, text_bytes);
	return instruction.length;
}
