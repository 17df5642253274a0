/* SPDX-License-Identifier: MIT */
/*
 * tallies.h: occurrences that are counted by number: tallies.
 *
 * A signal (signals.h) happens at most once in an instruction, and a host knows it before the
 * instruction runs.  A tally is a kind of occurrence without these limits.  An instruction can have
 * any number of them: cache lines, micro-operations, clocks of a stall.  A host may know the number
 * only after the instruction has run (cache misses).
 *
 * An event of a model names a set of signals, or a tally, or both.  Its count is the number of
 * occurrences of all of them.  An event whose tally the host does not supply is absent on that
 * host.
 *
 * A host reports tallies in one of two ways: with the instruction (spmu_insn.tallies), or
 * afterwards for a stretch of code that it ran in bulk (spmu_tallies() in unit.h).  As long as no
 * counter counts a tally, no meter names one, and a host has nothing to do.
 *
 * Example: examples/tallies.c.
 */
#ifndef SOFTPMU_TALLIES_H
#define SOFTPMU_TALLIES_H

#include <softpmu/accesses.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * X(name, of, needs, meaning)
 *
 * of		The kind of access that an occurrence belongs to, as SPMU_ACCESS_ bits; 0: none.
 *		The data address of a PEBS record is the address of such an access.
 * needs	The accesses from which the occurrences follow: the access tap asks for them.
 *
 * The order is the number and part of the ABI: add at the end only.
 */
