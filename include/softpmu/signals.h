/* SPDX-License-Identifier: MIT */
/*
 * signals.h: signals, by which a host tells a unit what has retired.
 *
 * A signal is one kind of occurrence that every x86 processor has.  A host
 * reports signals; it does not know events, counters or families.  A model's
 * event table maps (event select, unit mask) to a set of signals.  An event's
 * count is the number of occurrences of its signals.
 *
 * One instruction may produce several signals, each at most once.  Some
 * instructions count twice: a fused multiply-add is two operations.  Then the
 * second occurrence has its own signal (SPMU_SIG_FMA_...), and the event's set
 * holds both.  So an instruction's contribution to an event is
 * popcount(instruction's signals & event's signals).
 *
 * The exception is an event whose set holds kinds of branches together with BRANCH_MISS or
 * BRANCH_PREDICTED: it counts branches of these kinds that were mispredicted, or that were not.  A
 * host reports BRANCH_MISS beside the kind; BRANCH_PREDICTED follows from it.
 *
 * Example: examples/signals.c.
 */
#ifndef SOFTPMU_SIGNALS_H
#define SOFTPMU_SIGNALS_H

#include <softpmu/tallies.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * X(name, meaning).  The order is the bit position and part of the ABI: add at
 * the end only.
 */
#define SPMU_SIGNAL_LIST(X)                                                                        \
	X(INSTRUCTIONS, "instruction retired; a REP string instruction once")                      \
	X(COND_TAKEN, "conditional near branch, taken (Jcc, JCXZ, LOOPcc)")                        \
	X(COND_NTAKEN, "conditional near branch, not taken")                                       \
	X(CALL_REL, "near relative call")                                                          \
	X(CALL_IND, "near indirect call")                                                          \
	X(RET_NEAR, "near return")                                                                 \
	X(JMP_REL, "near relative jump")                                                           \
	X(JMP_IND, "near indirect jump")                                                           \
	X(FAR, "far transfer: far CALL/JMP/RET, INT n, IRET, SYSCALL, SYSRET, SYSENTER, SYSEXIT")  \
	X(LOADS, "instruction that reads data memory, software prefetches included")               \
	X(STORES, "instruction that writes data memory")                                           \
	X(LOCK_LOADS, "instruction that reads data memory under a bus lock (LOCK, XCHG)")          \
	X(FP_SCALAR_DOUBLE, "SSE/AVX scalar double-precision computation")                         \
	X(FP_SCALAR_SINGLE, "SSE/AVX scalar single-precision computation")                         \
	X(FP_128_DOUBLE, "128-bit packed double-precision computation")                            \
	X(FP_128_SINGLE, "128-bit packed single-precision computation")                            \
	X(FP_256_DOUBLE, "256-bit packed double-precision computation")                            \
	X(FP_256_SINGLE, "256-bit packed single-precision computation")                            \
	X(FP_512_DOUBLE, "512-bit packed double-precision computation")                            \
	X(FP_512_SINGLE, "512-bit packed single-precision computation")                            \
	X(FMA_SCALAR_DOUBLE, "second operation of a scalar double FMA")                            \
	X(FMA_SCALAR_SINGLE, "second operation of a scalar single FMA")                            \
	X(FMA_128_DOUBLE, "second operation of a 128-bit packed double FMA or dot product")        \
	X(FMA_128_SINGLE, "second operation of a 128-bit packed single FMA or dot product")        \
	X(FMA_256_DOUBLE, "second operation of a 256-bit packed double FMA")                       \
	X(FMA_256_SINGLE, "second operation of a 256-bit packed single FMA or dot product")        \
	X(FMA_512_DOUBLE, "second operation of a 512-bit packed double FMA")                       \
	X(FMA_512_SINGLE, "second operation of a 512-bit packed single FMA")                       \
	X(X87, "x87 instruction retired")                                                          \
	X(NOP, "NOP retired")                                                                      \
	X(CYCLES, "unhalted core clock cycle")                                                     \
	X(REF_CYCLES, "unhalted reference clock cycle")                                            \
	X(LLC_REFERENCE, "last-level cache reference")                                             \
	X(LLC_MISS, "last-level cache miss")                                                       \
	X(BRANCH_MISS, "mispredicted branch retired")                                              \
	X(BRANCH_PREDICTED, "branch retired as predicted; hosts that report BRANCH_MISS imply it")

