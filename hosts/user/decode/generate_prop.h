/* SPDX-License-Identifier: MIT */
/*
 * generate_prop.h: converts an instruction as Zydis describes it to the property set that the
 * decoder needs.  Part of generate.c, which is built as one file.
 *
 * Loads and stores are real accesses to data memory and software prefetches.  These are neither:
 * cache control (CLFLUSH, CLWB, CLDEMOTE), NOP operands, address generation (LEA, MPX), and the
 * kernel's accesses for INT n.
 */
#ifndef SOFTPMU_GENERATE_PROP_H
#define SOFTPMU_GENERATE_PROP_H

#include <ctype.h>
#include <string.h>
#include <Zydis/Zydis.h>

#include "decode.h"
#include "decode_table.h"

_Static_assert(SPMU_SIGSET_ARCHITECTURAL <= UINT32_MAX, "the table holds signals in 32 bits");

#define PROP_READ  (ZYDIS_OPERAND_ACTION_MASK_READ)
#define PROP_WRITE (ZYDIS_OPERAND_ACTION_MASK_WRITE)

/* MOV to GS, POP GS, LGS */
static inline bool prop_loads_gs(const ZydisDecodedInstruction *insn)
{
	if (insn->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return false;
	if (insn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
		return insn->opcode == 0x8e && insn->raw.modrm.reg == 5;
	return insn->opcode_map == ZYDIS_OPCODE_MAP_0F &&
	       (insn->opcode == 0xa9 || insn->opcode == 0xb5);
}

static inline enum insn_kind prop_kind(const ZydisDecodedInstruction *insn)
{
	bool far = insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
	bool relative = insn->raw.imm[0].is_relative;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_JCXZ:
		return INSN_JCXZ;
	case ZYDIS_MNEMONIC_JMP:
		return far ? INSN_FAR : relative ? INSN_JMP_REL : INSN_JMP_IND;
	case ZYDIS_MNEMONIC_CALL:
		return far ? INSN_FAR : relative ? INSN_CALL_REL : INSN_CALL_IND;
	case ZYDIS_MNEMONIC_RET:
		return far ? INSN_FAR : INSN_RET;
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_SYSENTER:
		return INSN_FAR;
	case ZYDIS_MNEMONIC_SYSCALL:
		return INSN_SYSCALL;
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_CLI:
	case ZYDIS_MNEMONIC_STI:
	case ZYDIS_MNEMONIC_IN:
	case ZYDIS_MNEMONIC_OUT:
	case ZYDIS_MNEMONIC_INSB:
	case ZYDIS_MNEMONIC_INSW:
	case ZYDIS_MNEMONIC_INSD:
	case ZYDIS_MNEMONIC_OUTSB:
	case ZYDIS_MNEMONIC_OUTSW:
	case ZYDIS_MNEMONIC_OUTSD:
		return INSN_TRAP;
	case ZYDIS_MNEMONIC_CPUID:
		return INSN_CPUID;
	case ZYDIS_MNEMONIC_RDPMC:
		return INSN_RDPMC;
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
		return INSN_RDTSC;
	case ZYDIS_MNEMONIC_RDGSBASE:
	case ZYDIS_MNEMONIC_WRGSBASE:
		return INSN_GSBASE;
	case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_XABORT:
		return INSN_XBEGIN;
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ:
		return INSN_POPF;
	default:
		break;
	}
	if (prop_loads_gs(insn))
		return INSN_GSBASE;
	if (insn->meta.category == ZYDIS_CATEGORY_COND_BR && relative)
		return INSN_JCC;
	return insn->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED ? INSN_TRAP : INSN_PLAIN;
}

/*
 * Zydis decodes some of Knights Corner's instructions outside of its mode for that part, and
 * VIA's PadLock.  Intel's and AMD's processors have neither.
 */
static inline bool prop_is_foreign(const ZydisDecodedInstruction *insn)
{
	return insn->meta.isa_ext == ZYDIS_ISA_EXT_KNC ||
	       insn->meta.isa_ext == ZYDIS_ISA_EXT_KNCE ||
	       insn->meta.isa_ext == ZYDIS_ISA_EXT_KNCV ||
	       insn->meta.isa_ext == ZYDIS_ISA_EXT_PADLOCK;
}

/* Cache control names memory without a data access.  MPX is switched off everywhere, and does
 * nothing then. */
static inline bool prop_no_data(const ZydisDecodedInstruction *insn)
{
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_CLFLUSHOPT:
	case ZYDIS_MNEMONIC_CLWB:
	case ZYDIS_MNEMONIC_CLDEMOTE:
	case ZYDIS_MNEMONIC_NOP:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
		return true;
	default:
		return insn->meta.isa_ext == ZYDIS_ISA_EXT_MPX;
	}
}

