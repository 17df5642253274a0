/* SPDX-License-Identifier: MIT */
/*
 * disasm_att.c: AT&T's syntax, as GNU as reads it.  GNU as would misread Zydis' own version.  That
 * version has Intel's mnemonics, sizes in other places, and no star before the target of an
 * indirect branch.
 *
 * AT&T's syntax has two exceptions.  Operands are in reverse order, except those of ENTER.  The x87
 * subtractions and divisions with and without R are exchanged if their result is not in ST.
 */
#include "tools/softpmu/disasm/disasm_att.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tools/softpmu/disasm/disasm_att_names.h"

struct writer {
	const ZydisDecodedInstruction *instruction;
	const ZydisDecodedOperand *operands;
	uint64_t address;
	char *text;
	size_t room;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *writer, const char *format,
						      ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(writer->text, writer->room, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= writer->room)
		length = writer->room ? (int)writer->room - 1 : 0;
	writer->text += length;
	writer->room -= (size_t)length;
}

/* --- mnemonics --------------------------------------------------------------------------- */

static char size_letter(unsigned bits)
{
	switch (bits) {
	case 8:
		return 'b';
	case 16:
		return 'w';
	case 32:
		return 'l';
	default:
		return 'q';
	}
}

static bool is_one_of(const char *name, const char *list)
{
	size_t length = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += length) {
		if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return true;
	}
	return false;
}

static const ZydisDecodedOperand *memory_operand(const struct writer *writer)
{
	for (size_t i = 0; i < writer->instruction->operand_count_visible; i++) {
		if (writer->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return &writer->operands[i];
	}
	return NULL;
}

/* Returns true if a register, other than the count of a shift, tells the size of the operation. */
static bool register_tells_size(const struct writer *writer)
{
	for (size_t i = 0; i < writer->instruction->operand_count_visible; i++) {
		const ZydisDecodedOperand *operand = &writer->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    operand->encoding != ZYDIS_OPERAND_ENCODING_NONE)
			return true;
	}
	return false;
}

/* Returns what follows the mnemonic of an x87 instruction with a memory operand. */
static const char *x87_suffix(const char *name, unsigned bits)
{
	if (is_one_of(name, "fld fst fstp fadd fmul fcom fcomp fsub fsubr fdiv fdivr"))
		return bits == 32 ? "s" : bits == 64 ? "l" : "t";
	if (is_one_of(name, "fild fist fistp fisttp fiadd fimul ficom ficomp fisub fisubr fidiv "
			    "fidivr"))
		return bits == 16 ? "s" : bits == 32 ? "l" : "ll";
	return "";
}

/* Returns the letter for the size of the memory operand, where no register tells it: conversions
 * to half the length, and tests of a class. */
static const char *vector_suffix(const struct writer *writer, const char *name)
{
	unsigned bits = writer->instruction->avx.vector_length;
	bool halves = is_one_of(name, "vcvtpd2ps vcvtpd2dq vcvttpd2dq vcvtpd2udq vcvttpd2udq "
				      "vcvtqq2ps vcvtuqq2ps");
	bool classes = is_one_of(name, "vfpclassps vfpclasspd");

	if ((!halves && !classes) || writer->instruction->avx.broadcast.mode)
		return "";
	return bits == 128 ? "x" : bits == 256 ? "y" : classes ? "z" : "";
}

static const char integers[] =
	"mov add adc sub sbb and or xor cmp test inc dec neg not mul imul div "
	"idiv shl shr sar rol ror rcl rcr bt bts btr btc nop";
static const char conversions[] = "cvtsi2sd cvtsi2ss vcvtsi2sd vcvtsi2ss vcvtusi2sd vcvtusi2ss";

