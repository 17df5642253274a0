/* SPDX-License-Identifier: MIT */
/* instruction.h: the form and the registers of an instruction (instruction.c). */
#ifndef SPMU_SRC_UARCH_INSTRUCTION_H
#define SPMU_SRC_UARCH_INSTRUCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "data/uarch/forms.h"

#define NO_FIELD 0xff

struct instruction {
	const struct form_operands *operands;
	uint16_t cost; /* number of its row of costs; 0: not known */
	/* Numbers of registers that fields of its encoding name. */
	uint8_t reg, rm, v, opcode_register, is4, mask;
	uint8_t base, index; /* of a memory operand; NO_FIELD: none */
	bool memory;	     /* ModRM names memory */
	bool scaled, displaced;
	bool vector_index, rip_relative, has_rex, lock;
	uint8_t opcode;
	uint8_t page;	       /* of forms: map and prefix */
	uint8_t vector_length; /* VEX.L, EVEX.L'L */
	bool wide;	       /* REX.W, VEX.W or EVEX.W */
};

/* Reads an instruction.  Returns false if its form is not known. */
bool instruction_read(const uint8_t *code, unsigned bytes, struct instruction *to);

#endif
