/* SPDX-License-Identifier: MIT */
/*
 * expected.h: what insn_decode has to say of an instruction, worked out from Zydis'
 * description of that very instruction.  It shares no code and no table with hosts/user/decode.
 * Kinds come from opcode bytes; the generator uses mnemonics. Floating point comes from a list of
 * mnemonics; the generator splits names.
 */
#ifndef SOFTPMU_TEST_EXPECTED_H
#define SOFTPMU_TEST_EXPECTED_H

#include <stdio.h>
#include <string.h>
#include <Zydis/Zydis.h>

#include "hosts/user/decode/decode.h"

struct expected {
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	bool valid;
	bool mpx; /* switched off: a NOP of another opcode, which counts as none */
};

static inline bool expected_is(const struct expected *e, ZydisOpcodeMap map, unsigned from,
			       unsigned to)
{
	return e->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && e->insn.opcode_map == map &&
	       e->insn.opcode >= from && e->insn.opcode <= to;
}

#define ONE_BYTE ZYDIS_OPCODE_MAP_DEFAULT
#define TWO_BYTE ZYDIS_OPCODE_MAP_0F

static inline bool expected_prefix(const struct expected *e, uint8_t value)
{
	for (unsigned i = 0; i < e->insn.raw.prefix_count; i++)
		if (e->insn.raw.prefixes[i].value == value)
			return true;
	return false;
}

/* The last FS or GS prefix, 0: none. */
static inline unsigned expected_segment(const struct expected *e)
{
	unsigned segment = 0;

	for (unsigned i = 0; i < e->insn.raw.prefix_count; i++)
		if ((e->insn.raw.prefixes[i].value | 1) == 0x65)
			segment = e->insn.raw.prefixes[i].value;
	return segment;
}

static inline enum insn_kind expected_kind_one_byte(const struct expected *e)
{
	unsigned reg = e->insn.raw.modrm.reg;
	unsigned modrm = e->insn.raw.modrm.mod << 6 | reg << 3 | e->insn.raw.modrm.rm;

	switch (e->insn.opcode) {
	case 0x70 ... 0x7f:
		return INSN_JCC;
	case 0xe0 ... 0xe3:
		return INSN_JCXZ;
	case 0xe8:
		return INSN_CALL_REL;
	case 0xe9:
	case 0xeb:
		return INSN_JMP_REL;
	case 0xc2:
	case 0xc3:
		return INSN_RET;
	case 0xca:
	case 0xcb:
	case 0xcd:
	case 0xcf:
		return INSN_FAR;
	case 0xcc:
	case 0xf1:
	case 0xf4:
	case 0xfa:
	case 0xfb:
	case 0x6c ... 0x6f:
	case 0xe4 ... 0xe7:
	case 0xec ... 0xef:
		return INSN_TRAP;
	case 0x8e:
		return reg == 5 ? INSN_GSBASE : INSN_PLAIN;
	case 0x9d:
		return INSN_POPF;
	case 0xc6:
	case 0xc7:
		return modrm == 0xf8 ? INSN_XBEGIN : INSN_PLAIN;
	case 0xff:
		return reg == 2		      ? INSN_CALL_IND
		       : reg == 4	      ? INSN_JMP_IND
		       : reg == 3 || reg == 5 ? INSN_FAR
					      : INSN_PLAIN;
	default:
		return INSN_PLAIN;
	}
}

static inline enum insn_kind expected_kind(const struct expected *e)
{
	if (!e->valid)
		return INSN_UNDEFINED;
	if (expected_is(e, ONE_BYTE, 0, 255))
		return expected_kind_one_byte(e);
	if (expected_is(e, TWO_BYTE, 0x80, 0x8f))
		return INSN_JCC;
	if (expected_is(e, TWO_BYTE, 0x05, 0x05))
		return INSN_SYSCALL;
	if (expected_is(e, TWO_BYTE, 0x34, 0x34))
		return INSN_FAR;
	if (expected_is(e, TWO_BYTE, 0x0b, 0x0b) || expected_is(e, TWO_BYTE, 0xb9, 0xb9) ||
	    expected_is(e, TWO_BYTE, 0xff, 0xff))
		return INSN_TRAP;
	if (expected_is(e, TWO_BYTE, 0xa2, 0xa2))
		return INSN_CPUID;
	if (expected_is(e, TWO_BYTE, 0x33, 0x33))
		return INSN_RDPMC;
	if (expected_is(e, TWO_BYTE, 0x31, 0x31) || e->insn.mnemonic == ZYDIS_MNEMONIC_RDTSCP)
		return INSN_RDTSC;
	if (expected_is(e, TWO_BYTE, 0xae, 0xae) && e->insn.meta.isa_ext == ZYDIS_ISA_EXT_RDWRFSGS)
		return e->insn.raw.modrm.reg & 1 ? INSN_GSBASE : INSN_PLAIN;
	if (expected_is(e, TWO_BYTE, 0xa9, 0xa9) || expected_is(e, TWO_BYTE, 0xb5, 0xb5))
		return INSN_GSBASE;
	return e->insn.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED ? INSN_TRAP : INSN_PLAIN;
}

