/* SPDX-License-Identifier: MIT */
/*
 * tap.c: which taken branches the last branch records and the branch trace store want
 * (struct spmu_branch_tap), and which memory accesses tallies and records want
 * (struct spmu_access_tap).
 */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"
#include "src/pmu/records.h"

/* Tells the host which branches are wanted. */
static void publish(const struct spmu_core *core, struct thread *thread)
{
	struct spmu_branch_tap *tap = &thread->published->tap;
	struct spmu_branch_tap now = {
		.signals = thread->lbr.signals | (thread->bts.rings ? SPMU_SIGSET_TAKEN : 0),
		.rings = thread->lbr.rings | thread->bts.rings,
	};

	if (now.signals && !thread->bts.rings && !thread->lbr.call_stack)
		now.keep_last = lbr_depth(core->model->lbr, &thread->state) + thread->lbr.clocks;
	if (now.signals)
		now.headroom = UINT64_MAX;
	if (now.signals != tap->signals || now.rings != tap->rings ||
	    now.keep_last != tap->keep_last)
		thread->published->epoch++;
	*tap = now;
}

/* Tells the host which memory accesses are wanted. */
static void publish_accesses(const struct spmu_core *core, struct thread *thread)
{
	struct spmu_access_tap *tap = &thread->published->accesses;
	struct spmu_access_tap now = {0};

	for (unsigned i = 0; thread->by_tally && i < thread->meters; i++)
		if (thread->tallies_of[i]) {
			uint32_t kinds =
				tallies_need(thread->tallies_of[i]) & core->host.supply.accesses;

			now.kinds |= kinds;
			now.rings |= kinds ? thread->meter[i].rings : 0;
		}
	if (thread->addressed)
		now.retired = SPMU_ACCESS_DATA;
	if (now.kinds != tap->kinds || now.rings != tap->rings || now.retired != tap->retired)
		thread->published->epoch++;
	*tap = now;
}

void branches_update(struct spmu_core *core)
{
	for (unsigned lp = 0; lp < core->threads; lp++) {
		struct thread *thread = &core->thread[lp];

		lbr_update(core, thread);
		bts_update(core, thread);
		thread->by_branch = thread->lbr.on || thread->bts.rings;
		thread->special =
			thread->by_clock || thread->by_branch || thread->by_tally || core->os_cpl;
		publish(core, thread);
		publish_accesses(core, thread);
	}
}
