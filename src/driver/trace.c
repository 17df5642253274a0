/* SPDX-License-Identifier: MIT */
/*
 * trace.c: branch trace store (Vol. 3B 17.4.5, 17.4.9.3, 17.4.9.4, 17.4.9.5): starts and stops it
 * and hands the records over where they are.
 *
 * With BTINT the interrupt comes some records before the buffer is full, and the sink says which
 * buffer to use next. Without it the buffer is circular: if its last record has been written since
 * the last time, the oldest record is at the index. To detect that, the driver clears the last
 * record; no branch goes from 0 to 0.
 */
#include "internal.h"

static bool has_wrapped(const struct spmu_driver *driver)
{
	const unsigned char *last = drv_last_bts(driver);

	for (unsigned i = 0; i < driver->layout->bts_bytes; i++) {
		if (last[i])
			return true;
	}
	return false;
}

/* Hands over the records from one address to another. Returns the sink's answer. */
static uint64_t hand_over(struct spmu_driver *driver, uint64_t from, uint64_t to)
{
	size_t count = (to - from) / driver->layout->bts_bytes;

	if (!count || !driver->bts_sink)
		return driver->bts_base;
	driver->bts_records += count;
	return driver->bts_sink(driver->bts_sink_opaque, drv_at_linear(driver, from), count, from);
}

static void hand_over_circular(struct spmu_driver *driver, uint64_t index)
{
	if (index < driver->bts_maximum && has_wrapped(driver))
		hand_over(driver, index, driver->bts_maximum);
	hand_over(driver, driver->bts_base, index);
	spmu_drv_mark_bts(driver);
}

/* Continues with the buffer at `next`, of the same size. */
static void move_buffer(struct spmu_driver *driver, uint64_t next)
{
	uint64_t bytes = driver->bts_maximum - driver->bts_base;
	uint64_t threshold = driver->bts_threshold - driver->bts_base;

	if (next == 0 || next % 4 || next + bytes < next ||
	    (driver->layout->field_bytes == 4 && next + bytes > UINT32_MAX))
		return;
	driver->bts_base = next;
	driver->bts_maximum = next + bytes;
	driver->bts_threshold = next + threshold;
}

void spmu_drv_drain_bts(struct spmu_driver *driver)
{
	uint64_t index;

	if (!driver->bts_base || driver->bts_draining)
		return;
	driver->bts_draining = true;
	index = spmu_drv_bts_index(driver);
	if (driver->bts_circular) {
		hand_over_circular(driver, index);
	} else {
		driver->bts_full += index == driver->bts_maximum;
		move_buffer(driver, hand_over(driver, driver->bts_base, index));
	}
	spmu_drv_empty_bts(driver);
	driver->bts_draining = false;
}

enum spmu_status spmu_driver_start_bts(struct spmu_driver *driver, bool user, bool kernel)
{
	uint64_t bits = DRV_DEBUG_TR | DRV_DEBUG_BTS;

	if (!driver->facilities.bts || !driver->bts_base)
		return SPMU_E_UNAVAILABLE;
	if ((!user && !kernel) || !driver->bts_sink)
		return SPMU_E_ARGUMENT;
	if (!(user && kernel) && !driver->facilities.ds_cpl)
		return SPMU_E_UNAVAILABLE;
	bits |= driver->bts_circular ? 0 : DRV_DEBUG_BTINT;
	bits |= user ? 0 : DRV_DEBUG_BTS_OFF_USR;
	bits |= kernel ? 0 : DRV_DEBUG_BTS_OFF_OS;
	spmu_drv_map_interrupt(driver);
	if (spmu_drv_set_debug(driver, (driver->debugctl & ~DRV_DEBUG_TRACE) | bits))
		return SPMU_OK;
	driver->debugctl &= ~DRV_DEBUG_TRACE;
	return SPMU_E_UNAVAILABLE;
}

enum spmu_status spmu_driver_stop_bts(struct spmu_driver *driver)
{
	uint64_t rest = driver->debugctl & ~DRV_DEBUG_TRACE;

	return spmu_drv_set_debug(driver, rest) ? SPMU_OK : SPMU_E_UNAVAILABLE;
}

void spmu_driver_drain(struct spmu_driver *driver)
{
	if (!driver->area)
		return;
	if (!driver->in_service)
		spmu_drv_pause_debug(driver);
	spmu_drv_drain_bts(driver);
	spmu_drv_drain_pebs(driver);
	if (!driver->in_service)
		spmu_drv_resume_debug(driver);
}
