/* SPDX-License-Identifier: MIT */
/*
 * decode.h: what the translator needs to know about one x86-64 instruction.
 *
 * Code decodes prefixes, ModRM and displacement.  Everything that depends on the opcode comes
 * from a table that generate.c makes at build time by asking Zydis about each opcode.  No libc,
 * no allocation.
 */
#ifndef SOFTPMU_DECODE_H
#define SOFTPMU_DECODE_H

#include <softpmu/unit.h>

#define INSN_BYTES_MAX 15

enum insn_kind {
	INSN_PLAIN = 0, /* runs unchanged when copied (rip_offset is relocated) */
	INSN_UNDEFINED, /* not known: most likely #UD, and of unknown length */
	INSN_JCC,	/* 70-7F, 0F 80-8F: condition in opcode & 15 */
	INSN_JCXZ,	/* E0-E3: LOOPNE, LOOPE, LOOP, JCXZ: 8-bit displacement only */
	INSN_JMP_REL,
	INSN_CALL_REL,
	INSN_JMP_IND,  /* FF /4 */
	INSN_CALL_IND, /* FF /2 */
	INSN_RET,      /* C3, C2: immediate has the number of additional bytes to pop */
	INSN_FAR,      /* far CALL, JMP, RET, IRET, INT n, SYSENTER: does not run in place */
	INSN_SYSCALL,  /* 0F 05 */
	INSN_TRAP,     /* INT3, INT1, UD0-2, HLT, privileged: always a fault or trap in user mode */
	INSN_CPUID,
	INSN_RDPMC,
	INSN_RDTSC,  /* RDTSC, RDTSCP: also runs in place */
	INSN_GSBASE, /* reads or changes the base of GS: WRGSBASE, RDGSBASE, loads of GS */
	INSN_POPF,
	INSN_XBEGIN,  /* XBEGIN, XABORT */
	INSN_REQUEST, /* a request to softpmu: the decoder has INSN_PLAIN, path.h finds them */
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
	uint8_t kind;	    /* enum insn_kind */
	uint8_t flags_read; /* may be read */
	/* Always written, whatever the operands (a shift by CL or a REP CMPS may write nothing:
	 * not listed) and the processor (some do not change what is undefined after a
	 * multiplication: not listed). */
	uint8_t flags_written;
	uint8_t opcode;	       /* last opcode byte */
	uint8_t opcode_offset; /* its offset */
	uint8_t modrm_offset;  /* 0: no ModRM */
	uint8_t rip_offset;    /* of the disp32 of a RIP-relative operand; 0: none */
	uint8_t rip_address32; /* the RIP-relative operand has a 67H prefix */
	uint8_t prefix_bytes;  /* legacy prefixes before REX/VEX/EVEX/opcode */
	uint8_t rep;	       /* F2H or F3H before a string instruction, otherwise 0 */
	uint8_t segment;       /* 64H, 65H or 0 */
	uint8_t lock;
	uint8_t uses_gs; /* memory operand in GS */
	uint8_t address32;
	uint8_t near_16; /* pops, pushes or reads an address of 2 bytes: insn_near_16 */
	/* Fields that are stored together must not be in one word with fields that are loaded
	 * together: a load that needs two stores waits for both.  So the next word begins here. */
	/* The memory operand, for the data address.  base and index: 0-15, INSN_NO_REG; base 16
	 * is RIP.  memory_kind tells about implicit operands. */
	uint8_t memory_kind; /* enum insn_memory */
	uint8_t base, index, scale_shift;
	int64_t displacement; /* for RIP-relative: relative to the next instruction */
	uint32_t immediate;   /* of RET imm16, INT imm8 */
	uint64_t target;      /* of direct branches, absolute */
	uint64_t
		/* SPMU_SIGBIT()s that it always produces, including INSTRUCTIONS.  A conditional
		 * branch has neither of the COND_ bits.  A REP string instruction has LOADS and
		 * STORES as if its count were not 0. */
		signals;
};

enum insn_memory {
	INSN_MEM_NONE = 0,
	INSN_MEM_MODRM, /* base + index << scale + displacement */
	/* PUSH, CALL: RSP - operand size; displacement is that as a negative number. */
	INSN_MEM_STACK,
	INSN_MEM_STACK_TOP, /* POP, RET, LEAVE (base is RBP for LEAVE) */
	INSN_MEM_RSI,	    /* string source (LODS, MOVS, CMPS, OUTS) */
	INSN_MEM_RDI,	    /* string destination (STOS, SCAS, INS) */
	INSN_MEM_MOFFS,	    /* A0-A3: displacement is the absolute address */
	INSN_MEM_XLAT,	    /* RBX + AL */
};

