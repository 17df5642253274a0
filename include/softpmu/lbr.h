/* SPDX-License-Identifier: MIT */
/*
 * lbr.h: last branch records: the registers of a model's stack, and the format of its entries
 * (Vol. 3B 17.4.8 and the section of each family in chapter 17; in later editions also the chapter
 * on last branch records, which describes the architectural ones).
 *
 * Example: examples/lbr.c.
 */
#ifndef SOFTPMU_LBR_H
#define SOFTPMU_LBR_H

#include <softpmu/unit.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPMU_LBR_DEPTH_MAX 32

/* IA32_PERF_CAPABILITIES.LBR_FMT (17.4.8.1). */
enum spmu_lbr_format {
	SPMU_LBR_32 = 0,    /* 32-bit addresses; both are in one register if layout.to is 0 */
	SPMU_LBR_LIP = 1,   /* 64-bit linear addresses */
	SPMU_LBR_EIP = 2,   /* 64-bit offsets in the code segment */
	SPMU_LBR_FLAGS = 3, /* FROM[63] tells a misprediction */
	SPMU_LBR_TSX = 4,   /* in addition, FROM[62:61] tell of transactions */
	SPMU_LBR_INFO = 5,  /* a third register has misprediction, transactions and clocks */
	SPMU_LBR_TIME = 6,  /* TO[63:48] has the clocks */
	SPMU_LBR_INFO2 = 7, /* like 5, without transactions */
	/* The third register also has the kind of the branch, and says whether its clocks are
	 * valid.  Entry 0 is always the newest (architectural last branch records). */
	SPMU_LBR_ARCHITECTURAL = 0x3f,
};

/* The registers of a stack by address; 0 for registers that the model does not have. */
struct spmu_lbr_layout {
	uint8_t depth;		 /* a power of two; architectural: the largest one */
	uint8_t format;		 /* enum spmu_lbr_format: what entries hold */
	bool call_stack;	 /* LBR_SELECT has EN_CALLSTACK */
	bool select_shared;	 /* both threads of a core share LBR_SELECT (17.8) */
	bool freeze_clears_tr;	 /* the legacy freeze also clears IA32_DEBUGCTL.TR (17.5) */
	bool sleep_clears;	 /* deep C-states clear the records (17.6, 17.10.3) */
	bool reports_lip;	 /* IA32_PERF_CAPABILITIES reports SPMU_LBR_LIP (Knights Landing) */
	uint32_t from, to, info; /* those of entry 0; add n for entry n */
	uint32_t tos, select;
	uint32_t ler_from, ler_to, ler_info; /* the last exception record */
	/*
	 * Architectural: IA32_LBR_CTL and IA32_LBR_DEPTH, and CPUID.1CH:EAX[7:0], whose bit n
	 * allows a depth of 8 * (n + 1).
	 */
	uint32_t ctl, depth_msr;
	uint8_t depths;
	bool linear;	/* CPUID.1CH:EAX[31]: it reports that addresses are linear */
	uint8_t logged; /* CPUID.1CH:ECX[19:16]: general counters whose events entries log */
};

/* Returns the model's layout, or NULL if it has no last branch records. */
SPMU_API const struct spmu_lbr_layout *spmu_model_lbr_layout(const struct spmu_model *model);

/* The bits of MSR_LBR_SELECT (17.7.2, 17.8).  A bit that is set excludes branches. */
#define SPMU_LBR_NO_CPL0     (1u << 0)
#define SPMU_LBR_NO_CPLX     (1u << 1)
#define SPMU_LBR_NO_JCC	     (1u << 2)
#define SPMU_LBR_NO_CALL_REL (1u << 3)
#define SPMU_LBR_NO_CALL_IND (1u << 4)
#define SPMU_LBR_NO_RET	     (1u << 5)
#define SPMU_LBR_NO_JMP_IND  (1u << 6)
#define SPMU_LBR_NO_JMP_REL  (1u << 7)
#define SPMU_LBR_NO_FAR	     (1u << 8)
#define SPMU_LBR_CALL_STACK  (1u << 9)

/*
 * The bits of IA32_LBR_CTL (architectural last branch records).  LBREN records; the others include
 * branches, so nothing is recorded without a privilege level and a kind.
 */
#define SPMU_LBR_CTL_LBREN	(UINT64_C(1) << 0)
#define SPMU_LBR_CTL_OS		(UINT64_C(1) << 1)
#define SPMU_LBR_CTL_USR	(UINT64_C(1) << 2)
#define SPMU_LBR_CTL_CALL_STACK (UINT64_C(1) << 3)
#define SPMU_LBR_CTL_COND	(UINT64_C(1) << 16)
#define SPMU_LBR_CTL_JMP_REL	(UINT64_C(1) << 17)
#define SPMU_LBR_CTL_JMP_IND	(UINT64_C(1) << 18)
#define SPMU_LBR_CTL_CALL_REL	(UINT64_C(1) << 19)
#define SPMU_LBR_CTL_CALL_IND	(UINT64_C(1) << 20)
#define SPMU_LBR_CTL_RET	(UINT64_C(1) << 21)
#define SPMU_LBR_CTL_OTHER	(UINT64_C(1) << 22)

/*
 * The registers of one entry.  The unit encodes a branch into them, and software decodes them.  An
 * entry keeps the addresses (format 0: their low 32 bits; otherwise bits above 47 are copies of bit
 * 47), and the flags and cycles that its format has.  Only the architectural format keeps the kind
 * of a branch, and a reserved kind decodes as FAR; none keeps its privilege levels.  Decoding sets
 * what an entry does not have to 0.
 */
struct spmu_lbr_entry {
	uint64_t from, to, info;
};
SPMU_API void spmu_lbr_encode(const struct spmu_lbr_layout *layout,
			      const struct spmu_branch *branch, struct spmu_lbr_entry *entry);
SPMU_API void spmu_lbr_decode(const struct spmu_lbr_layout *layout,
			      const struct spmu_lbr_entry *entry, struct spmu_branch *branch);

/* What an entry logs of general counters (CPUID.1CH:ECX[19:16]), two bits of each. */
#define SPMU_LBR_LOG_LOW 32
static inline uint8_t spmu_lbr_log(const struct spmu_lbr_entry *entry)
{
	return (uint8_t)(entry->info >> SPMU_LBR_LOG_LOW);
}

/* Returns how often the event of general counter 0 to 3 occurred.  3 means three times or more. */
static inline unsigned spmu_lbr_logged(uint8_t log, unsigned counter)
{
	return log >> 2 * counter & 3;
}

#ifdef __cplusplus
}
#endif

#endif
