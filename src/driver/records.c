/* SPDX-License-Identifier: MIT */
/*
 * records.c: what PEBS records hold (last branch records: Vol. 3B 17.4.8; groups of adaptive
 * records).
 */
#include "internal.h"

static bool clear_stack(const struct spmu_driver *driver)
{
	const struct spmu_lbr_layout *layout = driver->lbr_layout;

	if (layout->ctl) /* a write to the depth clears all entries */
		return drv_write(driver, layout->depth_msr, layout->depth);
	for (unsigned n = 0; n < layout->depth; n++) {
		if (!drv_write(driver, layout->from + n, 0) ||
		    (layout->to && !drv_write(driver, layout->to + n, 0)) ||
		    (layout->info && !drv_write(driver, layout->info + n, 0)))
			return false;
	}
	return true;
}

/* The size of records depends on the branches in them, so none may wait in the buffer. */
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

/* Converts bits of MSR_LBR_SELECT, which exclude, to those of IA32_LBR_CTL, which include. */
static uint64_t control(uint64_t select)
{
	static const struct {
		uint64_t no, yes;
	} bits[] = {
		{SPMU_LBR_NO_CPL0, SPMU_LBR_CTL_OS},
		{SPMU_LBR_NO_CPLX, SPMU_LBR_CTL_USR},
		{SPMU_LBR_NO_JCC, SPMU_LBR_CTL_COND},
		{SPMU_LBR_NO_CALL_REL, SPMU_LBR_CTL_CALL_REL},
		{SPMU_LBR_NO_CALL_IND, SPMU_LBR_CTL_CALL_IND},
		{SPMU_LBR_NO_RET, SPMU_LBR_CTL_RET},
		{SPMU_LBR_NO_JMP_IND, SPMU_LBR_CTL_JMP_IND},
		{SPMU_LBR_NO_JMP_REL, SPMU_LBR_CTL_JMP_REL},
		{SPMU_LBR_NO_FAR, SPMU_LBR_CTL_OTHER},
	};
	uint64_t ctl = select & SPMU_LBR_CALL_STACK ? SPMU_LBR_CTL_CALL_STACK : 0;

	for (unsigned i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		ctl |= select & bits[i].no ? 0 : bits[i].yes;
	return ctl;
}

/* Sets the filter. Recording stays off. */
static bool set_filter(struct spmu_driver *driver, uint64_t select)
{
	const struct spmu_lbr_layout *layout = driver->lbr_layout;

	if (layout->ctl) {
		driver->lbr_ctl = control(select);
		return drv_write(driver, layout->ctl, driver->lbr_ctl);
	}
	return !layout->select || drv_write(driver, layout->select, select);
}

enum spmu_status spmu_driver_enable_lbr(struct spmu_driver *driver, uint64_t select)
{
	const struct spmu_lbr_layout *layout = driver->lbr_layout;

	if (!driver->facilities.lbr)
		return SPMU_E_UNAVAILABLE;
	if (driver->running || driver->in_service)
		return SPMU_E_ARGUMENT;
	if ((select && !layout->select && !layout->ctl) ||
	    ((select & SPMU_LBR_CALL_STACK) && !layout->call_stack) || !set_filter(driver, select))
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
