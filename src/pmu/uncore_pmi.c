/* SPDX-License-Identifier: MIT */
/* uncore_pmi.c: interrupts of a core by the counters outside it (17.4.1, 18.8.2.1). */
#include <softpmu/uncore.h>

#include "src/pmu/core.h"
#include "src/pmu/counters.h"
#include "src/pmu/pmi.h"

unsigned spmu_uncore_interrupt(struct spmu_core *core)
{
	bool stops = false;
	unsigned asked = 0;

	spmu_sync(core);
	for (unsigned lp = 0; lp < core->threads; lp++) {
		struct thread *thread = &core->thread[lp];

		if (!(thread->state.reg[SLOT_DEBUGCTL] & FIELD(DEBUGCTL, ENABLE_UNCORE_PMI)))
			continue;
		status_raise(core, thread, FIELD(GLOBAL_STATUS, Ovf_Uncore));
		stops |= pmi_request(core, thread);
		asked |= 1u << lp;
	}
	if (stops)
		counters_update(core);
	for (unsigned lp = 0; lp < core->threads; lp++)
		if (asked >> lp & 1)
			(void)pmi_deliver(core, lp);
	return asked;
}
