/* SPDX-License-Identifier: MIT */
/*
 * softpmu-branches.c: the log of taken branches, for last branch records and the branch trace store
 * (Vol. 3B 17.4.8, 17.4.9).
 *
 * Blocks append to it what they end with (softpmu-translate.c.inc).  The unit gets all of it before
 * anything else of the unit is called.  So records come late only for those who look at memory
 * without that: the log is emptied before the page tables change and when the processor leaves its
 * blocks.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "softpmu-unit.h"

void softpmu_hand_over(struct softpmu *unit)
{
	CPUX86State *env = &unit->cpu->env;
	struct softpmu_env *pmu = &env->softpmu;
	const int32_t *room = env_cpu(env)->neg.softpmu_room;
	int32_t *last = unit->log_room;
	struct spmu_branch *branch;
	bool none = pmu->log_end == pmu->log;

	if (none && (!unit->meters.tap.signals || !memcmp(last, room, sizeof(unit->log_room))))
		return;
	for (branch = pmu->log; branch < pmu->log_end; branch++) {
		unsigned ring = branch->cpl != 0;
		int32_t after = branch->cycles;

		branch->cycles = MAX(last[ring] - after, 0);
		last[ring] = after;
	}
	*branch++ = (struct spmu_branch){
		.signal = SPMU_SIG_INSTRUCTIONS, /* no branch: the clocks alone */
		.cycles = MAX(last[0] - room[0], 0) + MAX(last[1] - room[1], 0),
	};
	memcpy(last, room, sizeof(unit->log_room));
	pmu->log_end = pmu->log;
	spmu_branches(unit->core, unit->lp, pmu->log, branch - pmu->log);
}

void softpmu_empty_log(CPUX86State *env)
{
	if (env->softpmu.log_end != env->softpmu.log)
		softpmu_hand_over(env->softpmu.unit);
}

/* A far transfer of a block that logs branches has been done. */
void helper_softpmu_far(CPUX86State *env, uint64_t from, uint32_t cpl)
{
	*env->softpmu.log_end++ = (struct spmu_branch){
		.from = from,
		.to = linear_ip(env),
		.cycles = env_cpu(env)->neg.softpmu_room[cpl != 0],
		.signal = SPMU_SIG_FAR,
		.cpl = cpl,
		.next_cpl = cpl_of(env),
	};
}

int64_t softpmu_log_room(const struct spmu_branch_tap *tap)
{
	return tap->signals ? MIN(tap->room - 1, SOFTPMU_LOG_MAX) / 2 : SOFTPMU_ROOM_MAX;
}
