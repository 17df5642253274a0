/* SPDX-License-Identifier: MIT */
/*
 * tallies.h: occurrences that are counted by number: tallies.
 *
 * A signal (signals.h) happens at most once in an instruction, and a host knows it before the
 * instruction runs.  A tally is a kind of occurrence without these limits.  An instruction can have
 * any number of them (cache lines, micro-operations, clocks of a stall), and a host may find out
 * after the instruction has run (cache misses).
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
	  "load of a line that another core has changed")

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
