/* SPDX-License-Identifier: MIT */
/*
 * decode_cache.h: a cache of decoded instructions.
 *
 * REX, opcode, ModRM and SIB are the head of an instruction.  They determine the instruction and
 * the lengths of the displacement and the immediate that follow.  Programs use few different
 * heads, so mostly only these values must be read.
 */
#ifndef SOFTPMU_DECODE_CACHE_H
#define SOFTPMU_DECODE_CACHE_H

#include <hosts/user/decode/decode.h>

#define HEADS 2048

/* The part of struct insn that is stored.  The rest is 0. */
struct head {
	uint64_t bytes;	     /* 0: the entry is empty */
	uint8_t front[8];    /* the fields from `length` on */
	uint8_t memory[4];   /* the fields from `memory_kind` on */
	int8_t displacement; /* added to the displacement that is read */
	/* After the head: a displacement, or the distance of a branch.  It is read together with
	 * the following bytes, and shifted. */
	uint8_t displacement_shift, relative_shift;
	bool has_displacement : 1, is_relative : 1;
	uint64_t signals;
};

/* All zeros initially. */
struct decode_cache {
	_Alignas(64) struct head head[HEADS];
};

/* Like insn_decode(), with the same result.  Returns the instruction's length, 0 for false.  Two
 * threads must not use the same cache at the same time. */
unsigned insn_decode_known(struct decode_cache *heads, const uint8_t *code, size_t available,
			   uint64_t address, struct insn *insn);

#endif
