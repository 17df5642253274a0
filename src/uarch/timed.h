/* SPDX-License-Identifier: MIT */
/* timed.h: what an analysed block has for a timeline (timed_block.c, timeline.c). */
#ifndef SPMU_SRC_UARCH_TIMED_H
#define SPMU_SRC_UARCH_TIMED_H

#include <softpmu/uarch_time.h>

#include "data/uarch/forms.h"

/* Costs of a microarchitecture: data/uarch/costs_NAME.inc. */
struct spmu_core_costs {
	const struct form_cost *cost;
	const struct port_use *use;
	const uint64_t *ports; /* sets of ports */
	const uint16_t *row;   /* for the number of a form's cost */
	const uint8_t *unit;   /* what bit n of a set of ports is; NULL: not known */
};

/* Numbers of ports, as Intel gives them, and what is no port. */
#define TIMED_PORTS   10u
#define TIMED_DIVIDER 254u
#define TIMED_NO_PORT 255u

/* Registers: 16 general ones, CF, the other flags, vectors, masks, MMX, the x87 stack. */
#define TIMED_CARRY	16u
#define TIMED_FLAGS	17u
#define TIMED_VECTOR	18u
#define TIMED_MASK	50u
#define TIMED_MMX	58u
#define TIMED_X87	66u
#define TIMED_NONE	67u /* always ready; also the target of what nobody needs */
#define TIMED_REGISTERS 68u

#define TIMED_SOURCES	6u
#define TIMED_ADDRESSES 2u
#define TIMED_TARGETS	4u

#define TIMED_WINDOW_MAX 512u
#define TIMED_STORES_MAX 128u
#define TIMED_FILLS_MAX	 64u

/* Flags of an instruction. */
#define TIMED_LOADS	 1u
#define TIMED_STORES	 2u
#define TIMED_SERIALIZES 4u
#define TIMED_LOCKS	 8u
#define TIMED_FUSED	 16u /* with the instruction before: one micro-operation */
#define TIMED_MOVED	 32u /* a move that does not execute */
#define TIMED_X87_UOPS	 64u
#define TIMED_SLOW_LEA	 128u

/*
 * What some instructions are counted as.  An instruction is one of them at most.
 */
enum timed_mark {
	MARK_NONE,
	MARK_BRANCH,
	MARK_LENGTH, /* a prefix changes its length, which holds up the decoders */
	MARK_PAUSE,
	MARK_PREFETCH_NTA,
	MARK_PREFETCH_T0,
	MARK_PREFETCH_T1_T2,
	MARK_PREFETCH_W,
	MARK_TRANSACTION, /* XBEGIN */
	MARK_SSE,	  /* it writes a vector register and keeps its upper half */
	MARK_AVX,	  /* of 128 bits */
	MARK_AVX_WIDE,
	MARK_AVX_CLEAR, /* VZEROUPPER, VZEROALL */
	MARKS
};

struct timed_insn {
	uint8_t source[TIMED_SOURCES];
	uint8_t address[TIMED_ADDRESSES];
	uint8_t target[TIMED_TARGETS];
	uint8_t slots; /* places in the window that it takes; 0: it is fused with the one before */
	uint8_t load;
	uint16_t latency;
	uint16_t use; /* first use of ports */
	uint8_t uses;
	uint8_t flags;
	uint8_t uops;	    /* without micro-fusion */
	uint8_t starts;	    /* micro-operations that ports execute */
	uint8_t at_load;    /* those of them that start when the address is ready */
	uint8_t length : 4; /* in bytes */
	uint8_t mark : 4;   /* enum timed_mark */
};

struct spmu_timed_block {
	uint64_t linear, end;
	uint32_t count;
	bool returns; /* the last instruction is a near return */
	struct timed_insn insn[];
};

/* timed_mark.c: Returns what an instruction is counted as. */
struct instruction;
enum timed_mark timed_mark_of(const struct instruction *insn);
/* Returns whether it is a near return. */
bool timed_is_return(const struct instruction *insn);

/* core_shapes.c: Copies a shape.  Returns false if it has a number outside its range. */
bool core_shape_take(struct spmu_core_shape *to, const struct spmu_core_shape *from);

#endif