static inline uint8_t prop_flags(uint32_t zydis)
{
	return (uint8_t)((zydis & ZYDIS_CPUFLAG_CF ? FLAG_CF : 0) |
			 (zydis & ZYDIS_CPUFLAG_PF ? FLAG_PF : 0) |
			 (zydis & ZYDIS_CPUFLAG_AF ? FLAG_AF : 0) |
			 (zydis & ZYDIS_CPUFLAG_ZF ? FLAG_ZF : 0) |
			 (zydis & ZYDIS_CPUFLAG_SF ? FLAG_SF : 0) |
			 (zydis & ZYDIS_CPUFLAG_OF ? FLAG_OF : 0));
}

static inline bool prop_is_string(const ZydisDecodedInstruction *insn)
{
	return insn->meta.category == ZYDIS_CATEGORY_STRINGOP ||
	       insn->meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

/* Some processors do not change flags that the manual calls undefined after these. */
static inline bool prop_may_keep_flags(const ZydisDecodedInstruction *insn)
{
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTC:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_MUL:
	case ZYDIS_MNEMONIC_IMUL:
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
	case ZYDIS_MNEMONIC_BSF:
	case ZYDIS_MNEMONIC_BSR:
	case ZYDIS_MNEMONIC_LZCNT:
	case ZYDIS_MNEMONIC_TZCNT:
	case ZYDIS_MNEMONIC_SHLD:
	case ZYDIS_MNEMONIC_SHRD:
		return true;
	default:
		return false;
	}
}

