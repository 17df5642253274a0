/* SPDX-License-Identifier: MIT */
/*
 * decode.h: what the translator has to know of one x86-64 instruction.
 *
 * Prefixes, ModRM and displacement are taken apart by hand; everything that
 * depends on the opcode comes from a table that generate.c makes at build time
 * by asking Zydis about each opcode.  No libc, no allocation.
 */
#ifndef SOFTPMU_DECODE_H
#define SOFTPMU_DECODE_H

#include <softpmu/unit.h>

#define INSN_BYTES_MAX 15

enum insn_kind {
	INSN_PLAIN = 0, /* runs in place when copied (after relocating rip_offset) */
	INSN_UNDEFINED, /* not known: most likely #UD; its length is not known either */
	INSN_JCC,	/* 70-7F, 0F 80-8F: condition in opcode & 15 */
	INSN_JCXZ,	/* E0-E3: LOOPNE, LOOPE, LOOP, JCXZ: 8-bit displacement only */
	INSN_JMP_REL,
	INSN_CALL_REL,
	INSN_JMP_IND,  /* FF /4 */
	INSN_CALL_IND, /* FF /2 */
	INSN_RET,      /* C3, C2: immediate holds the bytes to pop in addition */
	INSN_FAR,      /* far CALL, JMP, RET, IRET, INT n, SYSENTER: not run in place */
	INSN_SYSCALL,  /* 0F 05 */
	INSN_TRAP, /* INT3, INT1, UD0-2, HLT, privileged: a fault or trap for certain in user mode
		    */
	INSN_CPUID,
	INSN_RDPMC,
	INSN_RDTSC,  /* RDTSC, RDTSCP: run in place, too */
	INSN_GSBASE, /* reads or changes the base of GS: WRGSBASE, RDGSBASE, loads of GS */
	INSN_POPF,
	INSN_XBEGIN, /* XBEGIN, XABORT */
};

/* Arithmetic flags as a set. */
#define FLAG_CF	  1u
#define FLAG_PF	  2u
#define FLAG_AF	  4u
#define FLAG_ZF	  8u
#define FLAG_SF	  16u
#define FLAG_OF	  32u
#define FLAGS_ALL 63u

#define INSN_NO_REG 0xff

struct insn {
	uint8_t length;
	uint8_t kind;	       /* enum insn_kind */
	uint8_t flags_read;    /* may be read */
	uint8_t flags_written; /* are always written, whatever the operands (a shift by CL or a REP
				  CMPS may write nothing: not listed) and the processor (some keep
				  what is undefined after a multiplication: not listed) */
	uint8_t opcode;	       /* last opcode byte */
	uint8_t opcode_offset; /* of it */
	uint8_t modrm_offset;  /* 0: no ModRM */
	uint8_t rip_offset;    /* of the disp32 of a RIP-relative operand; 0: none */
	uint8_t rip_address32; /* the RIP-relative operand has a 67H prefix */
	uint8_t prefix_bytes;  /* legacy prefixes before REX/VEX/EVEX/opcode */
	uint8_t rep;	       /* F2H or F3H before a string instruction, else 0 */
	uint8_t segment;       /* 64H, 65H or 0 */
	uint8_t lock;
	uint8_t uses_gs; /* memory operand in GS */
	/* The memory operand, for the data address. base and index: 0-15, INSN_NO_REG, base 16 =
	 * RIP. Implicit operands: memory_kind tells. */
	uint8_t memory_kind; /* enum insn_memory */
	uint8_t base, index, scale_shift;
	uint8_t address32;
	int64_t displacement; /* for RIP-relative: relative to the next instruction */
	uint32_t immediate;   /* of RET imm16, INT imm8 */
	uint64_t target;      /* of direct branches, absolute */
	uint64_t signals;     /* SPMU_SIGBIT()s it always produces, INSTRUCTIONS included. A
				 conditional branch has neither of the COND_ bits. A REP string
				 instruction has LOADS/STORES as if its count were not 0 */
};

enum insn_memory {
	INSN_MEM_NONE = 0,
	INSN_MEM_MODRM,	    /* base + index << scale + displacement */
	INSN_MEM_STACK,	    /* PUSH, CALL: RSP - operand size; displacement holds that as a negative
			       number */
	INSN_MEM_STACK_TOP, /* POP, RET, LEAVE (RBP for LEAVE: base tells) */
	INSN_MEM_RSI,	    /* string source (LODS, MOVS, CMPS, OUTS) */
	INSN_MEM_RDI,	    /* string destination (STOS, SCAS, INS) */
	INSN_MEM_MOFFS,	    /* A0-A3: displacement is the absolute address */
	INSN_MEM_XLAT,	    /* RBX + AL */
};

/*
 * Decode the instruction in `code` (at least 1 byte, `available` bytes can be
 * read) that runs at `address`.  False when it is longer than `available`;
 * an undefined opcode decodes as INSN_UNDEFINED with length 1.
 */
bool insn_decode(const uint8_t *code, size_t available, uint64_t address, struct insn *insn);

/*
 * The same, where fields that the encoding does not use may hold anything.  Intel's processors
 * refuse most of these encodings, AMD's ignore some of the fields.
 */
bool insn_decode_leniently(const uint8_t *code, size_t available, uint64_t address,
			   struct insn *insn);

/* gpr[16] in encoding order (RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8...), values before the
 * instruction runs.  0 when there is no memory operand (or a vector index). */
uint64_t insn_data_address(const struct insn *insn, uint64_t address, const uint64_t gpr[16],
			   uint64_t fs_base, uint64_t gs_base);

/*
 * What it loads or else stores, as spmu_insn tells them apart; `store` is 0 unless it loads from
 * elsewhere (MOVS; PUSH, POP and CALL with a memory operand).  `code`: its bytes.
 */
struct insn_addresses {
	uint64_t data, store;
};
struct insn_addresses insn_addresses(const struct insn *insn, const uint8_t *code, uint64_t address,
				     const uint64_t gpr[16], uint64_t fs_base, uint64_t gs_base);

#endif
