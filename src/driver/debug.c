/* SPDX-License-Identifier: MIT */
/*
 * debug.c: IA32_DEBUGCTL and last branch records (Vol. 3B 17.4.1, 17.4.7, 17.4.8): what the
 * driver wants of the register, beside the bits that others have set there, and the stack.
 *
 * Version 2 and 3 freeze the stack by clearing DEBUGCTL.LBR at the interrupt, version 4 by a
 * status bit; the service routine writes the one and clears the other, whichever
 * there is.  Version 1 has no freeze: the routine stops recording first of all.
 *
 * Before version 1: P6 has one record and no pointer to it (17.14.2), NetBurst TR to BTS_OFF_USR
 * four bits further down (17.11.1).
 */
#include "internal.h"

#define RECORDING (DRV_DEBUG_LBR | DRV_DEBUG_TR | DRV_DEBUG_BTS)

/* Bits that are the driver's business in IA32_DEBUGCTL when it wants these. */
static uint64_t own_bits(uint64_t wanted)
{
	return (wanted & DRV_DEBUG_TRACE ? DRV_DEBUG_TRACE : 0) |
	       (wanted & DRV_DEBUG_LBR ? DRV_DEBUG_LBR | DRV_DEBUG_FREEZE_LBRS : 0);
}

/* Bits where the family has them. */
static uint64_t placed(const struct spmu_driver *driver, uint64_t bits)
{
	if (driver->facilities.programming != SPMU_PROGRAM_ESCR)
		return bits;
	return (bits & DRV_DEBUG_LBR) | (bits & DRV_DEBUG_TRACE) >> 4;
}

static bool write_debug(const struct spmu_driver *driver, uint64_t own, uint64_t on)
{
	uint64_t value;

	return drv_read(driver, DRV_IA32_DEBUGCTL, &value) &&
	       drv_write(driver, DRV_IA32_DEBUGCTL,
			 (value & ~placed(driver, own)) | placed(driver, on));
}

bool spmu_drv_set_debug(struct spmu_driver *driver, uint64_t wanted)
{
	uint64_t own = own_bits(driver->debugctl | wanted);

	driver->debugctl = wanted;
	/* The service routine, when that is the caller, resumes at its end. */
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

/* An entry from 0 to 0 was never written, or its call has returned. */
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

		if (!read_entry(driver, (unsigned)(top - n) % layout->depth, &entry))
			return;
		spmu_lbr_decode(layout, &entry, branch);
		if (!branch->from && !branch->to)
			return;
		driver->branches = n + 1;
	}
}

static bool clear_stack(const struct spmu_driver *driver)
{
	const struct spmu_lbr_layout *layout = driver->lbr_layout;

	for (unsigned n = 0; n < layout->depth; n++) {
		if (!drv_write(driver, layout->from + n, 0) ||
		    (layout->to && !drv_write(driver, layout->to + n, 0)) ||
		    (layout->info && !drv_write(driver, layout->info + n, 0)))
			return false;
	}
	return true;
}

/* Records change their size with the branches in them: none may wait in the buffer. */
static enum spmu_status configure(struct spmu_driver *driver, bool lbr)
{
	bool before = driver->lbr;
	enum spmu_status status;

	spmu_drv_drain_pebs(driver);
	driver->lbr = lbr;
	status = spmu_drv_configure_records(driver);
	if (status != SPMU_OK)
		driver->lbr = before;
	return status;
}

enum spmu_status spmu_driver_enable_lbr(struct spmu_driver *driver, uint64_t select)
{
	const struct spmu_lbr_layout *layout = driver->lbr_layout;

	if (!driver->facilities.lbr)
		return SPMU_E_UNAVAILABLE;
	if (driver->running || driver->in_service)
		return SPMU_E_ARGUMENT;
	if ((select && !layout->select) || ((select & SPMU_LBR_CALL_STACK) && !layout->call_stack))
		return SPMU_E_UNAVAILABLE;
	if (layout->select && !drv_write(driver, layout->select, select))
		return SPMU_E_UNAVAILABLE;
	/* The manual does not say whether the records of the oldest families can be written. */
	if (!clear_stack(driver) && driver->facilities.perfmon_version)
		return SPMU_E_UNAVAILABLE;
	spmu_drv_map_interrupt(driver);
	return configure(driver, true);
}

enum spmu_status spmu_driver_disable_lbr(struct spmu_driver *driver)
{
	if (driver->running || driver->in_service)
		return SPMU_E_ARGUMENT;
	return driver->lbr ? configure(driver, false) : SPMU_OK;
}

enum spmu_status spmu_driver_set_groups(struct spmu_driver *driver, uint32_t groups)
{
	uint32_t before = driver->pebs_groups;
	enum spmu_status status;

	if (!driver->facilities.pebs || !driver->facilities.pebs_baseline)
		return SPMU_E_UNAVAILABLE;
	if (driver->running || driver->in_service ||
	    (groups & ~(SPMU_PEBS_MEMORY | SPMU_PEBS_GPRS | SPMU_PEBS_XMM)))
		return SPMU_E_ARGUMENT;
	spmu_drv_drain_pebs(driver);
	driver->pebs_groups = groups;
	status = spmu_drv_configure_records(driver);
	if (status != SPMU_OK)
		driver->pebs_groups = before;
	return status;
}