#define SPMU_TALLY_LIST(X)                                                                         \
	X(LOAD_SPLITS, SPMU_ACCESS_LOAD, SPMU_ACCESS_LOAD, "load that crosses a cache line")       \
	X(STORE_SPLITS, SPMU_ACCESS_STORE, SPMU_ACCESS_STORE, "store that crosses a cache line")   \
	X(LOAD_STLB_MISSES, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA,                                    \
	  "load that misses the second-level TLB")                                                 \
	X(STORE_STLB_MISSES, SPMU_ACCESS_STORE, SPMU_ACCESS_DATA,                                  \
	  "store that misses the second-level TLB")                                                \
	X(LOAD_L1_HITS, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA,                                        \
	  "load that hits the first-level data cache")                                             \
	X(LOAD_L1_MISSES, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA,                                      \
	  "load that misses the first-level data cache")                                           \
	X(LOAD_L2_HITS, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA,                                        \
	  "load that hits the second-level cache")                                                 \
	X(LOAD_L2_MISSES, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA,                                      \
	  "load that misses the second-level cache")                                               \
	X(LOAD_L3_HITS, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA, "load that hits the last-level cache") \
	X(LOAD_L3_MISSES, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA,                                      \
	  "load that misses the last-level cache")                                                 \
	X(LOAD_BUFFER_HITS, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA,                                    \
	  "load that finds its line in a fill buffer")                                             \
	X(L1D_PENDING, 0, SPMU_ACCESS_DATA,                                                        \
	  "first-level data cache miss that is outstanding, once for each clock")                  \
	X(SLOTS, 0, 0, "issue slot of the pipeline")                                               \
	X(LOAD_LATENCY, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA,                                        \
	  "load that takes at least as many clocks as a threshold")                                \
	X(L1D_REPLACEMENTS, 0, SPMU_ACCESS_DATA,                                                   \
	  "access that brings a line into the first-level data cache")                             \
	X(CODE_L1_MISSES, 0, 0, "fetch that misses the first-level instruction cache")             \
	X(CODE_STLB_MISSES, 0, 0, "fetch whose page needs a page walk")                            \
	X(LOAD_STLB_HITS, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA,                                      \
	  "load that hits the second-level TLB")                                                   \
	X(STORE_STLB_HITS, SPMU_ACCESS_STORE, SPMU_ACCESS_DATA,                                    \
	  "store that hits the second-level TLB")                                                  \
	X(CODE_STLB_HITS, 0, 0, "fetch that hits the second-level TLB")                            \
	X(STORE_L1_MISSES, SPMU_ACCESS_STORE, SPMU_ACCESS_DATA,                                    \
	  "store that misses the first-level data cache")                                          \
	X(STORE_L2_HITS, SPMU_ACCESS_STORE, SPMU_ACCESS_DATA,                                      \
	  "store that misses the first level and hits the second")                                 \
	X(STORE_L2_MISSES, SPMU_ACCESS_STORE, SPMU_ACCESS_DATA,                                    \
	  "store that misses the second-level cache")                                              \
	X(CODE_L1_HITS, 0, 0, "fetch that hits the first-level instruction cache")                 \
	X(CODE_L2_HITS, 0, 0, "fetch that misses the first level and hits the second")             \
	X(CODE_L2_MISSES, 0, 0, "fetch that misses the second-level cache")                        \
	X(L2_REFERENCES, 0, SPMU_ACCESS_DATA, "load, store or fetch that misses the first level")  \
	X(L2_MISSES, 0, SPMU_ACCESS_DATA, "load, store or fetch that misses the second level")     \
	X(L2_LINES_IN, 0, SPMU_ACCESS_DATA, "line that is brought into the second level")          \
	X(L2_LINES_OUT, 0, SPMU_ACCESS_DATA, "unchanged line that leaves the second level")        \
	X(L2_WRITEBACKS, 0, SPMU_ACCESS_DATA, "changed line that leaves the second level")         \
	X(MISSED_COND_TAKEN, 0, 0, "mispredicted conditional branch that is taken")                \
	X(MISSED_COND_NTAKEN, 0, 0, "mispredicted conditional branch that is not taken")           \
	X(MISSED_CALL_IND, 0, 0, "mispredicted indirect call")                                     \
	X(MISSED_JMP_IND, 0, 0, "mispredicted indirect jump")                                      \
	X(MISSED_RET, 0, 0, "mispredicted near return")                                            \
	X(SLOTS_RETIRED, 0, 0, "issue slot of a micro-operation that retires")                     \
	X(SLOTS_BAD_SPECULATION, 0, 0, "issue slot lost to a misprediction")                       \
	X(SLOTS_FETCH_LATENCY, 0, 0, "issue slot lost while the front end delivers nothing")       \
	X(SLOTS_FETCH_BANDWIDTH, 0, 0, "issue slot lost while the front end delivers too little")  \
	X(SLOTS_FRONTEND, 0, 0, "issue slot for which the front end has nothing")                  \
	X(SLOTS_BACKEND, 0, 0, "issue slot lost because a resource is full or an operand late")    \
	X(SLOTS_MEMORY, 0, SPMU_ACCESS_DATA,                                                       \
	  "issue slot lost while the oldest instruction waits for memory")                         \
	X(SLOTS_CORE, 0, 0, "issue slot of the back end that is not lost to memory")               \
	X(UOPS_RETIRED, 0, 0, "micro-operation that retires")                                      \
	X(UOPS_MACRO_FUSED, 0, 0, "pair of instructions that is one micro-operation")              \
	X(UOPS_ISSUED, 0, 0, "micro-operation that is issued, also of a wrong path")               \
	X(UOPS_EXECUTED, 0, 0, "micro-operation that is executed")                                 \
	X(UOPS_PORT_0, 0, 0, "micro-operation that port 0 executes")                               \
	X(UOPS_PORT_1, 0, 0, "micro-operation that port 1 executes")                               \
	X(UOPS_PORT_2, 0, 0, "micro-operation that port 2 executes")                               \
	X(UOPS_PORT_3, 0, 0, "micro-operation that port 3 executes")                               \
	X(UOPS_PORT_4, 0, 0, "micro-operation that port 4 executes")                               \
	X(UOPS_PORT_5, 0, 0, "micro-operation that port 5 executes")                               \
	X(UOPS_PORT_6, 0, 0, "micro-operation that port 6 executes")                               \
	X(UOPS_PORT_7, 0, 0, "micro-operation that port 7 executes")                               \
	X(UOPS_PORT_8, 0, 0, "micro-operation that port 8 executes")                               \
	X(UOPS_PORT_9, 0, 0, "micro-operation that port 9 executes")                               \
	X(UOPS_X87, 0, 0, "micro-operation of the x87 unit")                                       \
	X(UOPS_SLOW_LEA, 0, 0, "LEA that is slow")                                                 \
	X(MOVES_GENERAL, 0, 0, "move between general registers that does not execute")             \
	X(MOVES_VECTOR, 0, 0, "move between vector registers that does not execute")               \
	X(CLOCKS_DELIVERED_0, 0, 0, "clock in which the front end delivers no micro-operation")    \
	X(CLOCKS_DELIVERED_1, 0, 0, "clock in which it delivers at most one")                      \
	X(CLOCKS_DELIVERED_2, 0, 0, "clock in which it delivers at most two")                      \
	X(CLOCKS_DELIVERED_3, 0, 0, "clock in which it delivers at most three")                    \
	X(CLOCKS_DELIVERED_ALL, 0, 0, "clock in which it delivers all that are wanted")            \
	X(CLOCKS_RECOVERY, 0, 0, "clock of the recovery from a misprediction")                     \
	X(CLOCKS_RESTEER, 0, 0, "clock in which the front end fetches after a misprediction")      \
	X(CLOCKS_CODE_CACHE, 0, 0, "clock in which dispatch waits for an instruction cache miss")  \
	X(CLOCKS_CODE_WALK, 0, 0, "clock of a page walk for a fetch")                              \
	X(CLOCKS_CODE_OFFCORE, 0, 0, "clock of a fetch from beyond the second level")              \
	X(CLOCKS_STALLED, 0, 0, "clock in which dispatch waits for a resource")                    \
	X(CLOCKS_STALLED_WINDOW, 0, 0, "clock in which the reorder buffer is full")                \
	X(CLOCKS_STALLED_STORES, 0, SPMU_ACCESS_DATA, "clock in which the store buffer is full")   \
	X(CLOCKS_STALLED_SERIAL, 0, 0, "clock in which dispatch waits for older instructions")     \
	X(CLOCKS_NOT_ISSUED, 0, 0, "clock in which no micro-operation is issued")                  \
	X(CLOCKS_RETIRED, 0, 0, "clock in which a micro-operation retires")                        \
	X(CLOCKS_NOT_RETIRED, 0, 0, "clock in which no micro-operation retires")                   \
	X(CLOCKS_EXECUTED_0, 0, 0, "clock in which no micro-operation starts")                     \
	X(CLOCKS_EXECUTED_1, 0, 0, "clock in which at least one starts")                           \
	X(CLOCKS_EXECUTED_2, 0, 0, "clock in which at least two start")                            \
	X(CLOCKS_EXECUTED_3, 0, 0, "clock in which at least three start")                          \
	X(CLOCKS_EXECUTED_4, 0, 0, "clock in which at least four start")                           \
	X(CLOCKS_PORTS_0, 0, 0, "clock in which none starts, although some wait")                  \
	X(CLOCKS_PORTS_1, 0, 0, "clock in which exactly one starts")                               \
	X(CLOCKS_PORTS_2, 0, 0, "clock in which exactly two start")                                \
	X(CLOCKS_PORTS_3, 0, 0, "clock in which exactly three start")                              \
	X(CLOCKS_PORTS_4, 0, 0, "clock in which four or more start")                               \
	X(CLOCKS_BOUND_ON_STORES, 0, SPMU_ACCESS_DATA,                                             \
	  "clock in which none starts, and the store buffer is full")                              \
	X(CLOCKS_NONE_WAIT, 0, 0, "clock in which no micro-operation waits for execution")         \
	X(TIMES_NONE_WAIT, 0, 0, "time in which none waits, once for each")                        \
	X(CLOCKS_DIVIDER, 0, 0, "clock in which the divider is busy")                              \
	X(CLOCKS_LOAD, 0, SPMU_ACCESS_DATA, "clock in which a load is outstanding")                \
	X(CLOCKS_L1D_MISS, 0, SPMU_ACCESS_DATA,                                                    \
	  "clock in which a load that missed the first level is outstanding")                      \
	X(CLOCKS_L2_MISS, 0, SPMU_ACCESS_DATA,                                                     \
	  "clock in which a load that missed the second level is outstanding")                     \
	X(CLOCKS_L3_MISS, 0, SPMU_ACCESS_DATA,                                                     \
	  "clock in which a load that missed the last level is outstanding")                       \
	X(STALLS_LOAD, 0, SPMU_ACCESS_DATA,                                                        \
	  "clock like CLOCKS_LOAD in which no micro-operation starts")                             \
	X(STALLS_L1D_MISS, 0, SPMU_ACCESS_DATA, "clock like CLOCKS_L1D_MISS in which none starts") \
	X(STALLS_L2_MISS, 0, SPMU_ACCESS_DATA, "clock like CLOCKS_L2_MISS in which none starts")   \
	X(STALLS_L3_MISS, 0, SPMU_ACCESS_DATA, "clock like CLOCKS_L3_MISS in which none starts")   \
	X(L1D_PENDING_TIMES, 0, SPMU_ACCESS_DATA,                                                  \
	  "time in which a first-level miss is outstanding, once for each")                        \
	X(CLOCKS_FILL_FULL, 0, SPMU_ACCESS_DATA,                                                   \
	  "clock in which an access waits for a fill buffer")                                      \
	X(OFFCORE_LOADS_PENDING, 0, SPMU_ACCESS_DATA,                                              \
	  "load beyond the second level that is outstanding, once for each clock")                 \
	X(OFFCORE_STORES_PENDING, 0, SPMU_ACCESS_DATA,                                             \
	  "store beyond the second level that is outstanding, once for each clock")                \
	X(CLOCKS_OFFCORE_STORE, 0, SPMU_ACCESS_DATA, "clock in which such a store is outstanding") \
	X(MEMORY_LOADS_PENDING, 0, SPMU_ACCESS_DATA,                                               \
	  "load from memory that is outstanding, once for each clock")                             \
	X(LOAD_WALKS_PENDING, 0, SPMU_ACCESS_DATA, "page walk of a load, once for each clock")     \
	X(CLOCKS_LOAD_WALK, 0, SPMU_ACCESS_DATA, "clock in which there is a page walk of a load")  \
	X(STORE_WALKS_PENDING, 0, SPMU_ACCESS_DATA, "page walk of a store, once for each clock")   \
	X(CLOCKS_STORE_WALK, 0, SPMU_ACCESS_DATA,                                                  \
	  "clock in which there is a page walk of a store")                                        \
	X(CLOCKS_LOCKED, 0, SPMU_ACCESS_DATA, "clock in which a locked access holds its line")     \
	X(LOAD_HITS_PREFETCH, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA,                                  \
	  "load whose line is on its way because of a prefetch instruction")                       \
	X(LOAD_ALIASES, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA,                                        \
	  "load that has bits 11:0 of its address in common with an older store")                  \
	X(LOAD_BLOCKED, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA,                                        \
	  "load that needs a part of an older store which is not forwarded")                       \
	X(CLOCKS, 0, 0, "core clock")                                                              \
	X(OFFCORE, 0, SPMU_ACCESS_DATA,                                                            \
	  "off-core request that a register selects: stands for those below in an event's row")    \
	X(OFFCORE_DATA_L3, 0, SPMU_ACCESS_DATA,                                                    \
	  "data read off the core that the last-level cache answers alone")                        \
	X(OFFCORE_DATA_SHARED, 0, SPMU_ACCESS_DATA,                                                \
	  "data read off the core of a line that another core has, unchanged")                     \
	X(OFFCORE_DATA_MODIFIED, 0, SPMU_ACCESS_DATA,                                              \
	  "data read off the core of a line that another core has changed")                        \
	X(OFFCORE_DATA_MEMORY, 0, SPMU_ACCESS_DATA, "data read off the core, from memory")         \
	X(OFFCORE_OWN_L3, 0, SPMU_ACCESS_DATA,                                                     \
	  "read for ownership that the last-level cache answers alone")                            \
	X(OFFCORE_OWN_SHARED, 0, SPMU_ACCESS_DATA,                                                 \
	  "read for ownership of a line that another core has, unchanged")                         \
	X(OFFCORE_OWN_MODIFIED, 0, SPMU_ACCESS_DATA,                                               \
	  "read for ownership of a line that another core has changed")                            \
	X(OFFCORE_OWN_MEMORY, 0, SPMU_ACCESS_DATA, "read for ownership, from memory")              \
	X(OFFCORE_CODE_L3, 0, 0, "code read off the core that the last-level cache answers alone") \
	X(OFFCORE_CODE_SHARED, 0, 0,                                                               \
	  "code read off the core of a line that another core has, unchanged")                     \
	X(OFFCORE_CODE_MODIFIED, 0, 0,                                                             \
	  "code read off the core of a line that another core has changed")                        \
	X(OFFCORE_CODE_MEMORY, 0, 0, "code read off the core, from memory")                        \
	X(LOAD_XSNP_NONE, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA,                                      \
	  "load that hits the last-level cache, of a line that no other core has")                 \
	X(LOAD_XSNP_HIT, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA,                                       \
	  "load that hits the last-level cache, of a line that another core has, unchanged")       \
	X(LOAD_XSNP_HITM, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA,                                      \
	  "load of a line that another core has changed")                                          \
	X(UOPS_DSB, 0, 0, "micro-operation from the decoded instruction cache")                    \
	X(UOPS_MITE, 0, 0, "micro-operation from the decoders")                                    \
	X(UOPS_MS, 0, 0, "micro-operation of microcode")                                           \
	X(UOPS_MS_DSB, 0, 0,                                                                       \
	  "micro-operation of microcode that the decoded instruction cache begins")                \
	X(UOPS_MS_MITE, 0, 0, "micro-operation of microcode that the decoders begin")              \
	X(UOPS_IDQ, 0, 0,                                                                          \
	  "micro-operation that the front end fetches, decodes or takes from microcode")           \
	X(UOPS_ANY_DSB, 0, 0, "micro-operation from that cache, or of microcode that it begins")   \
	X(UOPS_ANY_MITE, 0, 0,                                                                     \
	  "micro-operation from the decoders, or of microcode that they begin")                    \
	X(CLOCKS_DSB, 0, 0, "clock in which the decoded instruction cache delivers")               \
	X(CLOCKS_DSB_FULL, 0, 0, "clock in which it delivers as many as the core is wide")         \
	X(CLOCKS_MITE, 0, 0, "clock in which the decoders deliver")                                \
	X(CLOCKS_MITE_FULL, 0, 0, "clock in which they deliver as many as the core is wide")       \
	X(CLOCKS_MS, 0, 0, "clock in which microcode delivers")                                    \
	X(CLOCKS_MS_DSB, 0, 0, "clock of microcode that the decoded instruction cache begins")     \
	X(CLOCKS_MS_MITE, 0, 0, "clock of microcode that the decoders begin")                      \
	X(CLOCKS_ANY_DSB, 0, 0,                                                                    \
	  "clock in which that cache, or microcode that it begins, delivers")                      \
	X(CLOCKS_ANY_MITE, 0, 0,                                                                   \
	  "clock in which the decoders, or microcode that they begin, deliver")                    \
	X(MS_SWITCHES, 0, 0, "switch to microcode")                                                \
	X(MS_DSB_SWITCHES, 0, 0, "switch from the decoded instruction cache to microcode")         \
	X(DSB_SWITCHES, 0, 0, "switch from the decoded instruction cache to the decoders")         \
	X(DSB_MISSES, 0, 0,                                                                        \
	  "fetch of instructions that the decoded instruction cache does not have")                \
	X(UOPS_LSD, 0, 0, "micro-operation from the loop buffer")                                  \
	X(CLOCKS_LSD, 0, 0, "clock in which the loop buffer delivers")                             \
	X(CLOCKS_LSD_FULL, 0, 0, "clock in which it delivers as many as the core is wide")         \
	X(CLOCKS_LENGTH, 0, 0, "clock in which a length-changing prefix holds up the decoders")    \
	X(DECODED_INSNS, 0, 0, "instruction that the decoders decode")                             \
	X(RESTEERS, 0, 0, "taken branch that the front end finds only when it decodes it")         \
	X(CLEARS_CODE, 0, SPMU_ACCESS_DATA, "store to a line from which code was fetched")         \
	X(CLEARS_ORDER, 0, SPMU_ACCESS_DATA,                                                       \
	  "load that starts too early, before an older store to its address")                      \
	X(CLEARS, 0, SPMU_ACCESS_DATA, "machine clear: one of the two")                            \
	X(PAUSES, 0, 0, "PAUSE that retires")                                                      \
	X(PREFETCHES, 0, 0, "prefetch instruction")                                                \
	X(PREFETCHES_NTA, 0, 0, "PREFETCHNTA")                                                     \
	X(PREFETCHES_T0, 0, 0, "PREFETCHT0")                                                       \
	X(PREFETCHES_T1_T2, 0, 0, "PREFETCHT1 or PREFETCHT2")                                      \
	X(PREFETCHES_W, 0, 0, "PREFETCHW")                                                         \
	X(PREFETCH_L2_HITS, 0, SPMU_ACCESS_DATA,                                                   \
	  "prefetch instruction that misses the first level and hits the second")                  \
	X(PREFETCH_L2_MISSES, 0, SPMU_ACCESS_DATA,                                                 \
	  "prefetch instruction that misses the second level")                                     \
	X(PREFETCH_L2_REFERENCES, 0, SPMU_ACCESS_DATA,                                             \
	  "prefetch instruction that misses the first level")                                      \
	X(TRANSACTIONS, 0, 0, "XBEGIN; each transaction aborts at its start")                      \
	X(SPLIT_LOCKS, 0, SPMU_ACCESS_DATA, "locked access that crosses a cache line")             \
	X(BLENDS, 0, 0, "SSE instruction that keeps the upper half of a 256-bit register")         \
	X(AVX_TO_SSE, 0, 0, "change from 256-bit AVX to SSE without VZEROUPPER")                   \
	X(SSE_TO_AVX, 0, 0, "change back to AVX after such a change")                              \
	X(UOPS_PORTS_2_3, 0, 0, "micro-operation that port 2 or 3 executes")                       \
	X(UOPS_PORTS_4_9, 0, 0, "micro-operation that port 4 or 9 executes")                       \
	X(UOPS_PORTS_7_8, 0, 0, "micro-operation that port 7 or 8 executes")                       \
	X(TIMES_FILL_FULL, 0, SPMU_ACCESS_DATA,                                                    \
	  "time in which an access waits for a fill buffer, once for each")                        \
	X(DATA_WALKS_PENDING, 0, SPMU_ACCESS_DATA,                                                 \
	  "page walk of a load or a store, once for each clock")                                   \
	X(WALKS_PENDING, 0, SPMU_ACCESS_DATA, "page walk, once for each clock")                    \
	X(LOAD_DTLB_MISSES, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA,                                    \
	  "load that misses the first-level TLB")                                                  \
	X(STORE_DTLB_MISSES, SPMU_ACCESS_STORE, SPMU_ACCESS_DATA,                                  \
	  "store that misses the first-level TLB")                                                 \
	X(DTLB_MISSES, 0, SPMU_ACCESS_DATA, "load or store that misses the first-level TLB")       \
	X(DTLB_STLB_HITS, 0, SPMU_ACCESS_DATA, "load or store that hits the second-level TLB")     \
	X(DTLB_WALKS, 0, SPMU_ACCESS_DATA, "load or store that needs a page walk")                 \
	X(CODE_ITLB_MISSES, 0, 0, "fetch that misses the first-level TLB")                         \
	X(WALKS, 0, SPMU_ACCESS_DATA, "page walk")                                                 \
	X(CODE_FETCHES, 0, 0, "fetch")                                                             \
	X(L2_LINES_LOST, 0, SPMU_ACCESS_DATA, "line that leaves the second level")                 \
	X(LOAD_XSNP_ANY, SPMU_ACCESS_LOAD, SPMU_ACCESS_DATA,                                       \
	  "load of a line that another core has, changed or not")                                  \
	X(FRONTEND, 0, 0,                                                                          \
	  "front-end condition that a register selects: stands for others in an event")

