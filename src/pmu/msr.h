/* SPDX-License-Identifier: MIT */
/*
 * msr.h: the unit's registers as RDMSR and WRMSR see them.
 *
 * Reads and writes go through one map of addresses (data/registers/msrs.inc).  An entry of the map
 * names a role, and a row of msr_roles.c says what registers of that role do.
 */
#ifndef SPMU_SRC_MSR_H
#define SPMU_SRC_MSR_H

#include "src/pmu/core.h"

/* What a write can change. */
enum msr_effect {
	MSR_LISTS,  /* what counts and where */
	MSR_COUNT,  /* only how far a counter has come */
	MSR_STATUS, /* the same, except that the freeze bits stop and start counters */
};

/* A row.  Functions that are NULL: the register is plain in this respect. */
struct role_row {
	uint8_t slot;	  /* enum slot: where register 0 is kept */
	uint8_t effect;	  /* enum msr_effect */
	bool none;	  /* it has no slot of its own: it is computed, or the slot is another's */
	bool per_counter; /* registers of counters that other threads have now do not exist */
	bool per_core;	  /* where threads share counters, thread 0 keeps it (18.16) */
	bool per_entry;	  /* registers past the present depth of the stack do not exist */
	bool counts;	  /* what passed in bulk has to be added before it is read */

	/* Returns what thread lp reads if `kept` is in the slot.  Plain: `kept`. */
	uint64_t (*shown)(const struct spmu_core *core, unsigned lp, uint64_t kept);
	/* Returns what is kept if thread lp writes `shown`.  Plain: `shown`. */
	uint64_t (*kept)(const struct spmu_core *core, unsigned lp, uint64_t shown);
	/* Returns false if writing this value raises #GP.  Plain: if a reserved bit is set. */
	bool (*takes)(const struct spmu_core *core, const struct msr *msr, uint64_t value);
	/* Writes a value that takes() has accepted and kept() converted into registers of `holder`.
	 * Plain: the bits that software cannot change keep their reset value. */
	void (*write)(struct spmu_core *core, struct thread *holder, const struct msr *msr,
		      uint64_t value);
	/* Returns whether a saved state may have this value.  Plain: reset or some write can put it
	 * there. */
	bool (*holds)(const struct spmu_core *core, const struct msr *msr, uint64_t value);
};
extern const struct role_row role_rows[ROLE_COUNT] __attribute__((visibility("hidden")));

/* Returns the row of a register. */
static inline const struct role_row *msr_role(const struct msr *msr)
{
	return &role_rows[msr->role];
}

/* Returns the slot that keeps a register's value; SLOT_NONE if it has none of its own. */
static inline enum slot msr_slot(const struct msr *msr)
{
	const struct role_row *role = msr_role(msr);

	_Static_assert(SLOT_COUNT <= UINT8_MAX, "slots are bytes");
	return role->none ? SLOT_NONE : (enum slot)(role->slot + msr->index);
}

/* The registers of counters that other threads have now do not exist (18.2.1). */
static inline bool msr_exists(const struct spmu_core *core, const struct role_row *role,
			      const struct msr *msr)
{
	return !role->per_counter || msr->index < core->general;
}

/* Entries past IA32_LBR_DEPTH do not exist (architectural last branch records). */
static inline bool msr_past_depth(const struct spmu_core *core, unsigned lp, const struct msr *msr)
{
	return msr_role(msr)->per_entry && core->model->lbr->ctl &&
	       msr->index >= core->thread[lp].state.reg[SLOT_LBR_DEPTH];
}

/* Returns the thread that keeps a register for thread lp (18.16, table of registers by sharing). */
static inline struct thread *msr_holder(struct spmu_core *core, unsigned lp,
					const struct role_row *role)
{
	return &core->thread[role->per_core && core->model->counters->shared ? 0 : lp];
}

/* Returns bits of counters that this thread does not have. */
static inline uint64_t msr_absent(const struct spmu_core *core, const struct msr *msr)
{
	return msr->list->per_counter & ~BITS(0, core->general);
}

/* Returns the bits that must be written as 0. */
static inline uint64_t msr_reserved(const struct spmu_core *core, const struct msr *msr)
{
	return msr->list->reserved | msr_absent(core, msr);
}

static inline uint64_t msr_reset(const struct spmu_core *core, const struct msr *msr)
{
	return msr->reset & ~msr_absent(core, msr);
}

/* Convert between what thread lp sees of a register and what is kept. */
static inline uint64_t msr_shown(const struct spmu_core *core, unsigned lp,
				 const struct role_row *role, uint64_t kept)
{
	return role->shown ? role->shown(core, lp, kept) : kept;
}

static inline uint64_t msr_kept(const struct spmu_core *core, unsigned lp,
				const struct role_row *role, uint64_t shown)
{
	return role->kept ? role->kept(core, lp, shown) : shown;
}

/* registers.c: returns the register at this address, or NULL if the model has none. */
const struct msr *model_msr(const struct spmu_model *model, uint32_t address);

/* models.c: returns true if the address is in a range of some unit's registers. */
bool msr_in_range(const struct spmu_model *model, uint32_t address);

#endif
