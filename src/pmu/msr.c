/* SPDX-License-Identifier: MIT */
/*
 * msr.c: RDMSR and WRMSR by the address map of data/registers/msrs.inc.
 *
 * One map serves reads and writes.  A role says where the value is kept and what a write
 * does beyond the field list; reserved bits are checked by the list alone.
 */
#include "src/pmu/core.h"

enum slot msr_slot(const struct msr *msr)
{
	static const uint8_t slots[ROLE_COUNT] = {
		[ROLE_PMC] = SLOT_PMC,
		[ROLE_COUNTER] = SLOT_PMC,
		[ROLE_A_PMC] = SLOT_NONE,
		[ROLE_PERFEVTSEL] = SLOT_PERFEVTSEL,
		[ROLE_CESR] = SLOT_PERFEVTSEL,
		[ROLE_CCCR] = SLOT_PERFEVTSEL,
		[ROLE_ESCR] = SLOT_ESCR,
		[ROLE_BUS_COUNTER] = SLOT_BUS_COUNTER,
		[ROLE_BUS_CONTROL] = SLOT_BUS_CONTROL,
		[ROLE_FIXED_CTR] = SLOT_FIXED_CTR,
		[ROLE_FIXED_CTR_CTRL] = SLOT_FIXED_CTR_CTRL,
		[ROLE_GLOBAL_STATUS] = SLOT_GLOBAL_STATUS,
		[ROLE_GLOBAL_CTRL] = SLOT_GLOBAL_CTRL,
		[ROLE_STATUS_RESET] = SLOT_NONE,
		[ROLE_STATUS_SET] = SLOT_NONE,
		[ROLE_GLOBAL_INUSE] = SLOT_NONE,
		[ROLE_PERF_CAPABILITIES] = SLOT_NONE,
		[ROLE_PEBS_ENABLE] = SLOT_PEBS_ENABLE,
		[ROLE_TC_PRECISE_EVENT] = SLOT_TC_PRECISE_EVENT,
		[ROLE_PEBS_MATRIX_VERT] = SLOT_PEBS_MATRIX_VERT,
		[ROLE_PEBS_LD_LAT] = SLOT_PEBS_LD_LAT,
		[ROLE_PEBS_FRONTEND] = SLOT_PEBS_FRONTEND,
		[ROLE_DS_AREA] = SLOT_DS_AREA,
		[ROLE_DEBUGCTL] = SLOT_DEBUGCTL,
		[ROLE_MISC_ENABLE] = SLOT_MISC_ENABLE,
		[ROLE_PEBS_DATA_CFG] = SLOT_PEBS_DATA_CFG,
		[ROLE_OFFCORE_RSP] = SLOT_OFFCORE_RSP,
		[ROLE_LBR_SELECT] = SLOT_LBR_SELECT,
		[ROLE_LBR_TOS] = SLOT_LBR_TOS,
		[ROLE_LBR_FROM] = SLOT_LBR_FROM,
		[ROLE_LBR_TO] = SLOT_LBR_TO,
		[ROLE_LBR_INFO] = SLOT_LBR_INFO,
		[ROLE_LER_FROM] = SLOT_LER_FROM,
		[ROLE_LER_TO] = SLOT_LER_TO,
	};
	unsigned slot = slots[msr->role];

	_Static_assert(SLOT_COUNT <= UINT8_MAX, "slots are bytes");
	return slot == SLOT_NONE ? SLOT_NONE : (enum slot)(slot + msr->index);
}

/* The registers of counters that other threads have now are not there (18.2.1). */
bool msr_exists(const struct spmu_core *core, const struct msr *msr)
{
	switch (msr->role) {
	case ROLE_PMC:
	case ROLE_COUNTER:
	case ROLE_A_PMC:
	case ROLE_PERFEVTSEL:
	case ROLE_CCCR:
		return msr->index < core->general;
	default:
		return true;
	}
}

