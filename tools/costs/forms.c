/* SPDX-License-Identifier: MIT */
/*
 * forms.c: lists the forms of instructions that the decoder distinguishes, for `make costs`.
 *
 * A form is a row of the decoder's table (decode_table.h) with REX.W, vector length, EVEX.b, the
 * reg field of ModRM, and whether ModRM names memory.  Each line begins with that key.  Then it has
 * the operands that the form reads and writes, according to Zydis, and the properties of
 * data/uarch/forms.h.  The bytes of an instruction of this form follow.
 *
 * Simplified: of x87 instructions that the whole ModRM byte selects, one speaks for its group.
 */
#include <stdio.h>
#include <stdlib.h>

#include "data/uarch/forms.h"
#include "hosts/user/decode/generate_probe.h"

/* What is known of a form. */
struct listed {
	unsigned reads, writes; /* FORM_OPERAND_ bits */
	unsigned kinds;
	unsigned gpr_reads, gpr_writes;
	unsigned properties;
};

static bool is_one_of(ZydisMnemonic mnemonic, const ZydisMnemonic *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == mnemonic)
			return true;
	return false;
}

#define M(name) ZYDIS_MNEMONIC_##name
#define IS(mnemonic, ...)                                                                          \
	is_one_of(mnemonic, (const ZydisMnemonic[]){__VA_ARGS__},                                  \
		  sizeof((const ZydisMnemonic[]){__VA_ARGS__}) / sizeof(ZydisMnemonic))

/* Returns the properties that depend on what the instruction does. */
static unsigned properties_of_mnemonic(ZydisMnemonic m)
{
	unsigned is = 0;

	if (IS(m, M(XOR), M(SUB), M(PXOR), M(XORPS), M(XORPD), M(PSUBB), M(PSUBW), M(PSUBD),
	       M(PSUBQ), M(PCMPGTB), M(PCMPGTW), M(PCMPGTD), M(VPXOR), M(VXORPS), M(VXORPD),
	       M(VPXORD), M(VPXORQ), M(VPSUBB), M(VPSUBW), M(VPSUBD), M(VPSUBQ)))
		is |= FORM_ZERO_IDIOM;
	if (IS(m, M(PCMPEQB), M(PCMPEQW), M(PCMPEQD), M(VPCMPEQB), M(VPCMPEQW), M(VPCMPEQD)))
		is |= FORM_ONES_IDIOM;
	if (IS(m, M(MOVAPS), M(MOVAPD), M(MOVUPS), M(MOVUPD), M(MOVDQA), M(MOVDQU), M(VMOVAPS),
	       M(VMOVAPD), M(VMOVUPS), M(VMOVUPD), M(VMOVDQA), M(VMOVDQU), M(VMOVDQA32),
	       M(VMOVDQA64), M(VMOVDQU32), M(VMOVDQU64)))
		is |= FORM_VECTOR_MOVE;
	if (IS(m, M(TEST), M(AND)))
		is |= FORM_FUSES_TEST;
	if (IS(m, M(CMP), M(ADD), M(SUB)))
		is |= FORM_FUSES_COMPARE;
	if (IS(m, M(INC), M(DEC)))
		is |= FORM_FUSES_COUNT;
	if (IS(m, M(CMP), M(TEST)))
		is |= FORM_FUSES_ALWAYS;
	if (m == M(LEA))
		is |= FORM_LEA;
	if (IS(m, M(CPUID), M(LFENCE), M(MFENCE), M(SERIALIZE), M(RDTSCP)))
		is |= FORM_SERIALIZES;
	if (m >= M(JB) && m <= M(JZ) &&
	    !IS(m, M(JMP), M(JCXZ), M(JECXZ), M(JRCXZ), M(JKNZD), M(JKZD)))
		is |= FORM_CONDITIONAL_JUMP;
	return is;
}

/* Returns whether a scalar instruction without VEX keeps the rest of its destination, which Zydis
 * does not tell. */
