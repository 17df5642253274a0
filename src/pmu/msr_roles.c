/* SPDX-License-Identifier: MIT */
/*
 * msr_roles.c: what the registers do, one row for each role of data/model.h.
 *
 * msr.h says what the fields of a row mean.  The functions that rows name come first.
 */
#include "src/pmu/counters.h"
#include "src/pmu/metrics.h"
#include "src/pmu/msr.h"
#include "src/pmu/records.h"

/* What thread lp reads. */

static uint64_t shown_zero(const struct spmu_core *core, unsigned lp, uint64_t kept)
{
	(void)core;
	(void)lp;
	(void)kept;
	return 0;
}

static uint64_t shown_capabilities(const struct spmu_core *core, unsigned lp, uint64_t kept)
{
	(void)lp;
	(void)kept;
	return core->model->counters->capabilities |
	       (metrics_supplied(core) ? FIELD(PERF_CAPABILITIES_V5, PERF_METRICS_AVAILABLE) : 0);
}

static uint64_t shown_metrics(const struct spmu_core *core, unsigned lp, uint64_t kept)
{
	(void)kept;
	return metrics_shown(core, &core->thread[lp].state);
}

/* Returns which counters software uses (18.2.4.3). */
static uint64_t shown_inuse(const struct spmu_core *core, unsigned lp, uint64_t kept)
{
	const struct thread_state *state = &core->thread[lp].state;
	uint64_t control = state->reg[SLOT_FIXED_CTR_CTRL];
	bool interrupts = pebs_enabled(core, state->reg[SLOT_PEBS_ENABLE]) != 0;
	uint64_t inuse = 0;

	(void)kept;
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

/* Conversions between what thread lp sees and what is kept. */

static uint64_t other_pebs(const struct spmu_core *core, unsigned lp, uint64_t value)
{
	return lp && core->model->counters->shared ? pebs_other_view(value) : value;
}

#define DEBUGCTL_TRACE                                                                             \
	(FIELD(DEBUGCTL, TR) | FIELD(DEBUGCTL, BTS) | FIELD(DEBUGCTL, BTINT) |                     \
	 FIELD(DEBUGCTL, BTS_OFF_OS) | FIELD(DEBUGCTL, BTS_OFF_USR))

/* NetBurst has the bits of the branch trace lower than IA32_DEBUGCTL has them. */
static uint64_t lowered_trace(const struct spmu_core *core, unsigned lp, uint64_t kept)
{
	(void)lp;
	return (kept & ~DEBUGCTL_TRACE) | (kept & DEBUGCTL_TRACE) >> core->model->debugctl_shift;
}

static uint64_t raised_trace(const struct spmu_core *core, unsigned lp, uint64_t shown)
{
	const uint64_t lowered = DEBUGCTL_TRACE >> core->model->debugctl_shift;

	(void)lp;
	return (shown & ~lowered) | (shown & lowered) << core->model->debugctl_shift;
}

/* Which values WRMSR takes.  These functions return false where it raises #GP. */

static bool take_nothing(const struct spmu_core *core, const struct msr *msr, uint64_t value)
{
	(void)core;
	(void)msr;
	(void)value;
	return false;
}

static bool take_canonical(const struct spmu_core *core, const struct msr *msr, uint64_t value)
{
	(void)core;
	(void)msr;
	return address_canonical(value);
}

/* Writing, where it does more than to keep the writable bits. */

/* A write copies bit 31 upwards (18.2.5). */
static void write_pmc(struct spmu_core *core, struct thread *holder, const struct msr *msr,
		      uint64_t value)
{
	value = (uint64_t)(int64_t)(int32_t)(uint32_t)value;
	holder->state.reg[SLOT_PMC + msr->index] = value & counter_mask(core, msr->index);
}

static void write_metrics(struct spmu_core *core, struct thread *holder, const struct msr *msr,
			  uint64_t value)
{
	(void)msr;
	metrics_set(core, &holder->state, value);
}

static void clear_status(struct spmu_core *core, struct thread *holder, const struct msr *msr,
			 uint64_t value)
{
	(void)core;
	(void)msr;
	holder->state.reg[SLOT_GLOBAL_STATUS] &= ~value;
}

/* The counters whose bits are set arm PEBS as if they had overflowed (18.7.1). */
static void set_status(struct spmu_core *core, struct thread *holder, const struct msr *msr,
		       uint64_t value)
{
	(void)core;
	(void)msr;
	holder->state.reg[SLOT_GLOBAL_STATUS] |= value;
	for (uint32_t set = holder->next; set;) {
		unsigned c = take_lowest(&set);

		if (value & holder->counter[c].status)
			holder->state.pebs_armed |= 1u << c;
	}
}

/* Lets counters begin another event with a fresh clock. */
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

static void write_perfevtsel(struct spmu_core *core, struct thread *holder, const struct msr *msr,
			     uint64_t value)
{
	(void)core;
	holder->state.reg[SLOT_PERFEVTSEL + msr->index] = value;
	forget_clocks(&holder->state, 1u << msr->index);
}

static void write_cccr(struct spmu_core *core, struct thread *holder, const struct msr *msr,
		       uint64_t value)
{
	holder->state.reg[SLOT_PERFEVTSEL + msr->index] = value;
	holder->state.pmi_due &= escr_flagged(core, &holder->state);
	forget_clocks(&holder->state, 1u << msr->index);
}

static void write_cesr(struct spmu_core *core, struct thread *holder, const struct msr *msr,
		       uint64_t value)
{
	(void)msr;
	holder->state.reg[SLOT_PERFEVTSEL] = value;
	forget_clocks(&holder->state, (1u << core->general) - 1);
}

static void write_escr(struct spmu_core *core, struct thread *holder, const struct msr *msr,
		       uint64_t value)
{
	holder->state.reg[SLOT_ESCR + msr->index] = value;
	forget_clocks(&holder->state, core->model->counters->escrs->escr[msr->index].counters);
}

/* What is switched off is no longer armed. */
static void write_pebs_enable(struct spmu_core *core, struct thread *holder, const struct msr *msr,
			      uint64_t value)
{
	(void)msr;
	holder->state.reg[SLOT_PEBS_ENABLE] = value;
	holder->state.pebs_armed &= pebs_enabled(core, value);
}

static void write_lbr_select(struct spmu_core *core, struct thread *holder, const struct msr *msr,
			     uint64_t value)
{
	(void)msr;
	holder->state.reg[SLOT_LBR_SELECT] = value;
	for (unsigned lp = 0; lp < core->threads && core->model->lbr->select_shared; lp++)
		core->thread[lp].state.reg[SLOT_LBR_SELECT] = value;
}

/* IA32_LBR_DEPTH takes the depths of CPUID leaf 1CH: 8 * (n + 1) for bit n. */
static bool take_depth(const struct spmu_core *core, const struct msr *msr, uint64_t value)
{
	(void)msr;
	return value && value % 8 == 0 && value <= SPMU_LBR_DEPTH_MAX &&
	       core->model->lbr->depths >> (value / 8 - 1) & 1;
}

static void write_depth(struct spmu_core *core, struct thread *holder, const struct msr *msr,
			uint64_t value)
{
	(void)core;
	(void)msr;
	lbr_clear(&holder->state);
	holder->state.reg[SLOT_LBR_DEPTH] = value;
}

/*
 * Carries out a command (18.21.5).  The commands that freeze and release counters change nothing,
 * because no host supplies their events.
 */
static void write_bus_control(struct spmu_core *core, struct thread *holder, const struct msr *msr,
			      uint64_t value)
{
	uint32_t selected = (uint32_t)(value >> FIELD_LOW(L3_CONTROL, GL_EVENT_SELECT)) &
			    ((1u << BUS_COUNTER_MAX) - 1);

	(void)core;
	holder->state.reg[SLOT_BUS_CONTROL] = value & msr->list->writable;
	if (!(value & FIELD(L3_CONTROL, GL_RESET_CMD)))
		return;
	while (selected)
		holder->state.reg[SLOT_BUS_COUNTER + take_lowest(&selected)] &=
			~FIELD(L3_GBSQ, COUNT);
}

/* What a saved register may hold, where it is not what a write takes. */

static bool hold_count(const struct spmu_core *core, const struct msr *msr, uint64_t value)
{
	return !(value & ~counter_mask(core, msr->index));
}

static bool hold_named(const struct spmu_core *core, const struct msr *msr, uint64_t value)
{
	return !(value & msr_reserved(core, msr));
}

/* The last exception record holds what a register of the stack did. */
static bool hold_entry(const struct spmu_core *core, uint32_t stack, uint64_t value)
{
	const struct msr *msr = model_msr(core->model, stack);

	return core->model->lbr->to && msr ? lbr_valid(core, msr, value) : value <= UINT32_MAX;
}

static bool hold_from(const struct spmu_core *core, const struct msr *msr, uint64_t value)
{
	(void)msr;
	return hold_entry(core, core->model->lbr->from, value);
}

static bool hold_to(const struct spmu_core *core, const struct msr *msr, uint64_t value)
{
	(void)msr;
	return hold_entry(core, core->model->lbr->to, value);
}

const struct role_row role_rows[ROLE_COUNT] = {
	[ROLE_PMC] = {.slot = SLOT_PMC,
		      .per_counter = true,
		      .counts = true,
		      .write = write_pmc,
		      .effect = MSR_COUNT,
		      .holds = hold_count},
	[ROLE_COUNTER] = {.slot = SLOT_PMC,
			  .per_counter = true,
			  .per_core = true,
			  .counts = true,
			  .effect = MSR_COUNT,
			  .holds = hold_count},
	[ROLE_A_PMC] = {.slot = SLOT_PMC,
			.none = true,
			.per_counter = true,
			.counts = true,
			.effect = MSR_COUNT},
	[ROLE_PERFEVTSEL] = {.slot = SLOT_PERFEVTSEL,
			     .per_counter = true,
			     .write = write_perfevtsel},
	[ROLE_CESR] = {.slot = SLOT_PERFEVTSEL, .write = write_cesr},
	[ROLE_CCCR] = {.slot = SLOT_PERFEVTSEL,
		       .per_counter = true,
		       .per_core = true,
		       .write = write_cccr},
	[ROLE_ESCR] = {.slot = SLOT_ESCR, .per_core = true, .write = write_escr},
	[ROLE_BUS_COUNTER] = {.slot = SLOT_BUS_COUNTER, .per_core = true, .effect = MSR_COUNT},
	[ROLE_BUS_CONTROL] = {.slot = SLOT_BUS_CONTROL,
			      .write = write_bus_control,
			      .effect = MSR_COUNT},
	[ROLE_FIXED_CTR] = {.slot = SLOT_FIXED_CTR, .counts = true, .effect = MSR_COUNT},
	[ROLE_PERF_METRICS] = {.none = true,
			       .counts = true,
			       .shown = shown_metrics,
			       .write = write_metrics,
			       .effect = MSR_COUNT},
	[ROLE_FIXED_CTR_CTRL] = {.slot = SLOT_FIXED_CTR_CTRL},
	[ROLE_GLOBAL_STATUS] = {.slot = SLOT_GLOBAL_STATUS,
				.counts = true,
				.takes = take_nothing,
				.holds = hold_named},
	[ROLE_GLOBAL_CTRL] = {.slot = SLOT_GLOBAL_CTRL},
	[ROLE_STATUS_RESET] = {.slot = SLOT_GLOBAL_STATUS,
			       .none = true,
			       .shown = shown_zero,
			       .write = clear_status,
			       .effect = MSR_STATUS},
	[ROLE_STATUS_SET] = {.slot = SLOT_GLOBAL_STATUS,
			     .none = true,
			     .shown = shown_zero,
			     .write = set_status,
			     .effect = MSR_STATUS},
	[ROLE_GLOBAL_INUSE] = {.none = true, .shown = shown_inuse, .takes = take_nothing},
	[ROLE_PERF_CAPABILITIES] = {.none = true,
				    .shown = shown_capabilities,
				    .takes = take_nothing},
	[ROLE_PEBS_ENABLE] = {.slot = SLOT_PEBS_ENABLE,
			      .per_core = true,
			      .shown = other_pebs,
			      .kept = other_pebs,
			      .write = write_pebs_enable},
	[ROLE_TC_PRECISE_EVENT] = {.slot = SLOT_TC_PRECISE_EVENT, .per_core = true},
	[ROLE_PEBS_MATRIX_VERT] = {.slot = SLOT_PEBS_MATRIX_VERT, .per_core = true},
	[ROLE_PEBS_LD_LAT] = {.slot = SLOT_PEBS_LD_LAT},
	[ROLE_PEBS_FRONTEND] = {.slot = SLOT_PEBS_FRONTEND},
	[ROLE_DS_AREA] = {.slot = SLOT_DS_AREA, .takes = take_canonical, .holds = take_canonical},
	[ROLE_DEBUGCTL] = {.slot = SLOT_DEBUGCTL, .shown = lowered_trace, .kept = raised_trace},
	[ROLE_MISC_ENABLE] = {.slot = SLOT_MISC_ENABLE, .per_core = true},
	[ROLE_PEBS_DATA_CFG] = {.slot = SLOT_PEBS_DATA_CFG},
	[ROLE_OFFCORE_RSP] = {.slot = SLOT_OFFCORE_RSP},
	[ROLE_LBR_SELECT] = {.slot = SLOT_LBR_SELECT, .write = write_lbr_select},
	[ROLE_LBR_TOS] = {.slot = SLOT_LBR_TOS},
	[ROLE_LBR_CTL] = {.slot = SLOT_LBR_SELECT},
	[ROLE_LBR_DEPTH] = {.slot = SLOT_LBR_DEPTH,
			    .takes = take_depth,
			    .write = write_depth,
			    .holds = take_depth},
	[ROLE_LBR_FROM] = {.slot = SLOT_LBR_FROM,
			   .per_entry = true,
			   .takes = lbr_takes_from,
			   .effect = MSR_COUNT,
			   .holds = lbr_valid},
	[ROLE_LBR_TO] = {.slot = SLOT_LBR_TO,
			 .per_entry = true,
			 .takes = lbr_takes,
			 .effect = MSR_COUNT,
			 .holds = lbr_valid},
	[ROLE_LBR_INFO] = {.slot = SLOT_LBR_INFO, .per_entry = true, .effect = MSR_COUNT},
	[ROLE_LER_FROM] = {.slot = SLOT_LER_FROM, .takes = take_nothing, .holds = hold_from},
	[ROLE_LER_TO] = {.slot = SLOT_LER_TO, .takes = take_nothing, .holds = hold_to},
	[ROLE_LER_INFO] = {.slot = SLOT_LER_INFO, .takes = take_nothing, .holds = hold_named},
};