static void put_suffix(struct writer *writer, const char *name)
{
	const ZydisDecodedOperand *memory = memory_operand(writer);

	if (!strcmp(name, "crc32"))
		put(writer, "%c", size_letter(writer->operands[1].size));
	if (is_one_of(name, "sysret sysexit"))
		put(writer, "%c", writer->instruction->raw.rex.W ? 'q' : 'l');
	if (!strcmp(name, "push") && writer->instruction->operand_width == 16 &&
	    writer->operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
		put(writer, "w");
	if (!memory)
		return;
	if ((is_one_of(name, integers) && !register_tells_size(writer)) || !strcmp(name, "nop") ||
	    is_one_of(name, conversions))
		put(writer, "%c", size_letter(memory->size));
	else if (is_one_of(name, "pop call jmp") && memory->size == 16)
		put(writer, "w");
	put(writer, "%s%s", x87_suffix(name, memory->size), vector_suffix(writer, name));
}

/* Names movzbl, movswq, movslq: both sizes are part of the mnemonic. */
static bool put_extension(struct writer *writer)
{
	ZydisMnemonic mnemonic = writer->instruction->mnemonic;

	if (mnemonic != ZYDIS_MNEMONIC_MOVZX && mnemonic != ZYDIS_MNEMONIC_MOVSX &&
	    (mnemonic != ZYDIS_MNEMONIC_MOVSXD || writer->operands[0].size != 64))
		return false;
	put(writer, "mov%c%c%c", mnemonic == ZYDIS_MNEMONIC_MOVZX ? 'z' : 's',
	    size_letter(writer->operands[1].size), size_letter(writer->operands[0].size));
	return true;
}

static bool put_condition(struct writer *writer, const char *name)
{
	static const char *const stems[] = {"j", "set", "cmov"};

	for (size_t i = 0; i < sizeof(stems) / sizeof(*stems); i++) {
		size_t length = strlen(stems[i]);
		const char *other = strncmp(name, stems[i], length)
					    ? NULL
					    : disasm_att_names_condition(name + length);

		if (!other)
			continue;
		put(writer, "%s%s", stems[i], other);
		return true;
	}
	return false;
}

/* Names FSUB ST(i), ST and the like by their opcode: R is where Intel's mnemonic has none. */
static bool put_exchanged(struct writer *writer, const char *name)
{
	const ZydisDecodedInstruction *instruction = writer->instruction;
	bool pops = instruction->opcode == 0xde;
	const char *stem = !strncmp(name, "fsub", 4)   ? "fsub"
			   : !strncmp(name, "fdiv", 4) ? "fdiv"
						       : NULL;

	if (!stem || instruction->meta.isa_ext != ZYDIS_ISA_EXT_X87 ||
	    (!pops && instruction->opcode != 0xdc) || instruction->raw.modrm.mod != 3)
		return false;
	put(writer, "%s%s%s", stem, name[4] == 'r' ? "" : "r", pops ? "p" : "");
	return true;
}

static bool is_far(const ZydisDecodedInstruction *instruction)
{
	return instruction->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
}

static void put_mnemonic(struct writer *writer)
{
	const ZydisDecodedInstruction *instruction = writer->instruction;
	const char *name = ZydisMnemonicGetString(instruction->mnemonic);
	const char *other = disasm_att_names_mnemonic(name);

	if (put_extension(writer) || put_condition(writer, name) || put_exchanged(writer, name))
		return;
	if (instruction->mnemonic == ZYDIS_MNEMONIC_MOV &&
	    instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	    (instruction->raw.imm[0].size == 64 || instruction->raw.disp.size == 64)) {
		put(writer, "movabs");
		return;
	}
	if (instruction->mnemonic == ZYDIS_MNEMONIC_RET && is_far(instruction))
		put(writer, "lret");
	else if (is_far(instruction) && instruction->operand_count_visible)
		put(writer, "l%s", name);
	else
		put(writer, "%s", other ? other : name);
	put_suffix(writer, name);
}

/* --- prefixes ---------------------------------------------------------------------------- */

static void put_prefixes(struct writer *writer)
{
	const ZydisDecodedInstruction *instruction = writer->instruction;
	ZydisInstructionAttributes has = instruction->attributes;
	static const struct {
		ZydisInstructionAttributes bit;
		const char *name;
	} words[] = {
		{ZYDIS_ATTRIB_HAS_XACQUIRE, "xacquire "}, {ZYDIS_ATTRIB_HAS_XRELEASE, "xrelease "},
		{ZYDIS_ATTRIB_HAS_LOCK, "lock "},	  {ZYDIS_ATTRIB_HAS_REP, "rep "},
		{ZYDIS_ATTRIB_HAS_REPE, "repz "},	  {ZYDIS_ATTRIB_HAS_REPNE, "repnz "},
		{ZYDIS_ATTRIB_HAS_BND, "bnd "},		  {ZYDIS_ATTRIB_HAS_NOTRACK, "notrack "},
	};
	static const struct {
		uint8_t value;
		const char *name;
	} bytes[] = {
		{0x66, "data16 "}, {0x2e, "cs "},   {0x3e, "ds "},     {0x26, "es "},
		{0x36, "ss "},	   {0x64, "fs "},   {0x65, "gs "},     {0xf2, "repnz "},
		{0xf3, "repz "},   {0xf0, "lock "}, {0x67, "addr32 "},
	};

	/* Prefixes without effect only fill space. */
	for (size_t i = 0; i < instruction->raw.prefix_count; i++) {
		for (size_t j = 0; j < sizeof(bytes) / sizeof(*bytes); j++) {
			if (instruction->raw.prefixes[i].type == ZYDIS_PREFIX_TYPE_IGNORED &&
			    instruction->raw.prefixes[i].value == bytes[j].value)
				put(writer, "%s", bytes[j].name);
		}
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (has & words[i].bit)
			put(writer, "%s", words[i].name);
	}
}

/* --- operands ---------------------------------------------------------------------------- */

static void put_register(struct writer *writer, const ZydisDecodedOperand *operand)
{
	ZydisRegister reg = operand->reg.value;

	if (reg < ZYDIS_REGISTER_ST0 || reg > ZYDIS_REGISTER_ST7)
		put(writer, "%%%s", ZydisRegisterGetString(reg));
	else if (operand->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM)
		put(writer, "%%st(%d)", reg - ZYDIS_REGISTER_ST0);
	else
		put(writer, "%%st");
}

static void put_displacement(struct writer *writer, const ZydisDecodedOperandMem *memory)
{
	int64_t value = memory->disp.value;

	if (!memory->base && !memory->index)
		put(writer, "0x%" PRIx64, (uint64_t)value);
	else if (value < 0)
		put(writer, "-0x%" PRIx64, -(uint64_t)value);
	else if (writer->instruction->raw.disp.size)
		put(writer, "0x%" PRIx64, (uint64_t)value);
}

static void put_memory(struct writer *writer, const ZydisDecodedOperand *operand)
{
	static const char *const broadcasts[] = {
		[ZYDIS_BROADCAST_MODE_1_TO_2] = "{1to2}",
		[ZYDIS_BROADCAST_MODE_1_TO_4] = "{1to4}",
		[ZYDIS_BROADCAST_MODE_1_TO_8] = "{1to8}",
		[ZYDIS_BROADCAST_MODE_1_TO_16] = "{1to16}",
		[ZYDIS_BROADCAST_MODE_1_TO_32] = "{1to32}",
	};
	const ZydisDecodedOperandMem *memory = &operand->mem;
	ZydisBroadcastMode mode = writer->instruction->avx.broadcast.mode;

	if (memory->segment == ZYDIS_REGISTER_FS || memory->segment == ZYDIS_REGISTER_GS)
		put(writer, "%%%s:", ZydisRegisterGetString(memory->segment));
	put_displacement(writer, memory);
	if (memory->base || memory->index) {
		put(writer, "(");
		if (memory->base)
			put(writer, "%%%s", ZydisRegisterGetString(memory->base));
		if (memory->index)
			put(writer, ",%%%s,%d", ZydisRegisterGetString(memory->index),
			    memory->scale ? memory->scale : 1);
		put(writer, ")");
	}
	if (!writer->instruction->avx.broadcast.is_static &&
	    mode < sizeof(broadcasts) / sizeof(*broadcasts) && broadcasts[mode])
		put(writer, "%s", broadcasts[mode]);
}

/* Prints an immediate.  A signed one is extended to the size of the operation, without a sign. */
static void put_immediate(struct writer *writer, const ZydisDecodedOperand *operand)
{
	uint64_t value = operand->imm.value.u, target;
	unsigned bits = operand == writer->operands ? writer->instruction->operand_width
						    : writer->operands[0].size;

	if (operand->imm.is_relative) {
		if (ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(writer->instruction, operand,
							  writer->address, &target)))
			put(writer, "0x%" PRIx64, target);
		return;
	}
	if (operand->imm.is_signed && bits < 64)
		value &= (UINT64_C(1) << bits) - 1;
	put(writer, "$0x%" PRIx64, value);
}