static bool keeps_rest(ZydisMnemonic m)
{
	return IS(m, M(CVTSI2SD), M(CVTSI2SS), M(CVTSS2SD), M(CVTSD2SS), M(SQRTSS), M(SQRTSD),
		  M(RCPSS), M(RSQRTSS), M(ROUNDSS), M(ROUNDSD));
}

static unsigned kind_of_register(ZydisRegister r)
{
	switch (ZydisRegisterGetClass(r)) {
	case ZYDIS_REGCLASS_GPR8:
		return FORM_GPR8;
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		return FORM_GPR;
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		return FORM_VECTOR;
	case ZYDIS_REGCLASS_MASK:
		return FORM_MASK;
	case ZYDIS_REGCLASS_MMX:
		return FORM_MMX;
	default:
		return 0;
	}
}

/* Returns the field of the encoding that names the operand; 0: none does. */
static unsigned field_of(const ZydisDecodedOperand *o)
{
	switch (o->encoding) {
	case ZYDIS_OPERAND_ENCODING_MODRM_REG:
		return FORM_REG;
	case ZYDIS_OPERAND_ENCODING_MODRM_RM:
		return FORM_RM;
	case ZYDIS_OPERAND_ENCODING_NDSNDD:
		return FORM_V;
	case ZYDIS_OPERAND_ENCODING_OPCODE:
		return FORM_OPCODE;
	case ZYDIS_OPERAND_ENCODING_IS4:
		return FORM_IS4;
	case ZYDIS_OPERAND_ENCODING_MASK:
		return FORM_K;
	default:
		return 0;
	}
}

/* Returns what an instruction does to the x87 stack.  One that pushes needs nothing of it. */
static unsigned x87_properties(ZydisMnemonic m)
{
	if (IS(m, M(FLD), M(FILD), M(FBLD), M(FLD1), M(FLDZ), M(FLDPI), M(FLDL2E), M(FLDL2T),
	       M(FLDLG2), M(FLDLN2)))
		return FORM_WRITES_X87;
	if (IS(m, M(FST), M(FSTP), M(FIST), M(FISTP), M(FISTTP), M(FBSTP)))
		return FORM_READS_X87;
	return FORM_READS_X87 | FORM_WRITES_X87;
}

