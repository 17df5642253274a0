/* SPDX-License-Identifier: MIT */
/*
 * tallies.c: the list of tallies, and the tallies of an instruction (tallies.h).
 */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"

_Static_assert(SPMU_TALLIES <= SPMU_TALLIES_MAX, "sets have room for all kinds");

uint32_t tally_of(unsigned kind)
{
	static const uint32_t of[] = {0,
#define OF(name, of, needs, meaning) of,
				      SPMU_TALLY_LIST(OF)
#undef OF
	};

	return kind < SPMU_TALLIES ? of[kind] : 0;
}

uint32_t tallies_need(const struct spmu_tally_set *set)
{
	static const uint32_t needs[] = {0,
#define NEEDS(name, of, needs, meaning) needs,
					 SPMU_TALLY_LIST(NEEDS)
#undef NEEDS
	};
	uint32_t kinds = 0;

	for (unsigned kind = 1; kind < SPMU_TALLIES; kind++)
		if (spmu_tally_set_has(set, kind))
			kinds |= needs[kind];
	return kinds;
}

uint64_t tallies_in(const struct spmu_insn *insn, const struct spmu_tally_set *set)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < insn->tally_count; i++)
		if (spmu_tally_set_has(set, insn->tallies[i].kind))
			count += insn->tallies[i].count;
	return count;
}

const char *spmu_tally_meaning(unsigned kind)
{
	static const char *const meanings[] = {NULL,
#define MEANING(name, of, needs, meaning) meaning,
					       SPMU_TALLY_LIST(MEANING)
#undef MEANING
	};

	return kind < SPMU_TALLIES ? meanings[kind] : NULL;
}