static void put_mask(struct writer *writer)
{
	const ZydisDecodedInstructionAvx *avx = &writer->instruction->avx;

	if (avx->mask.mode <= ZYDIS_MASK_MODE_DISABLED || avx->mask.reg == ZYDIS_REGISTER_K0)
		return;
	put(writer, "{%%%s}", ZydisRegisterGetString(avx->mask.reg));
	if (writer->instruction->raw.evex.z)
		put(writer, "{z}");
}

static void put_operand(struct writer *writer, size_t index)
{
	const ZydisDecodedOperand *operand = &writer->operands[index];
	bool branch =
		writer->instruction->meta.branch_type && !writer->instruction->raw.imm[0].size;

	if (branch)
		put(writer, "*");
	switch (operand->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		if (is_one_of(ZydisMnemonicGetString(writer->instruction->mnemonic), "in out"))
			put(writer, operand->reg.value == ZYDIS_REGISTER_DX ? "(" : "");
		put_register(writer, operand);
		if (is_one_of(ZydisMnemonicGetString(writer->instruction->mnemonic), "in out"))
			put(writer, operand->reg.value == ZYDIS_REGISTER_DX ? ")" : "");
		break;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		put_memory(writer, operand);
		break;
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		put_immediate(writer, operand);
		break;
	case ZYDIS_OPERAND_TYPE_POINTER:
	case ZYDIS_OPERAND_TYPE_UNUSED:
	default:
		break;
	}
	if (index == 0)
		put_mask(writer);
}