static inline void prop_set_flags(struct decode_prop *prop, const ZydisDecodedInstruction *insn)
{
	const ZydisAccessedFlags *f = insn->cpu_flags;
	bool shift = insn->meta.category == ZYDIS_CATEGORY_SHIFT ||
		     insn->meta.category == ZYDIS_CATEGORY_ROTATE;
	bool through_carry =
		insn->mnemonic == ZYDIS_MNEMONIC_RCL || insn->mnemonic == ZYDIS_MNEMONIC_RCR;

	/* The kernel, a debugger or a handler can read the flags there. */
	switch (prop->kind) {
	case INSN_FAR:
	case INSN_SYSCALL:
	case INSN_TRAP:
	case INSN_UNDEFINED:
	case INSN_XBEGIN:
		prop->flags_read = FLAGS_ALL;
		return;
	default:
		break;
	}
	if (!f)
		return;
	prop->flags_read = prop_flags(f->tested);
	prop->flags_written = prop_flags(f->modified | f->set_0 | f->set_1);
	if (!prop_may_keep_flags(insn))
		prop->flags_written |= prop_flags(f->undefined);
	if (prop_is_string(insn) &&
	    insn->attributes &
		    (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		prop->flags_written = 0; /* the count may be 0 */
	if (!shift || insn->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return;
	if (insn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT) {
		if ((insn->opcode | 1) == 0xd3)
			prop->flags_written = 0; /* CL */
		if ((insn->opcode | 1) == 0xc1) {
			/* RCL and RCR count modulo 9 or 17 in narrow registers. */
			if (through_carry && insn->operand_width < 32)
				prop->flags_written = 0;
			prop->attr |= ATTR_SHIFT_COUNT;
		}
	} else {
		if (insn->opcode == 0xa5 || insn->opcode == 0xad)
			prop->flags_written = 0;
		else
			prop->attr |= ATTR_SHIFT_COUNT;
	}
}

/* Handles an operand in memory that no ModRM byte names. */
/* MOVDIR64B and ENQCMD write to the address in the reg field, in addition to their ModRM
 * operand. */
static inline bool prop_writes_by_register(const ZydisDecodedInstruction *insn)
{
	return insn->mnemonic == ZYDIS_MNEMONIC_MOVDIR64B ||
	       insn->mnemonic == ZYDIS_MNEMONIC_ENQCMD || insn->mnemonic == ZYDIS_MNEMONIC_ENQCMDS;
}

static inline void prop_implicit_memory(struct decode_prop *prop,
					const ZydisDecodedInstruction *insn,
					const ZydisDecodedOperand *o)
{
	bool write = (o->actions & PROP_WRITE) != 0;
	uint8_t kind = INSN_MEM_NONE;
	uint8_t base = INSN_NO_REG;
	int8_t displacement = 0;

	if (prop_writes_by_register(insn))
		return;
	switch (o->mem.base) {
	case ZYDIS_REGISTER_RSP:
		kind = write ? INSN_MEM_STACK : INSN_MEM_STACK_TOP;
		base = 4;
		displacement = (int8_t)(write ? -(o->size / 8) : 0);
		prop->pop_bytes = (uint8_t)(write ? 0 : o->size / 8);
		break;
	case ZYDIS_REGISTER_RBP: /* LEAVE */
		kind = INSN_MEM_STACK_TOP;
		base = 5;
		break;
	case ZYDIS_REGISTER_RSI:
		kind = INSN_MEM_RSI;
		base = 6;
		break;
	case ZYDIS_REGISTER_RDI:
		base = 7;
		/* MASKMOVQ, MASKMOVDQU: like a ModRM operand [rdi] */
		kind = prop_is_string(insn) ? INSN_MEM_RDI : INSN_MEM_MODRM;
		break;
	case ZYDIS_REGISTER_RBX:
		kind = INSN_MEM_XLAT;
		base = 3;
		break;
	case ZYDIS_REGISTER_NONE:
		kind = INSN_MEM_MOFFS;
		prop->attr |= ATTR_MOFFS;
		break;
	default:
		return;
	}
	if (kind == INSN_MEM_RSI || kind == INSN_MEM_XLAT || kind == INSN_MEM_MOFFS ||
	    kind == INSN_MEM_MODRM)
		prop->attr |= ATTR_SEGMENTED;
	/* MOVS and CMPS have two: the instruction has the source.  PUSH, POP and CALL have their
	 * ModRM operand. */
	if (prop->memory_kind == INSN_MEM_NONE || kind == INSN_MEM_RSI) {
		prop->memory_kind = kind;
		prop->base = base;
		prop->displacement = displacement;
	}
}

static inline void prop_modrm_memory(struct decode_prop *prop, const ZydisDecodedInstruction *insn,
				     const ZydisDecodedOperand *o)
{
	if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
		prop->attr |= ATTR_VSIB;
	if (o->mem.type == ZYDIS_MEMOP_TYPE_AGEN || o->mem.type == ZYDIS_MEMOP_TYPE_MIB ||
	    insn->mnemonic == ZYDIS_MNEMONIC_NOP || insn->meta.isa_ext == ZYDIS_ISA_EXT_MPX)
		return; /* an address only */
	prop->attr |= ATTR_SEGMENTED;
	if (o->mem.type != ZYDIS_MEMOP_TYPE_VSIB) /* which has many addresses */
		prop->memory_kind = INSN_MEM_MODRM;
}

static inline void prop_set_memory(struct decode_prop *prop, const ZydisDecodedInstruction *insn,
				   const ZydisDecodedOperand *operands)
{
	bool modrm = false;

	for (unsigned i = 0; i < insn->operand_count; i++) {
		const ZydisDecodedOperand *o = &operands[i];

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		if (o->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM) {
			modrm = true;
			prop_modrm_memory(prop, insn, o);
		} else {
			prop_implicit_memory(prop, insn, o);
		}
		if (prop_no_data(insn) ||
		    (o->mem.type != ZYDIS_MEMOP_TYPE_MEM && o->mem.type != ZYDIS_MEMOP_TYPE_VSIB))
			continue;
		if (o->actions & PROP_READ)
			prop->signals |= SPMU_SIGBIT(LOADS);
		if (o->actions & PROP_WRITE)
			prop->signals |= SPMU_SIGBIT(STORES);
	}
	if (insn->mnemonic == ZYDIS_MNEMONIC_POP && modrm)
		prop->attr |= ATTR_POP_MEMORY;
	if (insn->mnemonic == ZYDIS_MNEMONIC_XCHG && modrm)
		prop->signals |= SPMU_SIGBIT(LOCK_LOADS);
	if (insn->mnemonic == ZYDIS_MNEMONIC_CLZERO) {
		/* Zydis only shows its address register. */
		prop->signals |= SPMU_SIGBIT(STORES);
		prop->memory_kind = INSN_MEM_MODRM;
		prop->base = 0;
		prop->attr |= ATTR_SEGMENTED;
	}
	if (insn->raw.modrm.offset && insn->raw.modrm.mod != 3 && !insn->raw.disp.size &&
	    !insn->raw.sib.offset)
		prop->attr |= ATTR_NO_MEMORY;
}

/*
 * FP_ARITH_INST_RETIRED: ADD SUB MUL DIV MIN MAX SQRT RCP RSQRT, their 14-bit forms, HADD HSUB
 * ADDSUB, and DPP and FMA, which count twice.  Only single and double precision: half precision
 * has its own events.
 */
static inline uint32_t prop_fp(const ZydisDecodedInstruction *insn)
{
	static const char *const once[] = {"add",     "sub",  "mul",  "div",   "min",
					   "max",     "sqrt", "rcp",  "rsqrt", "rcp14",
					   "rsqrt14", "hadd", "hsub", "addsub"};
	/* By width: of one operation, of two. */
#define ONE_OR_TWO(type)                                                                           \
	{                                                                                          \
		SPMU_SIGBIT(FP_##type), SPMU_SIGBIT(FP_##type) | SPMU_SIGBIT(FMA_##type)           \
	}
	static const uint64_t doubles[][2] = {
		ONE_OR_TWO(SCALAR_DOUBLE),
		ONE_OR_TWO(128_DOUBLE),
		ONE_OR_TWO(256_DOUBLE),
		ONE_OR_TWO(512_DOUBLE),
	};
	static const uint64_t singles[][2] = {
		ONE_OR_TWO(SCALAR_SINGLE),
		ONE_OR_TWO(128_SINGLE),
		ONE_OR_TWO(256_SINGLE),
		ONE_OR_TWO(512_SINGLE),
	};
#undef ONE_OR_TWO
	static const char *const twice[] = {"fmadd", "fmsub", "fnmadd", "fnmsub"};
	const char *name = ZydisMnemonicGetString(insn->mnemonic);
	char stem[32];
	size_t n;
	bool one = false;
	bool two = false;
	unsigned width; /* 0 scalar, then 128, 256, 512 */

	if (*name == 'v')
		name++;
	n = strlen(name);
	if (n < 4 || n > sizeof stem || !strchr("ps", name[n - 2]) || !strchr("sd", name[n - 1]))
		return 0;
	memcpy(stem, name, n - 2);
	stem[n - 2] = 0;
	for (size_t i = 0; i < sizeof once / sizeof *once; i++)
		one |= !strcmp(stem, once[i]);
	for (size_t i = 0; i < sizeof twice / sizeof *twice; i++)
		if (!strncmp(stem, twice[i], strlen(twice[i])))
			one = two = true;
	if (!strcmp(stem, "dp"))
		one = two = true;
	if (!one || insn->meta.isa_ext == ZYDIS_ISA_EXT_X87)
		return 0;
	width = name[n - 2] == 's'		 ? 0
		: insn->avx.vector_length == 512 ? 3
		: insn->avx.vector_length == 256 ? 2
						 : 1;
	return (uint32_t)(name[n - 1] == 's' ? singles[width][two] : doubles[width][two]);
}

static inline void prop_set_signals(struct decode_prop *prop, const ZydisDecodedInstruction *insn)
{
	static const uint32_t of_kind[] = {
		[INSN_JMP_REL] = SPMU_SIGBIT(JMP_REL), [INSN_CALL_REL] = SPMU_SIGBIT(CALL_REL),
		[INSN_JMP_IND] = SPMU_SIGBIT(JMP_IND), [INSN_CALL_IND] = SPMU_SIGBIT(CALL_IND),
		[INSN_RET] = SPMU_SIGBIT(RET_NEAR),    [INSN_FAR] = SPMU_SIGBIT(FAR),
		[INSN_SYSCALL] = SPMU_SIGBIT(FAR),     [INSN_XBEGIN] = 0,
	};

	if (prop->kind == INSN_TRAP) {
		/* A fault does not retire.  INT3 and INT1 do. */
		bool retires = insn->mnemonic == ZYDIS_MNEMONIC_INT3 ||
			       insn->mnemonic == ZYDIS_MNEMONIC_INT1;

		prop->signals = retires ? SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(FAR) : 0;
		return;
	}
	prop->signals |= SPMU_SIGBIT(INSTRUCTIONS) | of_kind[prop->kind] | prop_fp(insn);
	if (insn->mnemonic == ZYDIS_MNEMONIC_NOP)
		prop->signals |= SPMU_SIGBIT(NOP);
	/* By opcode: Zydis puts FISTTP into SSE3, and FWAIT (9BH) only waits. */
	if (insn->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	    insn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && insn->opcode >> 3 == 0xd8 >> 3)
		prop->signals |= SPMU_SIGBIT(X87);
}

/* Returns n: an 8-bit displacement is multiplied by 2 to the power of n (EVEX). */
static inline uint8_t prop_disp8_shift(const ZydisDecodedInstruction *insn,
				       const ZydisDecodedOperand *operands)
{
	uint8_t shift = 0;

	for (unsigned i = 0; i < insn->operand_count; i++) {
		const ZydisDecodedOperand *o = &operands[i];

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || insn->raw.disp.size != 8 ||
		    insn->raw.disp.value == 0)
			continue;
		while (insn->raw.disp.value << shift < o->mem.disp.value)
			shift++;
	}
	return shift;
}

static inline bool prop_is_near_branch(const struct decode_prop *prop)
{
	return prop->kind >= INSN_JCC && prop->kind <= INSN_RET;
}

/* opcode_end: offset after the opcode byte. */
static inline void prop_from_zydis(struct decode_prop *prop, const ZydisDecodedInstruction *insn,
				   const ZydisDecodedOperand *operands, unsigned opcode_end)
{
	unsigned end = opcode_end;

	memset(prop, 0, sizeof *prop);
	prop->base = INSN_NO_REG;
	prop->kind = (uint8_t)prop_kind(insn);
	prop_set_flags(prop, insn);
	prop_set_memory(prop, insn, operands);
	prop_set_signals(prop, insn);
	prop->disp8_shift = prop_disp8_shift(insn, operands);
	if (prop_is_string(insn))
		prop->attr |= ATTR_STRING;
	if (insn->raw.imm[0].is_relative)
		prop->attr |= ATTR_RELATIVE;
	if (prop_is_near_branch(prop) && insn->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE)
		prop->attr |= ATTR_NEAR_66;
	if (insn->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	    insn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && insn->opcode == 0x90 &&
	    insn->mnemonic == ZYDIS_MNEMONIC_NOP)
		prop->attr |= ATTR_NOP_UNLESS_B;
	if (insn->encoding == ZYDIS_INSTRUCTION_ENCODING_3DNOW)
		prop->attr |= ATTR_3DNOW;
	/* The bytes that follow the opcode, ModRM, SIB and displacement. */
	end += insn->raw.disp.size / 8u + (insn->raw.sib.offset ? 1u : 0u) +
	       (insn->attributes & ZYDIS_ATTRIB_HAS_MODRM ? 1u : 0u);
	if ((prop->kind == INSN_RET || prop->kind == INSN_FAR) && insn->length > end)
		prop->attr |= ATTR_VALUE;
	prop->immediate_bytes = (uint8_t)(insn->length - end);
}

#endif