static void add_register(struct listed *f, const ZydisDecodedOperand *o, ZydisMnemonic m, bool vex)
{
	unsigned kind = kind_of_register(o->reg.value), field = field_of(o);
	unsigned number = (unsigned)ZydisRegisterGetId(o->reg.value) & 15;
	bool writes = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	bool reads = o->actions & (ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_CONDWRITE);

	if (ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_X87)
		f->properties |= x87_properties(m);
	if (!kind)
		return;
	/* A write of a part merges with the rest. */
	if (writes && (kind == FORM_GPR8 || (kind == FORM_GPR && o->size == 16) ||
		       (!vex && kind == FORM_VECTOR && field == FORM_REG && keeps_rest(m))))
		reads = true;
	if (!field) {
		if (kind == FORM_GPR8) {
			kind = FORM_GPR;
			number &= 3; /* AH is a part of RAX */
		}
		if (kind == FORM_GPR && number == 4 &&
		    o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			f->properties |= FORM_STACK;
		else if (kind == FORM_GPR) {
			f->gpr_reads |= reads ? 1u << number : 0;
			f->gpr_writes |= writes ? 1u << number : 0;
		}
		return;
	}
	f->reads |= reads ? field : 0;
	f->writes |= writes ? field : 0;
	f->kinds |= kind << FORM_KIND_BIT(field);
}

static void add_memory(struct listed *f, const ZydisDecodedOperand *o)
{
	if (o->mem.type != ZYDIS_MEMOP_TYPE_MEM && o->mem.type != ZYDIS_MEMOP_TYPE_VSIB)
		return;
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		f->properties |= FORM_LOADS;
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		f->properties |= FORM_STORES;
}

static void add_flags(struct listed *f, const ZydisAccessedFlags *flags)
{
	ZyanU32 written = flags->modified | flags->set_0 | flags->set_1 | flags->undefined;

	if (flags->tested & ZYDIS_CPUFLAG_CF)
		f->properties |= FORM_READS_CARRY;
	if (flags->tested & ~ZYDIS_CPUFLAG_CF & 0xfff & ~ZYDIS_CPUFLAG_DF)
		f->properties |= FORM_READS_FLAGS;
	if (written & ZYDIS_CPUFLAG_CF)
		f->properties |= FORM_WRITES_CARRY;
	if (written & ~ZYDIS_CPUFLAG_CF & 0xfff & ~ZYDIS_CPUFLAG_DF)
		f->properties |= FORM_WRITES_FLAGS;
}

static struct listed describe(const ZydisDecodedInstruction *insn,
			      const ZydisDecodedOperand *operands)
{
	struct listed f = {.properties = properties_of_mnemonic(insn->mnemonic)};
	bool vex = insn->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY;

	if (insn->mnemonic == M(NOP)) /* it has operands, and uses none of them */
		return f;
	for (unsigned i = 0; i < insn->operand_count; i++) {
		if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			add_register(&f, &operands[i], insn->mnemonic, vex);
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			add_memory(&f, &operands[i]);
	}
	if (insn->cpu_flags)
		add_flags(&f, insn->cpu_flags);
	if (insn->mnemonic == M(MOV) && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[0].size >= 32 &&
	    kind_of_register(operands[0].reg.value) == FORM_GPR &&
	    kind_of_register(operands[1].reg.value) == FORM_GPR)
		f.properties |= FORM_MOVE;
	if (insn->mnemonic == M(XCHG) && f.properties & FORM_STORES)
		f.properties |= FORM_LOCKS;
	return f;
}

/* Prints the form of a trial, if there is one. */
static void print_form(const struct place *p, unsigned page, struct trial *t)
{
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	struct listed f;
	uint8_t bytes[32];

	if (!make_valid(p, t))
		return;
	assemble(p, t, bytes);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, 15, &insn, operands)))
		return;
	f = describe(&insn, operands);
	printf("%u %u %u %u %u %u %u %u %u %u %u ", page, p->opcode, t->w << 3 | t->l << 1 | t->b,
	       t->mod == 3 ? 8 + t->reg : t->reg, f.reads, f.writes, f.kinds, f.gpr_reads,
	       f.gpr_writes, f.properties, (insn.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0);
	for (unsigned i = 0; i < insn.length; i++)
		printf("%02x", bytes[i]);
	printf(" %s\n", ZydisMnemonicGetString(insn.mnemonic));
}

static void print_page(struct place p, unsigned page)
{
	unsigned lengths = p.space == SPACE_EVEX ? 4 : p.space == SPACE_LEGACY ? 1 : 2;
	unsigned bs = p.space == SPACE_EVEX ? 2 : 1;

	for (unsigned opcode = 0; opcode < 256; opcode++)
		for (unsigned v = 0; v < 2 * lengths * bs; v++)
			for (unsigned c = 0; c < 16; c++) {
				struct trial t = {
					.w = v / (lengths * bs),
					.l = v / bs % lengths,
					.b = v % bs,
					.mod = c < 8 ? 1 : 3,
					.reg = c & 7,
					.rm = c < 8 ? 1 : other(c & 7, 0, 4),
				};

				p.opcode = (uint8_t)opcode;
				print_form(&p, page, &t);
			}
}

int main(void)
{
	if (!ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return 1;
	for (unsigned map = 0; map < LEGACY_MAPS; map++)
		for (unsigned prefix = 0; prefix < LEGACY_PREFIXES; prefix++)
			print_page((struct place){SPACE_LEGACY, map, prefix, 0},
				   PAGE_LEGACY + map * LEGACY_PREFIXES + prefix);
	for (unsigned pp = 0; pp < 4; pp++) {
		for (unsigned map = 0; map < VEX_MAPS; map++)
			print_page((struct place){SPACE_VEX, map + 1, pp, 0},
				   PAGE_VEX + map * 4 + pp);
		for (unsigned map = 0; map < EVEX_MAPS; map++)
			print_page((struct place){SPACE_EVEX, map + 1, pp, 0},
				   PAGE_EVEX + map * 4 + pp);
	}
	return fflush(stdout) || ferror(stdout);
}