/* Prints the rounding mode, which follows an immediate and precedes the registers. */
static void put_rounding(struct writer *writer, const char **separator)
{
	static const char *const modes[] = {[ZYDIS_ROUNDING_MODE_RN] = "{rn-sae}",
					    [ZYDIS_ROUNDING_MODE_RD] = "{rd-sae}",
					    [ZYDIS_ROUNDING_MODE_RU] = "{ru-sae}",
					    [ZYDIS_ROUNDING_MODE_RZ] = "{rz-sae}"};
	const ZydisDecodedInstructionAvx *avx = &writer->instruction->avx;
	const char *text = avx->has_sae ? "{sae}" : NULL;

	if (avx->rounding.mode && avx->rounding.mode < sizeof(modes) / sizeof(*modes))
		text = modes[avx->rounding.mode];
	if (!text)
		return;
	put(writer, "%s%s", *separator, text);
	*separator = ",";
}

/* Returns true for operands that are not printed: a mask is part of the result, a shift by one has
 * its own opcode, and the register of a long NOP has no meaning. */
static bool is_left_out(const struct writer *writer, const ZydisDecodedOperand *operand)
{
	return operand->encoding == ZYDIS_OPERAND_ENCODING_MASK ||
	       (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
		!writer->instruction->raw.imm[0].size) ||
	       (writer->instruction->mnemonic == ZYDIS_MNEMONIC_NOP && operand != writer->operands);
}

static void put_operands(struct writer *writer)
{
	size_t count = writer->instruction->operand_count_visible;
	bool straight = writer->instruction->mnemonic == ZYDIS_MNEMONIC_ENTER, rounded = false;
	const char *separator = " ";

	for (size_t i = 0; i < count; i++) {
		size_t index = straight ? i : count - 1 - i;
		const ZydisDecodedOperand *operand = &writer->operands[index];

		if (is_left_out(writer, operand))
			continue;
		if (!rounded && operand->type != ZYDIS_OPERAND_TYPE_IMMEDIATE) {
			put_rounding(writer, &separator);
			rounded = true;
		}
		put(writer, "%s", separator);
		put_operand(writer, index);
		separator = ",";
	}
}

/* --- string instructions ------------------------------------------------------------------- */

/* Prints a string instruction.  Its operands are fixed; a letter or the accumulator tells the
 * size. */
static bool put_string(struct writer *writer)
{
	static const struct {
		const char *name, *operands;
	} strings[] = {
		{"movs", "%ds:(%rsi),%es:(%rdi)"}, {"cmps", "%es:(%rdi),%ds:(%rsi)"},
		{"stos", "%A,%es:(%rdi)"},	   {"lods", "%ds:(%rsi),%A"},
		{"scas", "%es:(%rdi),%A"},	   {"ins", "(%dx),%es:(%rdi)"},
		{"outs", "%ds:(%rsi),(%dx)"},
	};
	const ZydisDecodedInstruction *instruction = writer->instruction;
	const char *name = ZydisMnemonicGetString(instruction->mnemonic), *to;
	unsigned bits = instruction->opcode & 1 ? instruction->operand_width : 8;
	const char *accumulator = bits == 8    ? "%al"
				  : bits == 16 ? "%ax"
				  : bits == 32 ? "%eax"
					       : "%rax";

	if (instruction->meta.category != ZYDIS_CATEGORY_STRINGOP &&
	    instruction->meta.category != ZYDIS_CATEGORY_IOSTRINGOP)
		return false;
	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
		size_t length = strlen(strings[i].name);

		if (strncmp(name, strings[i].name, length))
			continue;
		to = strstr(strings[i].operands, "%A");
		if (to)
			put(writer, "%s %.*s%s%s", strings[i].name, (int)(to - strings[i].operands),
			    strings[i].operands, accumulator, to + 2);
		else
			put(writer, "%s%c %s", strings[i].name,
			    size_letter(*strings[i].name == 'i' || *strings[i].name == 'o'
						? (bits > 32 ? 32 : bits)
						: bits),
			    strings[i].operands);
		return true;
	}
	return false;
}

void disasm_att(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
		uint64_t address, char *text, size_t bytes)
{
	struct writer writer = {.instruction = instruction,
				.operands = operands,
				.address = address,
				.room = bytes};

	writer.text = text;
	put_prefixes(&writer);
	if (put_string(&writer))
		return;
	/* A NOP with an operand-size prefix is an exchange of AX with itself. */
	if (instruction->mnemonic == ZYDIS_MNEMONIC_NOP && !instruction->operand_count_visible &&
	    instruction->operand_width == 16) {
		put(&writer, "xchg %%ax,%%ax");
		return;
	}
	put_mnemonic(&writer);
	put_operands(&writer);
}