static inline unsigned expected_flag_set(uint32_t f)
{
	/* CF 0, PF 2, AF 4, ZF 6, SF 7, OF 11 in RFLAGS */
	return (f & 1) | (f >> 2 & 1) << 1 | (f >> 4 & 1) << 2 | (f >> 6 & 1) << 3 |
	       (f >> 7 & 1) << 4 | (f >> 11 & 1) << 5;
}

/* Outside of straight-line user code everything counts as seen and nothing as overwritten. */
static inline bool expected_flags_seen(enum insn_kind kind)
{
	return kind == INSN_UNDEFINED || kind == INSN_FAR || kind == INSN_SYSCALL ||
	       kind == INSN_TRAP || kind == INSN_XBEGIN;
}

static inline unsigned expected_flags_read(const struct expected *e)
{
	if (expected_flags_seen(expected_kind(e)))
		return FLAGS_ALL;
	return e->insn.cpu_flags ? expected_flag_set(e->insn.cpu_flags->tested) : 0;
}

/* " name " */
static inline const char *expected_spaced_name(const struct expected *e)
{
	static char name[32];

	snprintf(name, sizeof(name), " %s ", ZydisMnemonicGetString(e->insn.mnemonic));
	return name;
}

static inline unsigned expected_flags_written(const struct expected *e)
{
	const ZydisAccessedFlags *f = e->insn.cpu_flags;
	unsigned all;
	bool by_imm = false;

	if (expected_flags_seen(expected_kind(e)) || !f)
		return 0;
	all = expected_flag_set(f->modified) | expected_flag_set(f->set_0) |
	      expected_flag_set(f->set_1);
	if (!strstr(" bt btc btr bts mul imul div idiv bsf bsr lzcnt tzcnt shld shrd ",
		    expected_spaced_name(e)))
		all |= expected_flag_set(f->undefined); /* elsewhere every processor writes them */
	if (expected_is(e, ONE_BYTE, 0xa6, 0xa7) || expected_is(e, ONE_BYTE, 0xae, 0xaf))
		return expected_prefix(e, 0xf2) || expected_prefix(e, 0xf3) ? 0 : all;
	if (expected_is(e, ONE_BYTE, 0xd2, 0xd3) || expected_is(e, TWO_BYTE, 0xa5, 0xa5) ||
	    expected_is(e, TWO_BYTE, 0xad, 0xad))
		return 0;
	if (expected_is(e, ONE_BYTE, 0xc0, 0xc1)) {
		by_imm = true;
		if (e->insn.operand_width <= 16 && e->insn.raw.modrm.reg / 2 == 1)
			return 0; /* RCL, RCR: modulo 9 or 17 */
	}
	if (expected_is(e, TWO_BYTE, 0xa4, 0xa4) || expected_is(e, TWO_BYTE, 0xac, 0xac))
		by_imm = true;
	if (by_imm) {
		unsigned mask = e->insn.operand_width == 64 ? 63 : 31;

		return e->insn.raw.imm[0].value.u & mask ? all : 0;
	}
	return all;
}

/* FP_ARITH_INST_RETIRED counts these once... */
#define EXPECTED_ONCE(X) X(ADD) X(SUB) X(MUL) X(DIV) X(MIN) X(MAX) X(SQRT)
#define EXPECTED_FMA(X)                                                                            \
	X(FMADD132)                                                                                \
	X(FMADD213)                                                                                \
	X(FMADD231)                                                                                \
	X(FMSUB132)                                                                                \
	X(FMSUB213)                                                                                \
	X(FMSUB231) X(FNMADD132) X(FNMADD213) X(FNMADD231) X(FNMSUB132) X(FNMSUB213) X(FNMSUB231)
