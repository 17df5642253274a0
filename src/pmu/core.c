/* SPDX-License-Identifier: MIT */
/*
 * core.c: making a core, RESET and INIT (Vol. 3A 9.1.1, table 9-1).
 *
 * RESET sets each register to its power-up value. A register that threads share is set with the
 * RESET of each of them. INIT resets the local APIC's LVT entry (Vol. 3A 10.4.7). INIT and machine
 * checks also switch off recording into the DS save area (note in 17.4.9); INIT leaves the other
 * registers alone. The note names no bits, so the unit clears those that switch the recording on.
 */
#include <string.h>

#include "src/abi.h"
#include "src/pmu/counters.h"
#include "src/pmu/msr.h"
#include "src/pmu/pmi.h"
#include "src/pmu/records.h"

#define CORE_ALIGNMENT 64

size_t spmu_core_bytes(void)
{
	return (sizeof(struct spmu_core) + CORE_ALIGNMENT - 1) / CORE_ALIGNMENT * CORE_ALIGNMENT;
}

/*
 * Forgets what counters remember besides their registers. Thread 0 has it for all threads that
 * share counters.
 */
static void forget_counters(struct thread_state *state)
{
	state->pebs_armed = state->pmi_due = 0;
	memset(state->clock_held, 0, sizeof(state->clock_held));
	memset(state->clock_count, 0, sizeof(state->clock_count));
}

static void reset_thread(struct spmu_core *core, struct thread *thread)
{
	const struct msr_map *map = core->model->msrs;
	unsigned lp = thread_number(core, thread);

	memset(&thread->state, 0, sizeof(thread->state));
	thread->state.lvt = LVT_RESET;
	for (size_t i = 0; i < map->count; i++) {
		const struct msr *msr = &map->msr[i];
		const struct role_row *role = msr_role(msr);
		enum slot slot = msr_slot(msr);

		if (slot != SLOT_NONE && msr_exists(core, role, msr))
			msr_holder(core, lp, role)->state.reg[slot] = msr_reset(core, msr);
	}
	if (core->model->counters->shared)
		forget_counters(&core->thread[0].state);
}

static bool config_valid(const struct spmu_core_config *config)
{
	if (!config->model || config->threads < 1 || config->threads > SPMU_THREADS_MAX)
		return false;
	for (unsigned lp = 0; lp < config->threads; lp++)
		if (!config->meters[lp])
			return false;
	return true;
}

enum spmu_status spmu_core_create(void *memory, size_t bytes, const struct spmu_core_config *given,
				  const struct spmu_host *host, struct spmu_core **out)
{
	struct spmu_core *core = memory;
	struct spmu_core_config known, *config = &known;
	struct spmu_host callbacks;

	if (!memory || (uintptr_t)memory % CORE_ALIGNMENT || !given || !host || !out ||
	    !abi_take(config, sizeof(*config), given) || !config_valid(config) ||
	    !abi_take(&callbacks, sizeof(callbacks), host))
		return SPMU_E_ARGUMENT;
	if (bytes < spmu_core_bytes())
		return SPMU_E_SPACE;

	memset(core, 0, sizeof(*core));
	core->model = config->model;
	core->host = callbacks;
	core->threads = config->threads;
	core->general = model_general(config->model, config->threads);
	core->os_cpl = config->model->counters->os_cpl;
	core->mask[0] = BITS(0, config->model->counters->counter_bits);
	if (config->model->counters->fixed_bits)
		core->mask[1] = BITS(0, config->model->counters->fixed_bits);
	core->hide_absent = config->hide_absent;
	if (!errata_switch(core, config->errata))
		return SPMU_E_ARGUMENT;
	for (unsigned lp = 0; lp < core->threads; lp++) {
		core->thread[lp].published = config->meters[lp];
		memset(config->meters[lp], 0, sizeof(*config->meters[lp]));
		reset_thread(core, &core->thread[lp]);
	}
	counters_update(core);
	*out = core;
	return SPMU_OK;
}

void spmu_reset(struct spmu_core *core, unsigned lp)
{
	if (lp >= core->threads)
		return;
	spmu_sync(core);
	reset_thread(core, &core->thread[lp]);
	counters_update(core);
}

void spmu_machine_check(struct spmu_core *core, unsigned lp)
{
	const uint64_t trace = FIELD(DEBUGCTL, TR) | FIELD(DEBUGCTL, BTS);
	struct thread_state *state, *pebs;

	if (lp >= core->threads || !core->model->ds)
		return;
	spmu_sync(core);
	state = &core->thread[lp].state;
	pebs = core->model->counters->shared ? &core->thread[0].state : state;
	state->reg[SLOT_DEBUGCTL] &= ~trace;
	pebs->reg[SLOT_PEBS_ENABLE] = pebs_off(core, lp, pebs->reg[SLOT_PEBS_ENABLE]);
	pebs->pebs_armed &= pebs_enabled(core, pebs->reg[SLOT_PEBS_ENABLE]);
	counters_update(core);
}

void spmu_init(struct spmu_core *core, unsigned lp)
{
	if (lp >= core->threads)
		return;
	core->thread[lp].state.lvt = LVT_RESET;
	if (lbr_architectural(core))
		core->thread[lp].state.reg[SLOT_LBR_SELECT] &= ~FIELD(LBR_CTL, LBREn);
	spmu_machine_check(core, lp);
}

unsigned spmu_set_halted(struct spmu_core *core, unsigned lp, bool halted)
{
	uint32_t epoch;

	if (lp >= core->threads || core->thread[lp].state.halted == halted)
		return 0;
	core->thread[lp].state.halted = halted;
	if (!core->model->counters->shared)
		return 0;
	epoch = core_epochs(core);
	meters_fold(core);
	counters_update(core);
	return core_epochs(core) == epoch ? 0 : SPMU_EV_METERS;
}

void spmu_set_ia32e(struct spmu_core *core, unsigned lp, bool active)
{
	if (lp >= core->threads || core->thread[lp].state.ia32e == active)
		return;
	core->thread[lp].state.ia32e = active;
	meters_fold(core);
	branches_update(core); /* the branch trace's area may have another layout now */
	meters_grant(core);
}

const char *spmu_version(void)
{
	return SPMU_VERSION_STRING;
}

const char *spmu_status_text(enum spmu_status status)
{
	switch (status) {
	case SPMU_OK:
		return "done";
	case SPMU_E_ARGUMENT:
		return "an argument is outside what the call takes";
	case SPMU_E_MODEL:
		return "no model of that name";
	case SPMU_E_SPACE:
		return "the memory given is too small";
	case SPMU_E_VERSION:
		return "a saved state of another version, model, errata or number of threads";
	case SPMU_E_CORRUPT:
		return "a saved state that contradicts itself";
	case SPMU_E_EVENT:
		return "the model has no such event";
	case SPMU_E_COUNTER:
		return "no free counter can count the event";
	case SPMU_E_UNAVAILABLE:
		return "the facility is not available";
	case SPMU_E_FORMAT:
		return "the bytes are not a record of the format";
	case SPMU_E_FAULT:
		return "linear memory that is needed cannot be used";
	}
	return "unknown status";
}