/*
 * A memory access of an instruction.
 *
 * kind		SPMU_ACCESS_ bits.
 * bytes	Its size; of XSAVE and its kind, that of the legacy region and the header.
 * base, index	The registers of its address, 0-15, or INSN_NO_REG.  All other parts of the
 *		address are known: it is base + (index << scale_shift) + displacement, and after
 *		that 32 bits of it if address32 is set, plus the base of FS or GS if in_fs or in_gs
 *		is set.
 * in_al	XLAT: only the lowest byte of the index counts.
 */
struct insn_access {
	uint8_t kind, base, index, scale_shift;
	bool address32, in_fs, in_gs, in_al;
	uint16_t bytes;
	uint64_t displacement;
};
#define INSN_ACCESSES_MAX 3

/*
 * Lists the memory accesses of an instruction whose bytes are in `code` and that runs at `address`,
 * in the order of the manual's pseudocode.  Returns their number.
 *
 * Of a string instruction it is one element of each operand.  A gather or scatter has one access,
 * of an element at the base, because its addresses are in a vector.  An operand with a mask is
 * there as a whole: insn_elements() tells about both.  ENTER and far transfers have one access of
 * the stack.  Instructions that always fault have none.
 */
unsigned insn_accesses(const struct insn *insn, const uint8_t *code, uint64_t address,
		       struct insn_access list[INSN_ACCESSES_MAX]);

/* Returns the address of an access.  gpr: as for insn_data_address(). */
uint64_t insn_access_address(const struct insn_access *access, const uint64_t gpr[16],
			     uint64_t fs_base, uint64_t gs_base);

/* Which elements of its one memory operand an instruction accesses. */
enum insn_elements_how {
	INSN_ELEMENTS_WHOLE = 0, /* no element by itself */
	INSN_ELEMENTS_MASKED,	 /* element i, if one of the selectors i, i + count ... is set */
	INSN_ELEMENTS_PACKED,	 /* the first ones: as many as selectors are set */
	INSN_ELEMENTS_GATHERED,	 /* at index i, if selector i is set */
};

/* Where the selectors are. */
enum insn_selectors {
	INSN_SELECTORS_MASK,   /* bits of a mask register */
	INSN_SELECTORS_VECTOR, /* highest bits of elements of a vector register */
	INSN_SELECTORS_MMX,    /* the same of an MMX register */
};

/*
 * how		enum insn_elements_how.
 * bytes	Of an element.
 * count	The elements of the operand; a gather has one for each index.
 * selectors	Their number.
 * in		enum insn_selectors.
 * mask		The register with the selectors.
 * index	The vector register with the indices of a gather, and the bytes of each.
 */
struct insn_elements {
	uint8_t how, bytes, count, selectors;
	uint8_t in, mask;
	uint8_t index, index_bytes;
};

/* Tells which elements an instruction accesses.  Returns false if it accesses whole operands. */
bool insn_elements(const struct insn *insn, const uint8_t *code, struct insn_elements *elements);

/*
 * Whether 66H gives near branches a 16-bit operand size, as on AMD's processors.  Such a branch
 * has a 16-bit displacement (unless that is of 8 bits), cuts RIP to 16 bits, and pops or pushes 2
 * bytes.  Intel's processors ignore 66H there.
 */
extern bool insn_near_16;

/*
 * Decodes the instruction in `code` that runs at `address`.  `available` bytes, at least 1, can
 * be read.  Returns false if the instruction is longer.  An undefined opcode decodes as
 * INSN_UNDEFINED with length 1.
 */
bool insn_decode(const uint8_t *code, size_t available, uint64_t address, struct insn *insn);

/*
 * The same, but fields that the encoding does not use may have any value.  Intel's processors
 * refuse most of these encodings, AMD's ignore some of the fields.
 */
bool insn_decode_leniently(const uint8_t *code, size_t available, uint64_t address,
			   struct insn *insn);

/* Returns the address of the memory operand.  gpr[16], in encoding order (RAX, RCX, RDX, RBX,
 * RSP, RBP, RSI, RDI, R8...), has the values before the instruction runs.  Returns 0 if there is
 * no memory operand (or a vector index). */
uint64_t insn_data_address(const struct insn *insn, uint64_t address, const uint64_t gpr[16],
			   uint64_t fs_base, uint64_t gs_base);

#endif
