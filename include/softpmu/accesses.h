/* SPDX-License-Identifier: MIT */
/*
 * accesses.h: memory accesses, as a host tells them to the unit and to a model of caches.
 *
 * Example: examples/tallies.c.
 */
#ifndef SOFTPMU_ACCESSES_H
#define SOFTPMU_ACCESSES_H

#include <softpmu/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What an access does, as a set of bits.
 *
 * LOAD, STORE	It reads or writes data.  One access that does both (ADD to memory, XCHG) has both.
 * LOCKED	It is a locked access (LOCK, XCHG with memory).
 * PREFETCH	It only asks for the line; LOAD is set, too.  It never faults.
 * NONTEMPORAL	It has a non-temporal hint (MOVNT, MASKMOV, PREFETCHNTA).
 * DOWN		Its `repeats` go to lower addresses (EFLAGS.DF).
 */
#define SPMU_ACCESS_LOAD	1u
#define SPMU_ACCESS_STORE	2u
#define SPMU_ACCESS_LOCKED	4u
#define SPMU_ACCESS_PREFETCH	8u
#define SPMU_ACCESS_NONTEMPORAL 16u
#define SPMU_ACCESS_DOWN	32u

/* Every access is of one of these kinds. */
#define SPMU_ACCESS_DATA (SPMU_ACCESS_LOAD | SPMU_ACCESS_STORE)

/*
 * One access to data memory.  An instruction has one for each operand or element that it reads or
 * writes, in the order of the manual's pseudocode: a gather one for each element that its mask
 * selects, MOVS a load and a store.  Instruction fetches and page walks are not among them.
 *
 * linear	The linear address of the first byte.
 * bytes	The size in bytes.  0: not known, which only accesses that are listed for PEBS
 *		records may have.
 * kind		SPMU_ACCESS_ bits.
 * repeats	How many more elements of the same size follow without a gap, as those of a REP
 *		string instruction do; 0 for other accesses.  A host may report the elements one by
 *		one instead.
 */
struct spmu_memory_access {
	uint64_t linear;
	uint16_t bytes;
	uint16_t kind;
	uint32_t repeats;
};

/*
 * The access tap: which memory accesses are wanted.  It is in struct spmu_meters, next to the
 * branch tap, and its changes change the epoch.  If nothing is wanted, all fields are 0, and a
 * host needs no code for accesses.
 *
 * kinds	The kinds of accesses from which the tallies of active counters follow (tallies.h);
 *		0: none.  A host whose supply delivers accesses gathers all accesses of these
 *		kinds, in order, and hands them to what computes the tallies: its own code, or a
 *		model of the machine.  That reports the occurrences with spmu_tallies().
 * rings	The rings in which those counters count.  A model whose state depends on accesses of
 *		other rings gathers these, too.
 * retired	The kinds that an instruction reported with spmu_retire() must list in
 *		spmu_insn.accesses, because a PEBS record may want an address; 0: none.
 * reserved	0.
 *
 * How many accesses may be gathered before they are handed over follows from the headroom: the
 * occurrences that they can cause at most must fit the headroom of each meter that counts them (see
 * spmu_tallies() in unit.h).
 */
struct spmu_access_tap {
	uint32_t kinds;
	uint32_t rings;
	uint32_t retired;
	uint32_t reserved;
};

#ifdef __cplusplus
}
#endif

#endif