/* Bits of counters that this thread does not have. */
static uint64_t absent_bits(const struct spmu_core *core, const struct msr *msr)
{
	return msr->list->per_counter & ~BITS(0, core->general);
}

uint64_t msr_reserved(const struct spmu_core *core, const struct msr *msr)
{
	return msr->list->reserved | absent_bits(core, msr);
}

uint64_t msr_reset(const struct spmu_core *core, const struct msr *msr)
{
	return msr->reset & ~absent_bits(core, msr);
}

bool address_canonical(uint64_t linear)
{
	return linear + (UINT64_C(1) << 47) < UINT64_C(1) << 48;
}

/* The thread that keeps a register for thread lp (18.16, table of registers by sharing). */
struct thread *msr_holder(struct spmu_core *core, unsigned lp, const struct msr *msr)
{
	if (!core->model->counters->shared)
		return &core->thread[lp];
	switch (msr->role) {
	case ROLE_COUNTER:
	case ROLE_CCCR:
	case ROLE_ESCR:
	case ROLE_BUS_COUNTER:
	case ROLE_PEBS_ENABLE:
	case ROLE_TC_PRECISE_EVENT:
	case ROLE_PEBS_MATRIX_VERT:
	case ROLE_MISC_ENABLE:
		return &core->thread[0];
	default:
		return &core->thread[lp];
	}
}

#define DEBUGCTL_TRACE                                                                             \
	(FIELD(DEBUGCTL, TR) | FIELD(DEBUGCTL, BTS) | FIELD(DEBUGCTL, BTINT) |                     \
	 FIELD(DEBUGCTL, BTS_OFF_OS) | FIELD(DEBUGCTL, BTS_OFF_USR))

/* What thread lp reads of a register that is kept as another family or thread has it. */
uint64_t msr_shown(const struct spmu_core *core, unsigned lp, const struct msr *msr, uint64_t kept)
{
	unsigned shift = core->model->debugctl_shift;

	if (msr->role == ROLE_PEBS_ENABLE && lp && core->model->counters->shared)
		return pebs_other_view(kept);
	if (msr->role == ROLE_DEBUGCTL && shift)
		return (kept & ~DEBUGCTL_TRACE) | (kept & DEBUGCTL_TRACE) >> shift;
	return kept;
}

/* How it is kept what thread lp writes. */
uint64_t msr_kept(const struct spmu_core *core, unsigned lp, const struct msr *msr, uint64_t shown)
{
	unsigned shift = core->model->debugctl_shift;

	if (msr->role == ROLE_PEBS_ENABLE && lp && core->model->counters->shared)
		return pebs_other_view(shown);
	if (msr->role == ROLE_DEBUGCTL && shift)
		return (shown & ~(DEBUGCTL_TRACE >> shift)) | (shown & DEBUGCTL_TRACE >> shift)
								      << shift;
	return shown;
}

/* 18.2.4.3. */
static uint64_t global_inuse(const struct spmu_core *core, const struct thread_state *state)
{
	uint64_t control = state->reg[SLOT_FIXED_CTR_CTRL];
	bool interrupts = pebs_enabled(core, state->reg[SLOT_PEBS_ENABLE]) != 0;
	uint64_t inuse = 0;

	for (unsigned n = 0; n < core->general; n++) {
		uint64_t select = state->reg[SLOT_PERFEVTSEL + n];

		if (select & FIELD(PERFEVTSEL, EVENT_SELECT))
			inuse |= UINT64_C(1) << n;
		interrupts = interrupts || (select & FIELD(PERFEVTSEL, INT));
	}
	for (unsigned n = 0; n < core->model->counters->fixed_counters; n++) {
		if (control >> (4 * n) & 3)
			inuse |= FIELD(GLOBAL_INUSE, InUse_FIXED_CTR0) << n;
		interrupts = interrupts || (control >> (4 * n) & FIELD(FIXED_CTR_CTRL, PMI0));
	}
	return interrupts ? inuse | FIELD(GLOBAL_INUSE, PMI_InUse) : inuse;
}

