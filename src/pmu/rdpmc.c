/* SPDX-License-Identifier: MIT */
/* rdpmc.c: RDPMC (Vol. 2B). */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"
#include "src/pmu/metrics.h"

#define RDPMC_FIXED   (1u << 30)
#define RDPMC_FAST    (1u << 31)
#define RDPMC_METRICS (1u << 29)

/*
 * ECX[30] selects fixed counters, if there are any. ECX[29] alone selects MSR_PERF_METRICS. ECX[31]
 * selects the low half, if the family has that form. Bus counters have only the low half.
 */
enum spmu_outcome spmu_rdpmc(struct spmu_core *core, unsigned lp, uint32_t ecx, unsigned cpl,
			     bool cr4_pce, bool cr0_pe, uint64_t *value)
{
	const struct counter_layout *layout = core->model->counters;
	bool fixed = layout->fixed_counters && (ecx & RDPMC_FIXED);
	bool fast = layout->rdpmc_fast && (ecx & RDPMC_FAST);
	uint32_t index = ecx & ~((fixed ? RDPMC_FIXED : 0) | (fast ? RDPMC_FAST : 0));
	unsigned first = fixed ? SLOT_FIXED_CTR : SLOT_PMC;
	unsigned count = fixed ? layout->fixed_counters : core->general + layout->bus_counters;

	if (layout->rdpmc_none)
		return SPMU_UD;
	if (lp >= core->threads || (cr0_pe && cpl > 0 && !cr4_pce))
		return SPMU_GP;
	if (layout->metrics && ecx == RDPMC_METRICS) {
		meters_fold(core);
		*value = metrics_shown(core, &core->thread[lp].state);
		return SPMU_DONE;
	}
	if (index >= count)
		return SPMU_GP;
	meters_fold(core);
	if (!fixed && index >= core->general) {
		first = SLOT_BUS_COUNTER;
		index -= core->general;
		fast = true;
	}
	*value = core->thread[layout->shared ? 0 : lp].state.reg[first + index];
	if (fast)
		*value &= UINT32_MAX;
	return SPMU_DONE;
}
