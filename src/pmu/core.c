/* SPDX-License-Identifier: MIT */
/*
 * core.c: making a core, RESET and INIT (Vol. 3A 9.1.1, table 9-1).
 *
 * RESET puts every register to its power-up value, those that threads share with each of them. INIT
 * resets the local APIC's LVT entry (Vol. 3A 10.4.7) and, as a machine check does, switches the
 * recording into the DS save area off (note in 17.4.9); of the registers it leaves the rest alone.
 * The note names no bits: taken are those that switch it on.
 */
#include <string.h>

#include "src/pmu/core.h"

#define CORE_ALIGNMENT 64

size_t spmu_core_bytes(void)
{
	return (sizeof(struct spmu_core) + CORE_ALIGNMENT - 1) / CORE_ALIGNMENT * CORE_ALIGNMENT;
}

/* What counters remember beside their registers; thread 0 has it for all that share them. */
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
		enum slot slot = msr_slot(&map->msr[i]);

		if (slot != SLOT_NONE && msr_exists(core, &map->msr[i]))
			msr_holder(core, lp, &map->msr[i])->state.reg[slot] =
				msr_reset(core, &map->msr[i]);
	}
	if (core->model->counters->shared)
		forget_counters(&core->thread[0].state);
}

enum spmu_status spmu_core_create(void *memory, size_t bytes, const struct spmu_core_config *config,
				  const struct spmu_host *host, struct spmu_core **out)
{
	struct spmu_core *core = memory;

	if (!memory || (uintptr_t)memory % CORE_ALIGNMENT || !config || !config->model || !host ||
	    !out || config->threads < 1 || config->threads > SPMU_THREADS_MAX)
		return SPMU_E_ARGUMENT;
	for (unsigned lp = 0; lp < config->threads; lp++)
		if (!config->meters[lp])
			return SPMU_E_ARGUMENT;
	if (bytes < spmu_core_bytes())
		return SPMU_E_SPACE;

	memset(core, 0, sizeof(*core));
	core->model = config->model;
	core->host = *host;
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
	spmu_settle(core);
	reset_thread(core, &core->thread[lp]);
	counters_update(core);
}

void spmu_machine_check(struct spmu_core *core, unsigned lp)
{
	const uint64_t trace = FIELD(DEBUGCTL, TR) | FIELD(DEBUGCTL, BTS);
	struct thread_state *state, *pebs;

	if (lp >= core->threads || !core->model->ds)
		return;
	spmu_settle(core);
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
