/* SPDX-License-Identifier: MIT */
/*
 * program.h: random programs and what they do to three units at once:
 *
 *	bulk       libsoftpmu, run through the meters as unit.h tells hosts to
 *	single     libsoftpmu, each instruction reported
 *	reference  the plain unit of reference.h
 *
 * A program is a list of operations that can be run again, cut and printed.
 */
#ifndef SOFTPMU_PROGRAM_H
#define SOFTPMU_PROGRAM_H

#include "random.h"
#include "reference.h"
#include "world.h"

#define PROGRAM_OPS_MAX 96u
#define PROGRAM_RUN_MAX 1024u

enum operation_kind {
	OP_RUN,	    /* value: seed of the stream; count: instructions */
	OP_WRMSR,   /* number, value */
	OP_RDMSR,   /* number */
	OP_RDPMC,   /* number: ECX; value: CPL, CR4.PCE << 2, CR0.PE << 3 */
	OP_LVT,	    /* value */
	OP_CLOCKS,  /* number: CPL, CYCLES << 2, REF_CYCLES << 3; value: clocks */
	OP_CPUID,   /* number: leaf */
	OP_SYNC,    /* bulk only; it must change nothing */
	OP_POKE,    /* value to the linear address in `address` */
	OP_GUARD,   /* number: granule; value: WORLD_NO_ bits */
	OP_COMPARE, /* everything */
	OP_RELOAD,  /* save and load bulk and single; value 1: into a second core */
	OP_RESET,
	OP_INIT,
	OP_EVENT, /* value: from; address: to; number: CPL, next CPL << 2 */
	OP_SMM,	  /* value 1: SMI, 0: RSM */
	OP_DEBUG, /* #DB */
	OP_IA32E, /* value 1: active */
	OP_HALT,  /* value 1: halted */
	OP_MACHINE_CHECK,
	OP_DEEP_SLEEP,
	OP_TALLY, /* late; number: kind; count: occurrences; value: CPL */
	OP_KINDS
};

struct operation {
	uint8_t kind, lp;
	uint32_t number, count;
	uint64_t value, address;
};

struct program {
	uint64_t seed;
	const char *model;
	unsigned threads;
	bool service;	    /* software answers a PMI: clears status, resets index, unmasks LVT */
	bool clocks;	    /* instructions carry clocks */
	bool modelled;	    /* the host supplies cycles, caches and mispredictions, too */
	bool hide_absent;   /* CPUID.0AH:EBX shows what it does not supply */
	bool branchy;	    /* most instructions are branches */
	unsigned block_max; /* longest stretch that the bulk host tries at once */
	unsigned rings;	    /* percent chance of another CPL at an instruction */
	uint64_t enables;   /* what software writes to IA32_PERF_GLOBAL_CTRL after a freeze */
	unsigned ops;
	struct operation op[PROGRAM_OPS_MAX];
};

/* The place of a thread's save area and buffers. */
#define PROGRAM_AREA(lp) (WORLD_MIDDLE + 0x100 * (lp))
#define PROGRAM_PEBS(lp) (WORLD_MIDDLE + 0x200 + 0x600 * (lp))
#define PROGRAM_BTS(lp)	 (WORLD_MIDDLE + 0xe00 + 0x100 * (lp))

/* What happened, summed over programs. */
struct program_totals {
	uint64_t programs, instructions, bulk_instructions, bulk_branches, stored_branches;
	uint64_t pmis, records, faults, comparisons, reloads, accesses, silent;
};

struct program_failure {
	unsigned op;	/* the operation */
	char what[160]; /* the difference */
};

/*
 * Runs a program on all three units. Returns true if they agree; otherwise fills in *failure.
 * totals may be NULL.
 */
bool program_run(const struct program *program, enum reference_defect defect,
		 struct program_totals *totals, struct program_failure *failure);

/* Removes from a failing program all that its failure does not need. */
void program_shrink(struct program *program, enum reference_defect defect,
		    struct program_failure *failure);
void program_print(const struct program *program);

/* Makes the instructions of a run. */
void program_stream(const struct program *program, const struct operation *op,
		    struct spmu_insn *insn);

/* Returns the registers of a family that are compared, and their absent neighbours. */
const uint32_t *program_msrs(const struct family *family, unsigned *count);

/* Kinds of random programs. */
enum program_style {
	STYLE_PLAIN, /* counting and sampling as tools program it: most must run in bulk */
	STYLE_PEBS,
	STYLE_CLOCKS,	/* CMASK, E, INV */
	STYLE_BRANCHES, /* last branch records and branch traces */
	STYLE_WILD,	/* anything, valid or not */
	STYLES
};
void program_generate(struct program *program, enum program_style style, uint64_t seed);

#endif
