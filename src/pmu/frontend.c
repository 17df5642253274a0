/* SPDX-License-Identifier: MIT */
/*
 * frontend.c: which condition of the front end FRONTEND_RETIRED counts: EVTSEL of MSR_PEBS_FRONTEND
 * (18.13.1.4, table 18-59).  The values are those of Intel's event lists.
 *
 * Simplified: bubbles (06H), and misses of the decoded instruction cache that stall the back end
 * (11H), count nothing.  A condition counts once for each fetch, not for each instruction.
 */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"

static const struct {
	uint8_t evtsel;
	uint16_t tally;
} conditions[] = {
	{0x01, SPMU_TALLY_DSB_MISSES},	     {0x12, SPMU_TALLY_CODE_L1_MISSES},
	{0x13, SPMU_TALLY_CODE_L2_MISSES},   {0x14, SPMU_TALLY_CODE_ITLB_MISSES},
	{0x15, SPMU_TALLY_CODE_STLB_MISSES},
};

unsigned spmu_frontend_tally(uint64_t value)
{
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		if (conditions[i].evtsel == (value & FIELD(PEBS_FRONTEND, EVTSEL)))
			return conditions[i].tally;
	return SPMU_TALLY_NONE;
}

void frontend_adds(const struct spmu_core *core, const struct thread *thread,
		   struct counter *counter)
{
	unsigned tally = spmu_frontend_tally(thread->state.reg[SLOT_PEBS_FRONTEND]);

	if (tally && tally_supplied(core, tally))
		counter_adds_tally(counter, tally);
}