enum spmu_outcome spmu_read_msr(struct spmu_core *core, unsigned lp, uint32_t address,
				uint64_t *value)
{
	const struct msr *msr = model_msr(core->model, address);
	const struct thread_state *state;

	if (lp >= core->threads || !msr || !msr_exists(core, msr))
		return msr_in_range(core->model, address) ? SPMU_GP : SPMU_NOT_OURS;
	state = &msr_holder(core, lp, msr)->state;
	switch (msr->role) {
	case ROLE_PMC:
	case ROLE_COUNTER:
	case ROLE_A_PMC:
		meters_fold(core);
		*value = state->reg[SLOT_PMC + msr->index];
		return SPMU_DONE;
	case ROLE_FIXED_CTR:
	case ROLE_GLOBAL_STATUS:
		meters_fold(core);
		*value = state->reg[msr_slot(msr)];
		return SPMU_DONE;
	case ROLE_STATUS_RESET:
	case ROLE_STATUS_SET:
		*value = 0;
		return SPMU_DONE;
	case ROLE_GLOBAL_INUSE:
		*value = global_inuse(core, state);
		return SPMU_DONE;
	case ROLE_PERF_CAPABILITIES:
		*value = core->model->counters->capabilities;
		return SPMU_DONE;
	default:
		*value = msr_shown(core, lp, msr, state->reg[msr_slot(msr)]);
		return SPMU_DONE;
	}
}

/* Another event begins with a fresh clock. */
static void forget_clocks(struct thread_state *state, uint32_t counters)
{
	for (unsigned lp = 0; lp < SPMU_THREADS_MAX; lp++)
		state->clock_held[lp] &= ~counters;
	while (counters) {
		unsigned c = take_lowest(&counters);

		for (unsigned lp = 0; lp < SPMU_THREADS_MAX; lp++)
			state->clock_count[lp][c] = 0;
	}
}

/* 18.21.5; nothing is counted, so to freeze a counter and to let it go on changes nothing. */
static void bus_command(struct thread_state *state, uint64_t value)
{
	uint32_t selected = (uint32_t)(value >> FIELD_LOW(L3_CONTROL, GL_EVENT_SELECT)) &
			    ((1u << BUS_COUNTER_MAX) - 1);

	if (!(value & FIELD(L3_CONTROL, GL_RESET_CMD)))
		return;
	while (selected)
		state->reg[SLOT_BUS_COUNTER + take_lowest(&selected)] &= ~FIELD(L3_GBSQ, COUNT);
}

