/* SPDX-License-Identifier: MIT */
/*
 * generate_accesses.h: what an instruction as Zydis describes it accesses: its operands in memory,
 * and the elements that a mask or indices select.  Part of generate.c, which is built as one file.
 */
#ifndef SOFTPMU_GENERATE_ACCESSES_H
#define SOFTPMU_GENERATE_ACCESSES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <Zydis/Zydis.h>

#include "generate_prop.h"

/* Returns where an access is (decode_table.h); INSN_MEM_NONE: at an address that is not listed. */
static inline unsigned accesses_access_at(const ZydisDecodedInstruction *insn,
					  const ZydisDecodedOperand *o)
{
	if (o->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM)
		return INSN_MEM_MODRM;
	if (prop_writes_by_register(insn))
		return ACCESS_AT_REG;
	switch (o->mem.base) {
	case ZYDIS_REGISTER_RSP:
		return o->actions & PROP_WRITE ? INSN_MEM_STACK : INSN_MEM_STACK_TOP;
	case ZYDIS_REGISTER_RBP:
		return ACCESS_AT_RBP;
	case ZYDIS_REGISTER_RSI:
		return INSN_MEM_RSI;
	case ZYDIS_REGISTER_RDI:
		return prop_is_string(insn) ? INSN_MEM_RDI : ACCESS_AT_RDI;
	case ZYDIS_REGISTER_RBX:
		return INSN_MEM_XLAT;
	case ZYDIS_REGISTER_NONE:
		return INSN_MEM_MOFFS;
	default:
		return INSN_MEM_NONE;
	}
}

/* MOVNT and its kind, MASKMOV, PREFETCHNTA. */
static inline bool accesses_is_nontemporal(const ZydisDecodedInstruction *insn)
{
	const char *name = ZydisMnemonicGetString(insn->mnemonic);

	return !strncmp(name, "movnt", 5) || !strncmp(name, "vmovnt", 6) ||
	       !strncmp(name, "maskmov", 7) || !strcmp(name, "vmaskmovdqu") ||
	       !strcmp(name, "prefetchnta");
}

static inline uint16_t accesses_one(const ZydisDecodedInstruction *insn,
				    const ZydisDecodedOperand *o)
{
	unsigned bytes = o->size / 8u;
	unsigned kind = (o->actions & PROP_READ ? SPMU_ACCESS_LOAD : 0) |
			(o->actions & PROP_WRITE ? SPMU_ACCESS_STORE : 0);
	unsigned at = accesses_access_at(insn, o);

	if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || prop_no_data(insn) || !at || !kind ||
	    (o->mem.type != ZYDIS_MEMOP_TYPE_MEM && o->mem.type != ZYDIS_MEMOP_TYPE_VSIB))
		return 0;
	if (insn->meta.category == ZYDIS_CATEGORY_PREFETCH) {
		kind = SPMU_ACCESS_LOAD | SPMU_ACCESS_PREFETCH;
		bytes = 1;
	}
	if (accesses_is_nontemporal(insn))
		kind |= ACCESS_NONTEMPORAL;
	if (bytes > ACCESS_BYTES_MASK)
		bytes = (bytes + 63) / 64 | ACCESS_LINES >> ACCESS_BYTES_BIT;
	return (uint16_t)(kind | at << ACCESS_AT_BIT | bytes << ACCESS_BYTES_BIT);
}

/* Lists what an instruction accesses: first what it only loads. */
static inline void accesses_list(uint16_t list[ACCESSES_MAX], const ZydisDecodedInstruction *insn,
				 const ZydisDecodedOperand *operands)
{
	unsigned n = 0;

	if (insn->mnemonic == ZYDIS_MNEMONIC_CLZERO)
		list[n++] =
			SPMU_ACCESS_STORE | ACCESS_AT_RAX << ACCESS_AT_BIT | 64 << ACCESS_BYTES_BIT;
	for (unsigned stores = 0; stores < 2; stores++) {
		for (unsigned i = 0; i < insn->operand_count && n < ACCESSES_MAX; i++) {
			uint16_t access = accesses_one(insn, &operands[i]);

			if (access && ((access & SPMU_ACCESS_STORE) != 0) == stores)
				list[n++] = access;
		}
	}
}

/* Loads with these exception classes access what the mask does not select (Vol. 2A 2.8).  Zydis has
 * another class for the last ones. */
static inline bool accesses_loads_masked(const ZydisDecodedInstruction *insn)
{
	switch (insn->meta.exception_class) {
	case ZYDIS_EXCEPTION_CLASS_E1NF:
	case ZYDIS_EXCEPTION_CLASS_E2NF:
	case ZYDIS_EXCEPTION_CLASS_E3NF:
	case ZYDIS_EXCEPTION_CLASS_E4NF:
	case ZYDIS_EXCEPTION_CLASS_E5NF:
	case ZYDIS_EXCEPTION_CLASS_E6NF:
	case ZYDIS_EXCEPTION_CLASS_E9NF:
	case ZYDIS_EXCEPTION_CLASS_E10NF:
	case ZYDIS_EXCEPTION_CLASS_E11NF:
		return true;
	default:
		return insn->mnemonic == ZYDIS_MNEMONIC_VDBPSADBW ||
		       insn->mnemonic == ZYDIS_MNEMONIC_VGF2P8AFFINEQB ||
		       insn->mnemonic == ZYDIS_MNEMONIC_VGF2P8AFFINEINVQB;
	}
}

