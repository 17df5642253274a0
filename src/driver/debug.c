/* SPDX-License-Identifier: MIT */
/*
 * debug.c: IA32_DEBUGCTL and last branch records (Vol. 3B 17.4.1, 17.4.7, 17.4.8): the bits that
 * the driver sets in the register, and reading the stack. Bits that other software has set are
 * kept.
 *
 * Versions 2 and 3 freeze the stack at the interrupt by clearing DEBUGCTL.LBR, version 4 by a
 * status bit. The service routine sets the one again and clears the other. Version 1 has no freeze,
 * so the routine stops recording first of all.
 *
 * Architectural last branch records have their enable bit in IA32_LBR_CTL, beside the filter. Entry
 * 0 is the newest.
 *
 * Before version 1, P6 has one record and no pointer to it (17.14.2), and NetBurst has TR to
 * BTS_OFF_USR four bits lower (17.11.1).
 */
#include "internal.h"

#define RECORDING (DRV_DEBUG_LBR | DRV_DEBUG_TR | DRV_DEBUG_BTS)

/* Returns the bits of IA32_DEBUGCTL that the driver may change if it wants these. */
static uint64_t own_bits(uint64_t wanted)
{
	return (wanted & DRV_DEBUG_TRACE ? DRV_DEBUG_TRACE : 0) |
	       (wanted & DRV_DEBUG_LBR ? DRV_DEBUG_LBR | DRV_DEBUG_FREEZE_LBRS : 0);
}

/* Moves bits to where the family has them. */
static uint64_t placed(const struct spmu_driver *driver, uint64_t bits)
{
	if (driver->facilities.programming != SPMU_PROGRAM_ESCR)
		return bits;
	return (bits & DRV_DEBUG_LBR) | (bits & DRV_DEBUG_TRACE) >> 4;
}

/* Switches recording. On most families it is a bit of IA32_DEBUGCTL, which the caller writes. */
static bool write_ctl(const struct spmu_driver *driver, bool on)
{
	return drv_write(driver, driver->lbr_layout->ctl,
			 driver->lbr_ctl | (on ? SPMU_LBR_CTL_LBREN : 0));
}

static bool write_debug(const struct spmu_driver *driver, uint64_t own, uint64_t on)
{
	uint64_t value;

	if (drv_lbr_architectural(driver) && (own & DRV_DEBUG_LBR)) {
		if (!write_ctl(driver, on & DRV_DEBUG_LBR))
			return false;
		own &= ~DRV_DEBUG_LBR;
		on &= ~DRV_DEBUG_LBR;
	}
	return drv_read(driver, DRV_IA32_DEBUGCTL, &value) &&
	       drv_write(driver, DRV_IA32_DEBUGCTL,
			 (value & ~placed(driver, own)) | placed(driver, on));
}

bool spmu_drv_set_debug(struct spmu_driver *driver, uint64_t wanted)
{
	uint64_t own = own_bits(driver->debugctl | wanted);

	driver->debugctl = wanted;
	/* If the service routine is the caller, it resumes recording at its end. */
	return !own || write_debug(driver, own, driver->in_service ? wanted & ~RECORDING : wanted);
}

bool spmu_drv_pause_debug(const struct spmu_driver *driver)
{
	return !driver->debugctl ||
	       write_debug(driver, own_bits(driver->debugctl), driver->debugctl & ~RECORDING);
}

bool spmu_drv_resume_debug(const struct spmu_driver *driver)
{
	return !driver->debugctl ||
	       write_debug(driver, own_bits(driver->debugctl), driver->debugctl);
}

uint64_t spmu_drv_lbr_bits(const struct spmu_driver *driver)
{
	if (!driver->lbr)
		return 0;
	return DRV_DEBUG_LBR | (drv_has_global(driver) ? DRV_DEBUG_FREEZE_LBRS : 0);
}

static bool read_entry(const struct spmu_driver *driver, unsigned n, struct spmu_lbr_entry *entry)
{
	const struct spmu_lbr_layout *layout = driver->lbr_layout;

	*entry = (struct spmu_lbr_entry){0};
	return drv_read(driver, layout->from + n, &entry->from) &&
	       (!layout->to || drv_read(driver, layout->to + n, &entry->to)) &&
	       (!layout->info || drv_read(driver, layout->info + n, &entry->info));
}

/* Stops at an entry from 0 to 0: it was never written, or its call has returned. */
void spmu_drv_take_stack(struct spmu_driver *driver)
{
	const struct spmu_lbr_layout *layout = driver->lbr_layout;
	uint64_t top = 0;

	if (driver->stack_taken || !driver->lbr)
		return;
	driver->stack_taken = true;
	driver->branches = 0;
	if (layout->tos && !drv_read(driver, layout->tos, &top))
		return;
	for (unsigned n = 0; n < layout->depth && n < SPMU_LBR_DEPTH_MAX; n++) {
		struct spmu_branch *branch = &driver->branch[n];
		struct spmu_lbr_entry entry;

		unsigned number = layout->ctl ? n : (unsigned)(top - n) % layout->depth;

		if (!read_entry(driver, number, &entry))
			return;
		spmu_lbr_decode(layout, &entry, branch);
		if (!branch->from && !branch->to)
			return;
		driver->branches = n + 1;
	}
}