enum spmu_signal {
#define SPMU_X(name, meaning) SPMU_SIG_##name,
	SPMU_SIGNAL_LIST(SPMU_X)
#undef SPMU_X
		SPMU_SIGNALS
};

/* The set that holds one signal. */
#define SPMU_SIGBIT(name) (UINT64_C(1) << SPMU_SIG_##name)

/* Every near and far branch, by any outcome. */
#define SPMU_SIGSET_BRANCHES                                                                       \
	(SPMU_SIGBIT(COND_TAKEN) | SPMU_SIGBIT(COND_NTAKEN) | SPMU_SIGBIT(CALL_REL) |              \
	 SPMU_SIGBIT(CALL_IND) | SPMU_SIGBIT(RET_NEAR) | SPMU_SIGBIT(JMP_REL) |                    \
	 SPMU_SIGBIT(JMP_IND) | SPMU_SIGBIT(FAR))

/* Branches that were taken. */
#define SPMU_SIGSET_TAKEN (SPMU_SIGSET_BRANCHES & ~SPMU_SIGBIT(COND_NTAKEN))

/* SSE and AVX computations, and the second operations of fused ones. */
#define SPMU_SIGSET_FP                                                                             \
	(SPMU_SIGBIT(FP_SCALAR_DOUBLE) | SPMU_SIGBIT(FP_SCALAR_SINGLE) |                           \
	 SPMU_SIGBIT(FP_128_DOUBLE) | SPMU_SIGBIT(FP_128_SINGLE) | SPMU_SIGBIT(FP_256_DOUBLE) |    \
	 SPMU_SIGBIT(FP_256_SINGLE) | SPMU_SIGBIT(FP_512_DOUBLE) | SPMU_SIGBIT(FP_512_SINGLE))
#define SPMU_SIGSET_FMA                                                                            \
	(SPMU_SIGBIT(FMA_SCALAR_DOUBLE) | SPMU_SIGBIT(FMA_SCALAR_SINGLE) |                         \
	 SPMU_SIGBIT(FMA_128_DOUBLE) | SPMU_SIGBIT(FMA_128_SINGLE) | SPMU_SIGBIT(FMA_256_DOUBLE) | \
	 SPMU_SIGBIT(FMA_256_SINGLE) | SPMU_SIGBIT(FMA_512_DOUBLE) | SPMU_SIGBIT(FMA_512_SINGLE))

/* Signals that follow from execution alone, without a timing or cache model. */
#define SPMU_SIGSET_ARCHITECTURAL                                                                  \
	(SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGSET_BRANCHES | SPMU_SIGBIT(LOADS) |                   \
	 SPMU_SIGBIT(STORES) | SPMU_SIGBIT(LOCK_LOADS) | SPMU_SIGSET_FP | SPMU_SIGSET_FMA |        \
	 SPMU_SIGBIT(X87) | SPMU_SIGBIT(NOP))

/* Clocks: how long something takes, not what happens. */
#define SPMU_SIGSET_CLOCKS (SPMU_SIGBIT(CYCLES) | SPMU_SIGBIT(REF_CYCLES))

/* Every signal of the list. */
#define SPMU_SIGSET_ADD(name, meaning) | SPMU_SIGBIT(name)
#define SPMU_SIGSET_ALL		       (UINT64_C(0) SPMU_SIGNAL_LIST(SPMU_SIGSET_ADD))

/* How far a count can be trusted. */
enum spmu_fidelity {
	SPMU_ABSENT = 0, /* no host supplies it; tools show it as absent, never as 0 */
	SPMU_MODELLED,	 /* a model of the microarchitecture or of time supplies it */
	SPMU_EXACT,	 /* it follows from execution */
};

/*
 * What a host supplies.  What is in no set is absent.
 *
 * exact	The signals that it reports exactly.
 * modelled	The signals that come from a model.
 * accesses	The kinds of memory accesses that it delivers in bulk, as SPMU_ACCESS_ bits; 0:
 *		none. The access tap asks for no other kinds.
 * exact_tallies, modelled_tallies
 *		The same for tallies.
 */
struct spmu_supply {
	uint64_t exact;
	uint64_t modelled;
	uint32_t accesses;
	uint32_t reserved; /* 0 */
	struct spmu_tally_set exact_tallies;
	struct spmu_tally_set modelled_tallies;
};

/* Returns what a signal means ("instruction retired; ..."), or NULL for a number out of range. */
SPMU_API const char *spmu_signal_meaning(enum spmu_signal signal);

#ifdef __cplusplus
}
#endif

#endif