/* Returns how a mask or indices select elements: enum insn_elements_how. */
static inline unsigned accesses_elements_how(const ZydisDecodedInstruction *insn,
					     const ZydisDecodedOperand *o)
{
	const char *name = ZydisMnemonicGetString(insn->mnemonic);

	if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
		return INSN_ELEMENTS_GATHERED;
	if (insn->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX)
		return strstr(name, "maskmov") ? INSN_ELEMENTS_MASKED : INSN_ELEMENTS_WHOLE;
	if (strstr(name, "compress") || strstr(name, "expand"))
		return INSN_ELEMENTS_PACKED;
	return o->actions & PROP_WRITE || !accesses_loads_masked(insn) ? INSN_ELEMENTS_MASKED
								       : INSN_ELEMENTS_WHOLE;
}

static inline unsigned accesses_log2(unsigned n)
{
	return 31 - (unsigned)__builtin_clz(n);
}

/* Returns how many bits or elements of the mask select elements of a memory operand. */
static inline unsigned accesses_selectors(const ZydisDecodedInstruction *insn,
					  const ZydisDecodedOperand *o, unsigned bytes,
					  unsigned index_bytes)
{
	static const uint8_t of_broadcast[] = {
		[ZYDIS_BROADCAST_MODE_1_TO_2] = 2,   [ZYDIS_BROADCAST_MODE_1_TO_4] = 4,
		[ZYDIS_BROADCAST_MODE_1_TO_8] = 8,   [ZYDIS_BROADCAST_MODE_1_TO_16] = 16,
		[ZYDIS_BROADCAST_MODE_1_TO_32] = 32, [ZYDIS_BROADCAST_MODE_1_TO_64] = 64,
		[ZYDIS_BROADCAST_MODE_2_TO_4] = 4,   [ZYDIS_BROADCAST_MODE_2_TO_8] = 8,
		[ZYDIS_BROADCAST_MODE_2_TO_16] = 16, [ZYDIS_BROADCAST_MODE_4_TO_8] = 8,
		[ZYDIS_BROADCAST_MODE_4_TO_16] = 16, [ZYDIS_BROADCAST_MODE_8_TO_16] = 16,
	};

	if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
		return insn->avx.vector_length / 8u / (bytes > index_bytes ? bytes : index_bytes);
	if (insn->avx.broadcast.mode)
		return of_broadcast[insn->avx.broadcast.mode];
	return o->size / 8u / bytes;
}

/* Returns which elements of its memory operand it accesses (decode_table.h).  The opcodes of
 * gathers and scatters with indices of 8 bytes are odd. */
static inline uint8_t accesses_elements(const ZydisDecodedInstruction *insn,
					const ZydisDecodedOperand *operands)
{
	for (unsigned i = 0; i < insn->operand_count; i++) {
		const ZydisDecodedOperand *o = &operands[i];
		bool by_byte = strstr(ZydisMnemonicGetString(insn->mnemonic), "maskmovdqu") ||
			       insn->mnemonic == ZYDIS_MNEMONIC_MASKMOVQ;
		unsigned bytes = by_byte ? 1 : o->element_size / 8u, how;
		bool wide = insn->opcode & 1;

		if (!accesses_one(insn, o))
			continue;
		how = accesses_elements_how(insn, o);
		if (!how)
			return 0;
		return (uint8_t)(how | accesses_log2(bytes) << ELEMENTS_BYTES_BIT |
				 accesses_log2(accesses_selectors(insn, o, bytes, wide ? 8 : 4))
					 << ELEMENTS_SELECTORS_BIT |
				 (how == INSN_ELEMENTS_GATHERED && wide ? ELEMENTS_WIDE_INDEX : 0));
	}
	return 0;
}

/* Ends the program. */
static void die(const char *what)
{
	fprintf(stderr, "generate: %s\n", what);
	exit(1);
}

/* The patterns that have been found. */
#define PATTERNS_MAX 256u

static struct decode_accesses patterns[PATTERNS_MAX];
static unsigned pattern_count;

/* Returns the number of a pattern. */
static uint8_t pattern_number(const struct decode_accesses *pattern)
{
	unsigned i = 0;

	while (i < pattern_count && memcmp(&patterns[i], pattern, sizeof *pattern))
		i++;
	if (i == PATTERNS_MAX)
		die("too many patterns of accesses");
	patterns[i] = *pattern;
	if (i == pattern_count)
		pattern_count++;
	return (uint8_t)i;
}

#endif
