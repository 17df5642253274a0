/* SPDX-License-Identifier: MIT */
/*
 * heads.h: instructions that have been decoded before.
 *
 * What an instruction is stands in its head: REX, opcode, ModRM and SIB.  Behind it come a
 * displacement and an immediate, whose lengths are known with the head.  Programs use few different
 * heads, so most instructions are known but for these values.
 */
#ifndef SOFTPMU_HEADS_H
#define SOFTPMU_HEADS_H

#include <hosts/user/decode/decode.h>

#define HEADS 2048

/* What it says of an instruction is less than a struct insn: the rest is 0. */
struct head {
	uint64_t bytes;	     /* 0: nothing is known here */
	uint8_t front[8];    /* from `length` on */
	uint8_t memory[4];   /* from `memory_kind` on */
	int8_t displacement; /* is added to the one that is read */
	/* Behind the head: a displacement or a branch's distance, read with what follows it, and
	 * shifted. */
	uint8_t displacement_shift, relative_shift;
	bool has_displacement : 1, is_relative : 1;
	uint64_t signals;
};

/* All zeros at first. */
struct heads {
	_Alignas(64) struct head head[HEADS];
};

/* insn_decode() with the same result; the instruction's length, 0 for false.  Not for two threads
 * at a time. */
unsigned insn_decode_known(struct heads *heads, const uint8_t *code, size_t available,
			   uint64_t address, struct insn *insn);

#endif
