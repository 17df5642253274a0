/* SPDX-License-Identifier: MIT */
/*
 * uncore.h: the performance-monitoring unit of a processor package outside its cores (Vol. 3B
 * 18.8.2): Nehalem's and Westmere's.
 *
 * An uncore unit has eight general counters of 48 bits and a fixed one.  They count in U-clocks,
 * the clocks of the uncore, and have no privilege levels.  A host makes one unit for each package,
 * attaches the package's cores, passes it RDMSR and WRMSR, and tells it what happened.  An overflow
 * interrupts the cores that software chose.
 *
 * Calls for one unit, and for the cores that are attached to it, must not run at the same time.
 *
 * Not there: the boxes of the Xeon 7500 and E7 (18.8.3), and the uncore units of Sandy Bridge and
 * later.  The library has no list of uncore events: a host reports those that it knows by code.
 *
 * Example: examples/uncore.c.
 */
#ifndef SOFTPMU_UNCORE_H
#define SOFTPMU_UNCORE_H

#include <softpmu/unit.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPMU_UNCORE_CORES_MAX 4

struct spmu_uncore; /* opaque */

/*
 * model	Of the package, which is also that of its cores.
 * cores	The cores of the package, 1 to SPMU_UNCORE_CORES_MAX.
 * core		Core n of the package, to which EN_PMI_COREn belongs.  NULL: it gets no interrupts.
 */
struct spmu_uncore_config {
	size_t size; /* sizeof(struct spmu_uncore_config): see "Structures" in base.h */
	const struct spmu_model *model;
	unsigned cores;
	struct spmu_core *core[SPMU_UNCORE_CORES_MAX];
};

/* Returns how many bytes of memory a unit needs.  The number is constant for a build. */
SPMU_API size_t spmu_uncore_bytes(void);

/*
 * Makes a unit in `memory`, in the state after a reset.
 *
 * memory	At least spmu_uncore_bytes() bytes, aligned to 8 bytes, valid as long as the unit is
 *		used.  There is nothing to release.
 * config	The library copies it.  The cores must live as long as the unit.
 * uncore	Receives the unit; unchanged on error.
 *
 * SPMU_E_ARGUMENT: one of these is true:
 *		- a pointer is NULL, or `memory` is not aligned;
 *		- `cores` is out of range, or a core beyond `cores` is not NULL;
 *		- the size of the structure is wrong.
 * SPMU_E_MODEL: the library has no uncore unit of this model.
 * SPMU_E_SPACE: `bytes` is too small.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_uncore_create(void *memory, size_t bytes,
							   const struct spmu_uncore_config *config,
							   struct spmu_uncore **uncore);

/* Clears all registers, as a reset of the package does. */
SPMU_API void spmu_uncore_reset(struct spmu_uncore *uncore);

/*
 * RDMSR and WRMSR of any core of the package, for the registers at 391H to 396H, 3B0H to 3B7H and
 * 3C0H to 3C7H.  Ask the uncore unit first, and the core (spmu_read_msr(), spmu_write_msr()) if the
 * answer is SPMU_NOT_OURS: without an uncore unit some of the addresses raise #GP.
 *
 * Returns as those do.  *value is written only with SPMU_DONE.  Reserved bits that are set in a
 * write, and writes to the status, give SPMU_GP.
 */
SPMU_API SPMU_MUST_USE enum spmu_outcome spmu_uncore_read_msr(const struct spmu_uncore *uncore,
							      uint32_t msr, uint64_t *value);
SPMU_API SPMU_MUST_USE enum spmu_outcome spmu_uncore_write_msr(struct spmu_uncore *uncore,
							       uint32_t msr, uint64_t value);

/*
 * An event that happens in a clock.
 *
 * event	Its code, as bits 7:0 of MSR_UNCORE_PERFEVTSELx select it.
 * mask		Its unit mask.  A counter counts it if it selects one of these bits.
 * times	How often it happens in the clock.
 */
struct spmu_uncore_activity {
	uint8_t event, mask;
	uint16_t times;
};

/*
 * `clocks` U-clocks pass, and the same events happen in each of them: `count` entries, or none.
 * Enabled counters count.  Overflows set status bits and interrupt cores before this returns, in
 * the clock in which they happen: with PMI_FRZ the clocks after that do not count.
 *
 * An interrupt reaches the logical processors of a core that have IA32_DEBUGCTL.ENABLE_UNCORE_PMI
 * (bit 13) set.  It sets their IA32_PERF_GLOBAL_STATUS.Ovf_Uncore, and freezes what IA32_DEBUGCTL
 * selects.  Then it goes through the entry of the local vector table to the `pmi` callback of the
 * core's host.
 *
 * Cost: a few operations for each counter, once for the call and once more for each overflow.
 */
SPMU_API void spmu_uncore_clocks(struct spmu_uncore *uncore, uint64_t clocks,
				 const struct spmu_uncore_activity *activity, size_t count);

/*
 * Returns whether a transaction at the home node passes the filter of
 * MSR_UNCORE_ADDR_OPCODE_MATCH (18.8.2.3).  A host reports event 35H (ADDR_OPCODE_MATCH) for such
 * transactions only.
 *
 * address	The physical address; bits 2:0 are not compared.
 * opcode	The message class in bits 7:4, and the opcode in bits 3:0 (table 18-27).
 */
SPMU_API bool spmu_uncore_matches(const struct spmu_uncore *uncore, uint64_t address,
				  uint8_t opcode);

/*
 * An uncore counter asks this core for an interrupt.  spmu_uncore_clocks() calls this for the
 * attached cores.  A host with an uncore unit of its own may call it.
 *
 * Returns the set of logical processors that got it, bit n for processor n.
 */
SPMU_API unsigned spmu_uncore_interrupt(struct spmu_core *core);

#ifdef __cplusplus
}
#endif

#endif