#define EXPECTED_FMA_ALTERNATING(X)                                                                \
	X(FMADDSUB132) X(FMADDSUB213) X(FMADDSUB231) X(FMSUBADD132) X(FMSUBADD213) X(FMSUBADD231)
#define CASE_OF_(name) case ZYDIS_MNEMONIC_##name:
#define SSE_ALL(n)                                                                                 \
	CASE_OF_(n##PS)                                                                            \
	CASE_OF_(n##PD)                                                                            \
	CASE_OF_(n##SS)                                                                            \
	CASE_OF_(n##SD) CASE_OF_(V##n##PS) CASE_OF_(V##n##PD) CASE_OF_(V##n##SS) CASE_OF_(V##n##SD)
#define VEX_ALL(n)    CASE_OF_(V##n##PS) CASE_OF_(V##n##PD) CASE_OF_(V##n##SS) CASE_OF_(V##n##SD)
#define VEX_PACKED(n) CASE_OF_(V##n##PS) CASE_OF_(V##n##PD)

/* ... these twice; returns how often. */
static inline unsigned expected_fp_weight(ZydisMnemonic m)
{
	switch (m) {
		EXPECTED_ONCE(SSE_ALL)
		VEX_ALL(RCP14)
		VEX_ALL(RSQRT14)
	case ZYDIS_MNEMONIC_RCPPS:
	case ZYDIS_MNEMONIC_RCPSS:
	case ZYDIS_MNEMONIC_VRCPPS:
	case ZYDIS_MNEMONIC_VRCPSS:
	case ZYDIS_MNEMONIC_RSQRTPS:
	case ZYDIS_MNEMONIC_RSQRTSS:
	case ZYDIS_MNEMONIC_VRSQRTPS:
	case ZYDIS_MNEMONIC_VRSQRTSS:
	case ZYDIS_MNEMONIC_HADDPS:
	case ZYDIS_MNEMONIC_HADDPD:
	case ZYDIS_MNEMONIC_HSUBPS:
	case ZYDIS_MNEMONIC_HSUBPD:
	case ZYDIS_MNEMONIC_ADDSUBPS:
	case ZYDIS_MNEMONIC_ADDSUBPD:
		VEX_PACKED(HADD)
		VEX_PACKED(HSUB)
		VEX_PACKED(ADDSUB)
		return 1;
		EXPECTED_FMA(VEX_ALL)
		EXPECTED_FMA_ALTERNATING(VEX_PACKED)
		VEX_ALL(FMADD)
		VEX_ALL(FMSUB)
		VEX_ALL(FNMADD)
		VEX_ALL(FNMSUB)
		VEX_PACKED(FMADDSUB)
		VEX_PACKED(FMSUBADD)
	case ZYDIS_MNEMONIC_DPPS:
	case ZYDIS_MNEMONIC_DPPD:
		VEX_PACKED(DP)
		return 2;
	default:
		return 0;
	}
}

static inline uint64_t expected_fp(const struct expected *e)
{
	const char *name = ZydisMnemonicGetString(e->insn.mnemonic);
	unsigned weight = expected_fp_weight(e->insn.mnemonic);
	bool single = name[strlen(name) - 1] == 's';
	bool scalar = name[strlen(name) - 2] == 's';
	uint64_t fp, fma;

	if (!weight)
		return 0;
	if (scalar) {
		fp = single ? SPMU_SIGBIT(FP_SCALAR_SINGLE) : SPMU_SIGBIT(FP_SCALAR_DOUBLE);
		fma = single ? SPMU_SIGBIT(FMA_SCALAR_SINGLE) : SPMU_SIGBIT(FMA_SCALAR_DOUBLE);
	} else if (e->operands[0].size == 512) {
		fp = single ? SPMU_SIGBIT(FP_512_SINGLE) : SPMU_SIGBIT(FP_512_DOUBLE);
		fma = single ? SPMU_SIGBIT(FMA_512_SINGLE) : SPMU_SIGBIT(FMA_512_DOUBLE);
	} else if (e->operands[0].size == 256) {
		fp = single ? SPMU_SIGBIT(FP_256_SINGLE) : SPMU_SIGBIT(FP_256_DOUBLE);
		fma = single ? SPMU_SIGBIT(FMA_256_SINGLE) : SPMU_SIGBIT(FMA_256_DOUBLE);
	} else {
		fp = single ? SPMU_SIGBIT(FP_128_SINGLE) : SPMU_SIGBIT(FP_128_DOUBLE);
		fma = single ? SPMU_SIGBIT(FMA_128_SINGLE) : SPMU_SIGBIT(FMA_128_DOUBLE);
	}
	return weight == 2 ? fp | fma : fp;
}

/* Returns true if the operand is data in memory. */
static inline bool expected_is_data(const struct expected *e, const ZydisDecodedOperand *o)
{
	if (o->type != ZYDIS_OPERAND_TYPE_MEMORY)
		return false;
	return o->mem.type != ZYDIS_MEMOP_TYPE_AGEN && o->mem.type != ZYDIS_MEMOP_TYPE_MIB &&
	       e->insn.meta.isa_ext != ZYDIS_ISA_EXT_MPX && /* switched off, does nothing */
	       e->insn.meta.category != ZYDIS_CATEGORY_NOP &&
	       e->insn.meta.category != ZYDIS_CATEGORY_WIDENOP;
}

static inline bool expected_is_cache_control(const struct expected *e)
{
	ZydisISAExt ext = e->insn.meta.isa_ext;

	return ext == ZYDIS_ISA_EXT_CLFSH || ext == ZYDIS_ISA_EXT_CLFLUSHOPT ||
	       ext == ZYDIS_ISA_EXT_CLWB || ext == ZYDIS_ISA_EXT_CLDEMOTE;
}

static inline uint64_t expected_accesses(const struct expected *e)
{
	uint64_t set = 0;

	if (e->insn.meta.isa_ext == ZYDIS_ISA_EXT_CLZERO)
		return SPMU_SIGBIT(STORES);
	if (expected_is_cache_control(e))
		return 0;
	for (unsigned i = 0; i < e->insn.operand_count; i++) {
		const ZydisDecodedOperand *o = &e->operands[i];

		if (!expected_is_data(e, o))
			continue;
		if (o->actions & (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD))
			set |= SPMU_SIGBIT(LOADS);
		if (o->actions & (ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE))
			set |= SPMU_SIGBIT(STORES);
	}
	if (set & SPMU_SIGBIT(LOADS) &&
	    (expected_prefix(e, 0xf0) || expected_is(e, ONE_BYTE, 0x86, 0x87)))
		set |= SPMU_SIGBIT(LOCK_LOADS);
	return set;
}

static inline uint64_t expected_signals(const struct expected *e)
{
	enum insn_kind kind = expected_kind(e);
	uint64_t set = SPMU_SIGBIT(INSTRUCTIONS) | expected_accesses(e) | expected_fp(e);

	if (kind == INSN_UNDEFINED)
		return 0;
	if (kind == INSN_TRAP)
		return expected_is(e, ONE_BYTE, 0xcc, 0xcc) || expected_is(e, ONE_BYTE, 0xf1, 0xf1)
			       ? SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(FAR)
			       : 0;
	if (kind == INSN_JMP_REL)
		set |= SPMU_SIGBIT(JMP_REL);
	if (kind == INSN_JMP_IND)
		set |= SPMU_SIGBIT(JMP_IND);
	if (kind == INSN_CALL_REL)
		set |= SPMU_SIGBIT(CALL_REL);
	if (kind == INSN_CALL_IND)
		set |= SPMU_SIGBIT(CALL_IND);
	if (kind == INSN_RET)
		set |= SPMU_SIGBIT(RET_NEAR);
	if (kind == INSN_FAR || kind == INSN_SYSCALL)
		set |= SPMU_SIGBIT(FAR);
	if (e->insn.mnemonic == ZYDIS_MNEMONIC_NOP && !e->mpx)
		set |= SPMU_SIGBIT(NOP);
	if (expected_is(e, ONE_BYTE, 0xd8, 0xdf))
		set |= SPMU_SIGBIT(X87);
	return set;
}

/* The operand whose address is the instruction's data address; NULL: none. */
static inline const ZydisDecodedOperand *expected_operand(const struct expected *e)
{
	const ZydisDecodedOperand *found = NULL;

	for (unsigned i = 0; e->valid && i < e->insn.operand_count; i++) {
		const ZydisDecodedOperand *o = &e->operands[i];

		if (!expected_is_data(e, o))
			continue;
		if (o->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
			return o;
		/* the source of MOVS and CMPS */
		if (!found || o->mem.base == ZYDIS_REGISTER_RSI ||
		    o->mem.base == ZYDIS_REGISTER_ESI)
			found = o;
	}
	return found;
}

static inline uint64_t expected_register(ZydisRegister reg, const uint64_t gpr[16], uint64_t next)
{
	if (reg == ZYDIS_REGISTER_NONE)
		return 0;
	if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP)
		return next;
	return gpr[ZydisRegisterGetId(reg)];
}

/* The address of a memory operand; with a vector index, without it. */
static inline uint64_t expected_operand_address(const struct expected *e,
						const ZydisDecodedOperand *o, uint64_t address,
						const uint64_t gpr[16], uint64_t fs_base,
						uint64_t gs_base)
{
	bool by_register = strstr(" movdir64b enqcmd enqcmds ", expected_spaced_name(e)) &&
			   o->encoding != ZYDIS_OPERAND_ENCODING_MODRM_RM;
	uint64_t next = address + e->insn.length;
	uint64_t at;

	if (by_register) { /* always in ES */
		at = expected_register(o->mem.base, gpr, next);
		return e->insn.address_width == 32 ? (uint32_t)at : at;
	}
	at = (uint64_t)o->mem.disp.value + expected_register(o->mem.base, gpr, next);
	/* Zydis 4.0 takes R13D for the base that is not there with 67H and REX.B. */
	if (o->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM && e->insn.raw.sib.offset &&
	    e->insn.raw.sib.base == 5 && e->insn.raw.modrm.mod == 0)
		at = (uint64_t)e->insn.raw.disp.value;
	/* the index of a tile load or store is the distance of its rows */
	if ((e->insn.meta.isa_ext != ZYDIS_ISA_EXT_AMX_TILE || e->insn.opcode != 0x4b) &&
	    o->mem.type != ZYDIS_MEMOP_TYPE_VSIB)
		at += expected_register(o->mem.index, gpr, next) * o->mem.scale;
	if (e->insn.mnemonic == ZYDIS_MNEMONIC_XLAT)
		at += gpr[0] & 255;
	if (o->mem.segment == ZYDIS_REGISTER_SS && o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
		return o->actions & ZYDIS_OPERAND_ACTION_WRITE ? at - o->size / 8 : at;
	if (expected_is(e, ONE_BYTE, 0x8f, 0x8f) &&
	    (o->mem.base == ZYDIS_REGISTER_RSP || o->mem.base == ZYDIS_REGISTER_ESP))
		at += o->size / 8; /* POP to memory: after RSP has moved */
	if (e->insn.address_width == 32)
		at = (uint32_t)at;
	if (o->mem.segment == ZYDIS_REGISTER_FS)
		at += fs_base;
	if (o->mem.segment == ZYDIS_REGISTER_GS)
		at += gs_base;
	return at;
}

static inline uint64_t expected_clzero(const struct expected *e, const uint64_t gpr[16],
				       uint64_t fs_base, uint64_t gs_base)
{
	uint64_t at = e->insn.address_width == 32 ? (uint32_t)gpr[0] : gpr[0];
	unsigned segment = expected_segment(e);

	return at + (segment == 0x64 ? fs_base : segment == 0x65 ? gs_base : 0);
}

static inline uint64_t expected_address(const struct expected *e, uint64_t address,
					const uint64_t gpr[16], uint64_t fs_base, uint64_t gs_base)
{
	const ZydisDecodedOperand *o = expected_operand(e);

	if (e->valid && e->insn.meta.isa_ext == ZYDIS_ISA_EXT_CLZERO)
		return expected_clzero(e, gpr, fs_base, gs_base);
	if (!o || o->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
		return 0;
	return expected_operand_address(e, o, address, gpr, fs_base, gs_base);
}

/* An access to memory, as a model of caches sees it. */
struct expected_access {
	unsigned kind, bytes;
	uint64_t address;
};

/* MOVNT and its kind, MASKMOV, PREFETCHNTA (accesses.h). */
static inline bool expected_is_nontemporal(const struct expected *e)
{
	static const char *const names[] = {" movnt",	    " vmovnt",	     " maskmovq ",
					    " maskmovdqu ", " vmaskmovdqu ", " prefetchnta "};

	for (size_t i = 0; e->valid && i < sizeof names / sizeof *names; i++)
		if (strstr(expected_spaced_name(e), names[i]))
			return true;
	return false;
}

/* Lists all accesses, first those that only load.  Returns their number. */
static inline unsigned expected_access_list(const struct expected *e, uint64_t address,
					    const uint64_t gpr[16], uint64_t fs_base,
					    uint64_t gs_base, struct expected_access list[8])
{
	bool prefetch = e->insn.meta.category == ZYDIS_CATEGORY_PREFETCH;
	bool locked = expected_accesses(e) & SPMU_SIGBIT(LOCK_LOADS);
	unsigned hints = (prefetch ? SPMU_ACCESS_PREFETCH : 0) |
			 (expected_is_nontemporal(e) ? SPMU_ACCESS_NONTEMPORAL : 0);
	unsigned n = 0;

	if (expected_is_cache_control(e) || expected_kind(e) == INSN_TRAP)
		return 0;
	if (e->valid && e->insn.meta.isa_ext == ZYDIS_ISA_EXT_CLZERO)
		list[n++] = (struct expected_access){
			.kind = SPMU_ACCESS_STORE,
			.bytes = 64,
			.address = expected_clzero(e, gpr, fs_base, gs_base),
		};
	for (unsigned stores = 0; e->valid && stores < 2; stores++)
		for (unsigned i = 0; i < e->insn.operand_count; i++) {
			const ZydisDecodedOperand *o = &e->operands[i];
			bool load = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
			bool store = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
			unsigned bytes = o->size / 8;

			if (!expected_is_data(e, o) || !(load || store) || store != stores)
				continue;
			list[n++] = (struct expected_access){
				.kind = (load ? SPMU_ACCESS_LOAD : 0) |
					(store ? SPMU_ACCESS_STORE : 0) |
					(load && store && locked ? SPMU_ACCESS_LOCKED : 0) | hints,
				.bytes = prefetch      ? 1
					 : bytes > 127 ? (bytes + 63) / 64 * 64
						       : bytes,
				.address = expected_operand_address(e, o, address, gpr, fs_base,
								    gs_base),
			};
		}
	return n;
}

/* Which elements of its memory operand an instruction accesses, from its name and operands. */
struct expected_elements {
	bool there, packed, gathered;
	unsigned bytes, count, selectors, mask, index, index_bytes;
};

/* Returns the register that has a VEX or legacy instruction's mask. */
static inline unsigned expected_mask_register(const struct expected *e)
{
	bool explicit_memory =
		e->insn.attributes & ZYDIS_ATTRIB_HAS_MODRM && e->insn.raw.modrm.mod != 3;

	if (!explicit_memory) /* MASKMOVQ, MASKMOVDQU */
		return (unsigned)ZydisRegisterGetId(e->operands[1].reg.value);
	if (e->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY ||
	    e->operands[2].type == ZYDIS_OPERAND_TYPE_MEMORY)
		return (unsigned)ZydisRegisterGetId(e->operands[1].reg.value);
	return (unsigned)ZydisRegisterGetId(e->operands[2].reg.value); /* a gather */
}

/* Does a load with this mask access all of its operand (Vol. 2A, exception types without fault
 * suppression)?  Named by the groups of opcodes that the manual gives these types. */
static inline bool expected_is_whole(const struct expected *e)
{
	switch (e->insn.meta.exception_class) {
	case ZYDIS_EXCEPTION_CLASS_E1NF:
	case ZYDIS_EXCEPTION_CLASS_E2NF:
	case ZYDIS_EXCEPTION_CLASS_E3NF:
	case ZYDIS_EXCEPTION_CLASS_E4NF:
	case ZYDIS_EXCEPTION_CLASS_E5NF:
	case ZYDIS_EXCEPTION_CLASS_E6NF:
	case ZYDIS_EXCEPTION_CLASS_E9NF:
	case ZYDIS_EXCEPTION_CLASS_E10NF:
	case ZYDIS_EXCEPTION_CLASS_E11NF:
		return !(e->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY);
	default:
		return strstr(" vdbpsadbw vgf2p8affineqb vgf2p8affineinvqb ",
			      expected_spaced_name(e)) != NULL;
	}
}

static inline struct expected_elements expected_elements(const struct expected *e)
{
	const char *name = expected_spaced_name(e);
	bool evex = e->valid && e->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
	bool masked = evex && e->insn.raw.evex.aaa;
	bool old = strstr(name, "maskmov") != NULL;
	const ZydisDecodedOperand *o = expected_operand(e);
	struct expected_elements want = {0};
	unsigned vector = e->insn.avx.vector_length / 8, size;

	if (!o ||
	    !(o->actions & (ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_MASK_WRITE)))
		return want;
	want.gathered = o->mem.type == ZYDIS_MEMOP_TYPE_VSIB;
	if (!masked && !old && !want.gathered)
		return want;
	want.packed = strstr(name, "compress") || strstr(name, "expand");
	if (masked && !want.gathered && !want.packed && expected_is_whole(e))
		return want;
	size = o->size / 8;
	want.there = true;
	want.bytes =
		strstr(name, "maskmovdqu") || strstr(name, " maskmovq") ? 1 : o->element_size / 8;
	want.mask = masked ? e->insn.raw.evex.aaa : expected_mask_register(e);
	want.count = want.selectors = size / want.bytes;
	if (want.gathered) {
		/* V[P]GATHERxy, V[P]SCATTERxy: x is D or Q */
		const char *kind = strstr(name, "gather") ? strstr(name, "gather") + 6
							  : strstr(name, "scatter") + 7;

		kind += !strncmp(kind, "pf", 2) ? 3 : 0; /* a prefetch */
		want.index_bytes = *kind == 'd' ? 4 : 8;
		want.index = (unsigned)ZydisRegisterGetId(o->mem.index);
		want.count =
			vector / (want.bytes > want.index_bytes ? want.bytes : want.index_bytes);
		want.selectors = want.count;
	} else if (e->insn.avx.broadcast.mode) {
		/* The mask has a bit for each operation: as many as the larger elements of source
		 * and result that a vector has. */
		const ZydisDecodedOperand *to = &e->operands[0];
		bool to_mask =
			to->reg.value >= ZYDIS_REGISTER_K0 && to->reg.value <= ZYDIS_REGISTER_K7;
		unsigned bytes = to_mask ? 0 : to->element_size / 8u;

		want.selectors = vector / (bytes > want.bytes ? bytes : want.bytes);
	}
	return want;
}

static inline bool expected_uses_gs(const struct expected *e)
{
	if (!e->valid)
		return false;
	if (e->insn.meta.isa_ext == ZYDIS_ISA_EXT_CLZERO)
		return expected_segment(e) == 0x65;
	for (unsigned i = 0; i < e->insn.operand_count; i++)
		if (expected_is_data(e, &e->operands[i]) &&
		    e->operands[i].mem.segment == ZYDIS_REGISTER_GS)
			return true;
	return false;
}

/* Offset of a RIP-relative displacement; 0: none. */
static inline unsigned expected_rip_offset(const struct expected *e)
{
	const ZydisDecodedInstruction *i = &e->insn;

	if (!e->valid || !i->raw.modrm.offset || i->raw.modrm.mod != 0 || i->raw.modrm.rm != 5)
		return 0;
	return i->raw.disp.size == 32 ? i->raw.disp.offset : 0;
}

/* Returns true for a near branch whose operand size is 16 bits.  Of that, Zydis knows only the
 * shorter displacement. */
static inline bool expected_is_narrow(const struct expected *e)
{
	enum insn_kind kind = expected_kind(e);

	return insn_near_16 && kind >= INSN_JCC && kind <= INSN_RET && expected_prefix(e, 0x66) &&
	       !e->insn.raw.rex.W;
}

static inline bool expected_near_16(const struct expected *e)
{
	return expected_is_narrow(e) && expected_kind(e) >= INSN_CALL_REL;
}

static inline uint64_t expected_target(const struct expected *e, uint64_t address)
{
	uint64_t target = address + e->insn.length + (uint64_t)e->insn.raw.imm[0].value.s;

	if (!e->valid || !e->insn.raw.imm[0].is_relative)
		return 0;
	return expected_is_narrow(e) ? (uint16_t)target : target;
}

#endif
