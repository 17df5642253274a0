/* SPDX-License-Identifier: MIT */
/*
 * decode_table.h: the layout of the opcode table.  generate.c writes the table and decode.c
 * reads it.
 *
 * (page, opcode byte) selects a row.  A row is a block of leaves.  Its layout says which of
 * REX.W, vector length, EVEX.b and the ModRM byte select the leaf.  A leaf is the number of a
 * property set.  A few hundred sets describe all instructions.
 */
#ifndef SOFTPMU_DECODE_TABLE_H
#define SOFTPMU_DECODE_TABLE_H

#include <stdint.h>

/*
 * A page is 256 rows: one for each opcode map and mandatory prefix.  Legacy maps distinguish six
 * prefix states (66H can be combined with F3H or F2H).  In VEX, EVEX and XOP it is the pp field.
 */
#define PREFIX_66	1u
#define PREFIX_F3	2u
#define PREFIX_F2	4u
#define LEGACY_PREFIXES 6u
#define LEGACY_MAPS	4u /* one byte, 0F, 0F 38, 0F 3A */
#define VEX_MAPS	3u /* map 1..3 */
#define EVEX_MAPS	6u /* map 1..6; 4 is empty */
#define XOP_MAPS	3u /* map 8..10 */

#define PAGE_LEGACY 0u
#define PAGE_VEX    (PAGE_LEGACY + LEGACY_MAPS * LEGACY_PREFIXES)
#define PAGE_EVEX   (PAGE_VEX + VEX_MAPS * 4u)
#define PAGE_XOP    (PAGE_EVEX + EVEX_MAPS * 4u)
#define PAGES	    (PAGE_XOP + XOP_MAPS * 4u)

/* How ModRM selects a leaf. */
enum row_modrm {
	ROW_MODRM_ANY = 0, /* 1 leaf */
	ROW_MODRM_MOD,	   /* 2: memory, register */
	ROW_MODRM_REG,	   /* 8: the reg field */
	ROW_MODRM_MOD_REG, /* 16: memory by reg, register by reg */
	ROW_MODRM_FULL,	   /* 72: memory by reg, then register by reg and rm */
};
#define ROW_MODRM_MASK 7u
#define ROW_HAS_MODRM  8u
#define ROW_BY_W       16u
#define ROW_BY_L       32u /* 4: the vector length field */
#define ROW_BY_B       64u /* EVEX.b */

struct decode_row {
	uint16_t leaf; /* first leaf of the block */
	uint8_t shape;
	uint8_t stride; /* leaves for each W, L, b, from which ModRM selects */
};

/* What decode.c must do in addition to copying the property set. */
#define ATTR_MOFFS	  1u	/* an address of 8 bytes (4 with 67H) follows */
#define ATTR_RELATIVE	  2u	/* the immediate is a branch displacement */
#define ATTR_SHIFT_COUNT  4u	/* flags are written when the immediate, masked, is not 0 */
#define ATTR_3DNOW	  8u	/* the immediate is the opcode */
#define ATTR_VALUE	  16u	/* the immediate is needed */
#define ATTR_BY_IMMEDIATE 31u	/* any of the above */
#define ATTR_STRING	  32u	/* F2H and F3H repeat it */
#define ATTR_NOP_UNLESS_B 64u	/* 90H: with REX.B it exchanges */
#define ATTR_POP_MEMORY	  128u	/* with an RSP base, the address is that after the pop */
#define ATTR_NEAR_66	  2048u /* a near branch with 66H, which AMD's processors heed */
#define ATTR_RARE	  (ATTR_STRING | ATTR_NOP_UNLESS_B | ATTR_POP_MEMORY | ATTR_NEAR_66)
#define ATTR_NO_MEMORY	  256u	/* ModRM's mod field is ignored: always registers */
#define ATTR_VSIB	  512u	/* the index is a vector */
#define ATTR_SEGMENTED	  1024u /* FS and GS apply to its memory operand */

/* Fields that make the encoding invalid. */
#define DENY_LOCK	  (1u << 0)
#define DENY_R		  (1u << 1)
#define DENY_X		  (1u << 2) /* as part of a register number in rm */
#define DENY_B		  (1u << 3) /* likewise */
#define DENY_R2		  (1u << 4)
#define DENY_V		  (1u << 5) /* vvvv must be unused */
#define DENY_V_HIGH	  (1u << 6) /* vvvv must name register 0..7 */
#define DENY_V2		  (1u << 7)
#define DENY_MASK	  (1u << 8)
#define DENY_NO_MASK	  (1u << 9)
#define DENY_Z		  (1u << 10)
#define DENY_Z_UNMASKED	  (1u << 11)
#define DENY_RIP	  (1u << 12)
#define DENY_NO_SIB	  (1u << 13)
#define DENY_REG_IS_V	  (1u << 14)
#define DENY_REG_IS_RM	  (1u << 15)
#define DENY_V_IS_RM	  (1u << 16)
#define DENY_REG_IS_INDEX (1u << 17)
#define DENY_V_IS_INDEX	  (1u << 18)
#define DENY_ADDRESS32	  (1u << 19)

