/* SPDX-License-Identifier: MIT */
/*
 * metrics.c: MSR_PERF_METRICS (10th generation Core, performance metrics): the shares of the issue
 * slots of fixed counter 3 that retire, are lost to wrong speculation, and wait for the front end
 * or the back end. The 12th generation splits each of the four once more.
 *
 * The register has shares of 255. The unit counts the slots of each kind as if it had more fixed
 * counters, which count when and where fixed counter 3 does. A read divides them by that counter,
 * and a write sets them by it. So software sets both to 0 together, as the manual says.
 *
 * The share of heavy operations is 0: no host tells them apart. If a host does not supply slots,
 * IA32_PERF_CAPABILITIES does not report the register, and all shares are 0.
 */
#include "src/pmu/counters.h"
#include "src/pmu/metrics.h"

#define SLOTS_COUNTER 3 /* the fixed counter of slots */
#define ALL	      255u

/* What each byte counts, from bits 7:0 up. */
static const uint16_t tallies[METRICS_MAX] = {
	SPMU_TALLY_SLOTS_RETIRED,
	SPMU_TALLY_SLOTS_BAD_SPECULATION,
	SPMU_TALLY_SLOTS_FRONTEND,
	SPMU_TALLY_SLOTS_BACKEND,
	SPMU_TALLY_NONE, /* heavy operations */
	SPMU_TALLY_SLOTS_BAD_SPECULATION,
	SPMU_TALLY_SLOTS_FETCH_LATENCY,
	SPMU_TALLY_SLOTS_MEMORY,
};

bool metrics_supplied(const struct spmu_core *core)
{
	bool all = core->model->counters->metrics && tally_supplied(core, SPMU_TALLY_SLOTS);

	for (unsigned i = 0; all && i < core->model->counters->metrics; i++)
		all = !tallies[i] || tally_supplied(core, tallies[i]);
	return all;
}

void metrics_update(const struct spmu_core *core, struct thread *thread)
{
	const uint64_t enables =
		FIELD(GLOBAL_CTRL_V5, EN_PERF_METRICS) | FIELD(GLOBAL_CTRL_V5, EN_FIXED_CTR3);
	const struct counter *slots = &thread->counter[SLOT_FIXED_CTR + SLOTS_COUNTER];

	if (!metrics_supplied(core) || (thread->state.reg[SLOT_GLOBAL_CTRL] & enables) != enables ||
	    !(thread->active >> (SLOT_FIXED_CTR + SLOTS_COUNTER) & 1))
		return;
	for (unsigned i = 0; i < core->model->counters->metrics; i++) {
		unsigned c = SLOT_METRIC + i;
		struct counter *counter = &thread->counter[c];

		if (!tallies[i])
			continue;
		*counter = (struct counter){.status_slot = SLOT_GLOBAL_STATUS,
					    .tallies = &thread->counter_tallies[c]};
		counter_adds_tally(counter, tallies[i]);
		for (unsigned lp = 0; lp < SPMU_THREADS_MAX; lp++)
			counter->rings[lp] = slots->rings[lp];
		thread->active |= 1u << c;
	}
}

uint64_t metrics_shown(const struct spmu_core *core, const struct thread_state *state)
{
	uint64_t slots = state->reg[SLOT_FIXED_CTR + SLOTS_COUNTER];
	uint64_t shown = 0;

	for (unsigned i = 0; slots && i < core->model->counters->metrics; i++) {
		uint64_t share = (state->reg[SLOT_METRIC + i] * ALL + slots / 2) / slots;

		shown |= (share < ALL ? share : ALL) << 8 * i;
	}
	return shown;
}

void metrics_set(const struct spmu_core *core, struct thread_state *state, uint64_t value)
{
	uint64_t slots = state->reg[SLOT_FIXED_CTR + SLOTS_COUNTER];

	for (unsigned i = 0; i < core->model->counters->metrics; i++)
		state->reg[SLOT_METRIC + i] = (value >> 8 * i & ALL) * slots / ALL;
}
