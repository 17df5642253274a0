/* SPDX-License-Identifier: MIT */
/*
 * softpmu-branches.c: the log of taken branches, for last branch records and the branch trace store
 * (Vol. 3B 17.4.8, 17.4.9).
 *
 * Blocks append the branches that they end with (softpmu-translate.c.inc).  The unit gets the whole
 * log before any other call to the unit.  Records can be late only for software that reads memory
 * without such a call.  So the log is also emptied before the page tables change, and when the
 * processor leaves its blocks.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "softpmu-unit.h"

void softpmu_hand_over(struct softpmu *unit)
{
	CPUX86State *env = &unit->cpu->env;
	struct softpmu_env *pmu = &env->softpmu;
	const int32_t *headroom = env_cpu(env)->neg.softpmu_headroom;
	int32_t *last = unit->log_headroom;
	struct spmu_branch *branch;
	bool none = pmu->log_end == pmu->log;

	if (none &&
	    (!unit->meters.tap.signals || !memcmp(last, headroom, sizeof(unit->log_headroom))))
		return;
	for (branch = pmu->log; branch < pmu->log_end; branch++) {
		unsigned ring = branch->cpl != 0;
		int32_t after = branch->cycles;

		branch->cycles = MAX(last[ring] - after, 0);
		last[ring] = after;
	}
	*branch++ = (struct spmu_branch){
		.signal = SPMU_SIG_INSTRUCTIONS, /* no branch, only its clocks */
		.cycles = MAX(last[0] - headroom[0], 0) + MAX(last[1] - headroom[1], 0),
	};
	memcpy(last, headroom, sizeof(unit->log_headroom));
	pmu->log_end = pmu->log;
	spmu_branches(unit->core, unit->lp, pmu->log, branch - pmu->log);
}

void softpmu_empty_log(CPUX86State *env)
{
	if (env->softpmu.log_end != env->softpmu.log)
		softpmu_hand_over(env->softpmu.unit);
}

/* Logs a far transfer that a block with a log has just made. */
void helper_softpmu_far(CPUX86State *env, uint64_t from, uint32_t cpl)
{
	*env->softpmu.log_end++ = (struct spmu_branch){
		.from = from,
		.to = linear_ip(env),
		.cycles = env_cpu(env)->neg.softpmu_headroom[cpl != 0],
		.signal = SPMU_SIG_FAR,
		.cpl = cpl,
		.next_cpl = cpl_of(env),
	};
}

int64_t softpmu_log_headroom(const struct spmu_branch_tap *tap)
{
	return tap->signals ? MIN(tap->headroom - 1, SOFTPMU_LOG_MAX) / 2 : SOFTPMU_HEADROOM_MAX;
}