struct decode_prop {
	uint32_t signals;
	uint32_t deny;
	uint16_t attr;
	uint8_t kind;
	uint8_t flags_read;
	uint8_t flags_written;
	uint8_t immediate_bytes;
	uint8_t memory_kind;
	uint8_t base;	     /* of an implicit memory operand */
	int8_t displacement; /* likewise */
	uint8_t disp8_shift;
	uint8_t pop_bytes; /* how far POP moves RSP */
	uint8_t accesses;  /* number of a pattern of memory accesses */
};

/*
 * A pattern of memory accesses: those of an opcode for each value of REX.W, vector length and
 * EVEX.b.  Loads come first.  0 ends a list.
 */
#define ACCESSES_MAX		3u
#define ACCESS_VARIANT(w, l, b) ((w) << 3 | (l) << 1 | (b))
#define ACCESS_VARIANTS		16u
#define ACCESS_KIND_MASK	15u /* SPMU_ACCESS_LOAD, STORE, PREFETCH; ACCESS_NONTEMPORAL */
#define ACCESS_NONTEMPORAL	4u
#define ACCESS_AT_BIT		4 /* enum insn_memory, or one of ACCESS_AT_RDI ... */
#define ACCESS_AT_MASK		15u
#define ACCESS_BYTES_BIT	8 /* bytes, in units of 64 if ACCESS_LINES is set */
#define ACCESS_BYTES_MASK	127u
#define ACCESS_LINES		0x8000u
#define ACCESS_AT_REG		12 /* MOVDIR64B, ENQCMD: the register of ModRM.reg */
#define ACCESS_AT_RDI		13 /* MASKMOVQ, which is no string instruction */
#define ACCESS_AT_RAX		14 /* CLZERO */
#define ACCESS_AT_RBP		15 /* LEAVE */
struct decode_accesses {
	uint16_t access[ACCESS_VARIANTS][ACCESSES_MAX];
	uint8_t elements[ACCESS_VARIANTS];
};

/*
 * How a mask or a vector of indices selects the elements of the one memory operand.  The first
 * field is enum insn_elements_how.  The next two are logarithms (base 2): of the bytes of an
 * element, and of the number of selectors.  The last says whether an index has 8 bytes.  0: the
 * operand is accessed as a whole.
 */
#define ELEMENTS_HOW_MASK	3u
#define ELEMENTS_BYTES_BIT	2
#define ELEMENTS_BYTES_MASK	3u
#define ELEMENTS_SELECTORS_BIT	4
#define ELEMENTS_SELECTORS_MASK 7u
#define ELEMENTS_WIDE_INDEX	128u

/*
 * What decode_operands.c needs of an instruction besides struct insn: the pattern of its accesses
 * (NULL: it is undefined) and its variant, and the registers that its fields name: EVEX's mask,
 * vvvv with its extension, r/m and the index of SIB without V'.
 */
struct decode_fields {
	const struct decode_accesses *accesses;
	uint8_t variant;
	bool vex, evex; /* vex: with any of VEX, EVEX and XOP */
	bool has_66;
	bool registers_only; /* ModRM has no memory operand */
	uint8_t mask, v, rm, index;
};

struct insn;
/* decode.c: reads the prefixes and fields of an instruction that has been decoded. */
struct decode_fields decode_again(const uint8_t *code, const struct insn *insn);

/* For a legacy opcode without prefixes, of the one-byte map or after 0FH (decode_cache.c).
 * HEAD_KNOWN: only addresses depend on the bytes after ModRM and SIB.  The others: there is a
 * ModRM byte; only an address depends on the register that its rm field names; nothing depends on
 * its reg field; and the bytes of an immediate without REX.W.  0: more depends on these bytes. */
#define HEAD_KNOWN	   1u
#define HEAD_MODRM_BIT	   1
#define HEAD_ANY_RM_BIT	   2
#define HEAD_ANY_REG_BIT   3
#define HEAD_IMMEDIATE_BIT 4
extern const uint8_t decode_heads[2][256];

#endif
