/* SPDX-License-Identifier: MIT */
/*
 * forms.h: the layout of costs.inc, the costs of instructions.
 *
 * An instruction's form is found as in the decoder's table: the opcode's page and byte select a
 * row, and REX.W, vector length, EVEX.b and ModRM select one of the row's forms.  A form has the
 * operands that it reads and writes, and a cost for each microarchitecture.  tools/costs writes
 * the table.
 */
#ifndef SPMU_DATA_UARCH_FORMS_H
#define SPMU_DATA_UARCH_FORMS_H

#include <stdint.h>

/* A page is an opcode map with a mandatory prefix: six states of prefixes in legacy maps. */
#define FORM_LEGACY_PREFIXES 6u
#define FORM_PAGE_VEX	     24u
#define FORM_PAGE_EVEX	     36u
#define FORM_PAGES	     60u

/* Fields of an encoding that name operands. */
#define FORM_REG    1u
#define FORM_RM	    2u
#define FORM_V	    4u
#define FORM_OPCODE 8u
#define FORM_IS4    16u
#define FORM_K	    32u

/* What a field names: three bits for each field. */
#define FORM_GPR		1u
#define FORM_VECTOR		2u
#define FORM_MASK		3u
#define FORM_MMX		4u
#define FORM_GPR8		5u /* numbers 4 to 7 without REX are AH to BH */
#define FORM_KIND_BIT(field)	(3u * (unsigned)__builtin_ctz(field))
#define FORM_KIND(kinds, field) ((kinds) >> FORM_KIND_BIT(field) & 7u)

/* Properties of a form. */
#define FORM_LOADS	      (1u << 0)
#define FORM_STORES	      (1u << 1)
#define FORM_STACK	      (1u << 2) /* moves RSP in addition to what it does */
#define FORM_READS_CARRY      (1u << 3)
#define FORM_READS_FLAGS      (1u << 4) /* other arithmetic flags than CF */
#define FORM_WRITES_CARRY     (1u << 5)
#define FORM_WRITES_FLAGS     (1u << 6)
#define FORM_READS_X87	      (1u << 7)
#define FORM_ZERO_IDIOM	      (1u << 8)	 /* its result is 0 if its sources are one register */
#define FORM_ONES_IDIOM	      (1u << 9)	 /* likewise, but it executes */
#define FORM_MOVE	      (1u << 10) /* of 32 or 64 bits, between general registers */
#define FORM_VECTOR_MOVE      (1u << 11)
#define FORM_FUSES_TEST	      (1u << 12) /* with a following conditional jump: TEST, AND */
#define FORM_FUSES_COMPARE    (1u << 13) /* CMP, ADD, SUB */
#define FORM_FUSES_COUNT      (1u << 14) /* INC, DEC */
#define FORM_FUSES_ALWAYS     (1u << 15) /* CMP, TEST: on every family that fuses */
#define FORM_CONDITIONAL_JUMP (1u << 16)
#define FORM_SERIALIZES	      (1u << 17)
#define FORM_LOCKS	      (1u << 18)
#define FORM_WRITES_X87	      (1u << 19)
#define FORM_LEA	      (1u << 20)

/* Which fields and registers a form reads and writes. */
struct form_operands {
	uint32_t properties;
	uint32_t kinds;
	uint16_t gpr_reads, gpr_writes; /* registers that no field names */
	uint8_t reads, writes;
};

/* How ModRM selects a form. */
#define FORM_BY_REG 1u /* by its reg field: 8 */
#define FORM_BY_MOD 2u /* memory, then registers */
#define FORM_BY_W   4u
#define FORM_BY_L   8u
#define FORM_BY_B   16u
#define FORM_MODRM  32u /* there is a ModRM byte */

struct form_row {
	uint16_t first; /* of form_leaves */
	uint8_t shape;
	uint8_t stride; /* forms among which ModRM selects */
};

struct form {
	uint16_t operands; /* number of form_operands */
	uint16_t cost;	   /* number of a row of costs; 0: not known */
};

/*
 * What an instruction costs on one microarchitecture.
 *
 * uops		Micro-operations, without fusion.
 * latency	Clocks from its last register operand to its result.
 * load		Clocks from its address to the loaded value, if that hits the first level.
 * ports	First of its uses of ports, in port_uses.
 */
struct form_cost {
	uint8_t uops, uses;
	uint16_t latency;
	uint8_t load;
	uint8_t reserved;
	uint16_t ports;
};

/* Clocks for which it uses one of some ports: number of a set of ports, and clocks. */
struct port_use {
	uint8_t ports;
	uint8_t clocks;
};

#endif