/* What a write of an acceptable value does. */
static void write_register(struct spmu_core *core, unsigned lp, const struct msr *msr,
			   uint64_t value)
{
	struct thread_state *state = &msr_holder(core, lp, msr)->state;

	switch (msr->role) {
	case ROLE_PMC: /* bit 31 is copied upwards (18.2.5) */
		value = (uint64_t)(int64_t)(int32_t)(uint32_t)value;
		state->reg[SLOT_PMC + msr->index] = value & counter_mask(core, msr->index);
		break;
	case ROLE_A_PMC:
		state->reg[SLOT_PMC + msr->index] = value;
		break;
	case ROLE_STATUS_RESET:
		state->reg[SLOT_GLOBAL_STATUS] &= ~value;
		break;
	case ROLE_STATUS_SET:
		state->reg[SLOT_GLOBAL_STATUS] |= value;
		break;
	case ROLE_PERFEVTSEL:
		state->reg[SLOT_PERFEVTSEL + msr->index] = value;
		forget_clocks(state, 1u << msr->index);
		break;
	case ROLE_CCCR:
		state->reg[SLOT_PERFEVTSEL + msr->index] = value;
		state->pmi_due &= escr_flagged(core, state);
		forget_clocks(state, 1u << msr->index);
		break;
	case ROLE_CESR:
		state->reg[SLOT_PERFEVTSEL] = value;
		forget_clocks(state, (1u << core->general) - 1);
		break;
	case ROLE_ESCR:
		state->reg[SLOT_ESCR + msr->index] = value;
		forget_clocks(state, core->model->counters->escrs->escr[msr->index].counters);
		break;
	case ROLE_PEBS_ENABLE: /* what is switched off is no longer armed */
		state->reg[SLOT_PEBS_ENABLE] = msr_kept(core, lp, msr, value);
		state->pebs_armed &= pebs_enabled(core, state->reg[SLOT_PEBS_ENABLE]);
		break;
	case ROLE_LBR_SELECT:
		state->reg[SLOT_LBR_SELECT] = value;
		for (unsigned i = 0; i < core->threads && core->model->lbr->select_shared; i++)
			core->thread[i].state.reg[SLOT_LBR_SELECT] = value;
		break;
	case ROLE_BUS_CONTROL:
		bus_command(state, value);
		state->reg[SLOT_BUS_CONTROL] = value & msr->list->writable;
		break;
	default: /* bits that software cannot change keep their reset value */
		value = (value & msr->list->writable) |
			(msr->reset & msr->list->named & ~msr->list->writable);
		state->reg[msr_slot(msr)] = msr_kept(core, lp, msr, value);
		break;
	}
}

/* Whether writing this value raises #GP although the register is there. */
static bool refuses(const struct spmu_core *core, const struct msr *msr, uint64_t value)
{
	switch (msr->role) {
	case ROLE_GLOBAL_STATUS:
	case ROLE_GLOBAL_INUSE:
	case ROLE_PERF_CAPABILITIES:
		return true;
	case ROLE_DS_AREA:
		return !address_canonical(value);
	case ROLE_LBR_FROM:
	case ROLE_LBR_TO:
		return !lbr_writable(core, msr, value);
	case ROLE_LER_FROM:
	case ROLE_LER_TO:
		return true;
	default:
		return (value & msr_reserved(core, msr)) != 0;
	}
}

/* Whether a write can change what counts and where, not only how far a counter has come. */
static bool changes_lists(const struct msr *msr, uint64_t value)
{
	switch (msr->role) {
	case ROLE_PMC:
	case ROLE_COUNTER:
	case ROLE_A_PMC:
	case ROLE_FIXED_CTR:
	case ROLE_BUS_COUNTER:
	case ROLE_BUS_CONTROL:
	case ROLE_LBR_FROM:
	case ROLE_LBR_TO:
	case ROLE_LBR_INFO:
		return false;
	case ROLE_STATUS_RESET:
	case ROLE_STATUS_SET:
		return value & (FIELD(GLOBAL_STATUS, CTR_Frz) | FIELD(GLOBAL_STATUS, LBR_Frz));
	default:
		return true;
	}
}

enum spmu_outcome spmu_write_msr(struct spmu_core *core, unsigned lp, uint32_t address,
				 uint64_t value)
{
	const struct msr *msr = model_msr(core->model, address);

	if (lp >= core->threads || !msr || !msr_exists(core, msr))
		return msr_in_range(core->model, address) ? SPMU_GP : SPMU_NOT_OURS;
	if (refuses(core, msr, value))
		return SPMU_GP;
	meters_fold(core);
	write_register(core, lp, msr, value);
	if (msr->role == ROLE_STATUS_SET) /* as if they had overflowed (18.7.1) */
		for (uint32_t set = core->thread[lp].next; set;) {
			unsigned c = take_lowest(&set);

			if (value & core->thread[lp].counter[c].status)
				core->thread[lp].state.pebs_armed |= 1u << c;
		}
	if (changes_lists(msr, value))
		counters_update(core);
	else
		meters_grant(core);
	return SPMU_DONE;
}
