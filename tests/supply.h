/* SPDX-License-Identifier: MIT */
/* supply.h: what the tests' hosts supply: what follows from execution, or everything. */
#ifndef SPMU_TESTS_SUPPLY_H
#define SPMU_TESTS_SUPPLY_H

#include <softpmu/signals.h>

/* The last tally that the tests' hosts supply.  Later ones count in place of signals, which the
 * tests report, or in place of thresholds. */
#define SUPPLY_TALLIES SPMU_TALLY_CODE_STLB_MISSES

static inline struct spmu_supply supply_execution(void)
{
	return (struct spmu_supply){.exact = SPMU_SIGSET_ARCHITECTURAL};
}

static inline struct spmu_supply supply_all(void)
{
	struct spmu_supply supply = supply_execution();

	supply.modelled = SPMU_SIGSET_ALL & ~SPMU_SIGSET_ARCHITECTURAL;
	supply.accesses = SPMU_ACCESS_DATA;
	for (unsigned kind = 1; kind <= SUPPLY_TALLIES; kind++)
		spmu_tally_set_add(&supply.modelled_tallies, kind);
	return supply;
}

#endif
