/* SPDX-License-Identifier: MIT */
/*
 * msr.c: RDMSR and WRMSR by the address map of data/registers/msrs.inc and the roles of
 * msr_roles.c.
 */
#include "src/pmu/counters.h"
#include "src/pmu/msr.h"
#include "src/pmu/records.h"

static bool is_there(const struct spmu_core *core, unsigned lp, const struct msr *msr)
{
	return lp < core->threads && msr && msr_exists(core, msr_role(msr), msr) &&
	       !msr_past_depth(core, lp, msr);
}

/* Returns the slot that keeps the register now. */
static unsigned place(const struct spmu_core *core, unsigned lp, const struct msr *msr)
{
	const struct role_row *role = msr_role(msr);

	if (role->per_entry && lbr_architectural(core))
		return role->slot +
		       lbr_entry(core->model->lbr, &core->thread[lp].state, msr->index);
	return role->slot + msr->index;
}

enum spmu_outcome spmu_read_msr(struct spmu_core *core, unsigned lp, uint32_t address,
				uint64_t *value)
{
	const struct msr *msr = model_msr(core->model, address);
	const struct role_row *role;
	const struct thread_state *state;

	if (!is_there(core, lp, msr))
		return msr_in_range(core->model, address) ? SPMU_GP : SPMU_NOT_OURS;
	role = msr_role(msr);
	state = &msr_holder(core, lp, role)->state;
	if (role->counts)
		meters_fold(core);
	*value = msr_shown(core, lp, role, state->reg[place(core, lp, msr)]);
	return SPMU_DONE;
}

/* Returns the value with the bits that software cannot change as reset leaves them. */
static uint64_t writable(const struct msr *msr, uint64_t value)
{
	const struct field_list *list = msr->list;

	return (value & list->writable) | (msr->reset & list->named & ~list->writable);
}

/* Returns true if a write can change what counts and where. */
static bool changes_lists(const struct role_row *role, uint64_t value)
{
	const uint64_t freeze = FIELD(GLOBAL_STATUS, CTR_Frz) | FIELD(GLOBAL_STATUS, LBR_Frz);

	return role->effect == MSR_LISTS || (role->effect == MSR_STATUS && (value & freeze));
}

enum spmu_outcome spmu_write_msr(struct spmu_core *core, unsigned lp, uint32_t address,
				 uint64_t value)
{
	const struct msr *msr = model_msr(core->model, address);
	const struct role_row *role;
	struct thread *holder;

	if (!is_there(core, lp, msr))
		return msr_in_range(core->model, address) ? SPMU_GP : SPMU_NOT_OURS;
	role = msr_role(msr);
	if (role->takes ? !role->takes(core, msr, value) : value & msr_reserved(core, msr))
		return SPMU_GP;
	meters_fold(core);
	holder = msr_holder(core, lp, role);
	if (role->write)
		role->write(core, holder, msr, msr_kept(core, lp, role, value));
	else
		holder->state.reg[place(core, lp, msr)] =
			msr_kept(core, lp, role, writable(msr, value));
	if (changes_lists(role, value))
		counters_update(core);
	else
		meters_grant(core);
	return SPMU_DONE;
}