enum spmu_tally_kind {
	SPMU_TALLY_NONE = 0,
#define SPMU_X(name, of, needs, meaning) SPMU_TALLY_##name,
	SPMU_TALLY_LIST(SPMU_X)
#undef SPMU_X
		SPMU_TALLIES
};

/* How many kinds there can ever be; the sizes of structures depend on it. */
#define SPMU_TALLIES_MAX 512

/* How often a kind of occurrence happened. */
struct spmu_tally {
	uint16_t kind; /* enum spmu_tally_kind; kinds that the library does not know are ignored */
	uint32_t count;
};

/* A set of kinds. */
struct spmu_tally_set {
	uint64_t word[SPMU_TALLIES_MAX / 64];
};

/* Adds a kind to a set.  `kind` must be less than SPMU_TALLIES_MAX. */
static inline void spmu_tally_set_add(struct spmu_tally_set *set, unsigned kind)
{
	set->word[kind / 64] |= UINT64_C(1) << (kind % 64);
}

/* Returns whether a kind is in a set; false for numbers that are out of range. */
static inline bool spmu_tally_set_has(const struct spmu_tally_set *set, unsigned kind)
{
	return kind < SPMU_TALLIES_MAX && (set->word[kind / 64] >> (kind % 64) & 1);
}

/*
 * Returns what a tally counts ("load that crosses a cache line"), or NULL for SPMU_TALLY_NONE and
 * numbers out of range.
 */
SPMU_API const char *spmu_tally_meaning(unsigned kind);

#ifdef __cplusplus
}
#endif

#endif
