/* SPDX-License-Identifier: MIT */
/*
 * interrupt.c: the DS interrupt service routine (Vol. 3B 17.4.9.5, 18.4.4.3).
 *
 * BTS, PEBS and overflows share one vector, so each entry tests every cause.  The
 * routine disables the counters, serves, clears exactly those indications that it
 * saw (IA32_PERF_GLOBAL_STATUS_RESET, with bit 62 and version 4's freeze bits),
 * enables from its own copy (a freeze may have cleared IA32_PERF_GLOBAL_CTRL) and
 * unmasks the LVT entry last.
 *
 * The manual also has PEBS disabled on entry.  With IA32_PERF_GLOBAL_CTRL at 0 no
 * event counts and so none is recorded; IA32_PEBS_ENABLE stays as it is, because
 * clearing it could forget a counter that is armed at this moment.
 *
 * Totals are brought up and the status is cleared before anything goes to the
 * sink: the sink may block, and may read and change any counter.
 */
#include <string.h>

#include "internal.h"

/* Overflow indications of PEBS counters: the unit clears them when it takes the record. */
static uint64_t pebs_bits(const struct spmu_driver *driver)
{
	uint64_t bits = 0;

	for (unsigned slot = 0; slot < SPMU_DRIVER_COUNTERS; slot++) {
		if (drv_is_pebs(driver, slot))
			bits |= drv_counter_bit(driver, slot);
	}
	return bits;
}

/* Bring the total of a counter that overflowed up to its present value. */
static bool account_overflow(struct spmu_driver *driver, unsigned slot)
{
	uint64_t value;

	if (!spmu_drv_read_counter(driver, slot, &value))
		return false;
	driver->counter[slot].total +=
		drv_counter_mask(driver, slot) + 1 + value - driver->counter[slot].start;
	driver->counter[slot].start = value;
	return true;
}

/*
 * Begin the next period.  Occurrences since the overflow belong to it, so that samples
 * keep a distance of exactly one period; when the interrupt was held
 * back for more than that, it begins now.
 */
static void reload(struct spmu_driver *driver, unsigned slot)
{
	uint64_t period = driver->counter[slot].request.period;
	uint64_t value = driver->counter[slot].start;
	uint64_t next = value < period ? value - period : 0 - period;

	next &= drv_counter_mask(driver, slot);
	if (spmu_drv_write_counter(driver, slot, next))
		driver->counter[slot].start = next;
	driver->counter[slot].reload = period;
}

/* A sample of the interrupted context for each slot in the set. */
static void sample_overflows(struct spmu_driver *driver, uint32_t slots)
{
	struct spmu_pebs_record record;

	if (!slots)
		return;
	memset(&record, 0, offsetof(struct spmu_pebs_record, xmm));
	driver->port.interrupted(driver->port.opaque, &record.regs, &record.tsc);
	record.eventing_ip = record.regs.rip;
	for (unsigned slot = 0; slot < SPMU_DRIVER_COUNTERS; slot++) {
		struct spmu_sample sample = {
			.tag = driver->counter[slot].request.tag,
			.period = driver->counter[slot].reload,
			.record = &record,
		};

		if (!(slots & UINT32_C(1) << slot))
			continue;
		if (driver->sink)
			driver->sink(driver->sink_opaque, &sample);
		reload(driver, slot);
	}
}

static void serve_buffer(struct spmu_driver *driver, uint64_t status)
{
	if (status & DRV_STATUS_OVFBUFFER)
		driver->buffer_full++;
	if (!driver->area)
		return;
	if ((status & DRV_STATUS_OVFBUFFER) ||
	    spmu_drv_pebs_index(driver) >= driver->pebs_threshold)
		spmu_driver_drain(driver);
}

static void serve(struct spmu_driver *driver, uint64_t status)
{
	uint32_t samples = 0;

	for (unsigned slot = 0; slot < SPMU_DRIVER_COUNTERS; slot++) {
		if (!driver->counter[slot].used || drv_is_pebs(driver, slot) ||
		    !(status & drv_counter_bit(driver, slot)))
			continue;
		if (account_overflow(driver, slot) && driver->counter[slot].request.period)
			samples |= UINT32_C(1) << slot;
	}
	drv_write(driver, DRV_IA32_PERF_GLOBAL_STATUS_RESET, status & ~pebs_bits(driver));
	serve_buffer(driver, status);
	sample_overflows(driver, samples);
}

void spmu_driver_interrupt(struct spmu_driver *driver)
{
	uint64_t status;

	driver->interrupts++;
	driver->in_service = true;
	spmu_drv_pause(driver);
	if (drv_read(driver, DRV_IA32_PERF_GLOBAL_STATUS, &status))
		serve(driver, status);
	driver->in_service = false;
	spmu_drv_enable(driver);
	driver->port.write_lvt(driver->port.opaque, driver->lvt);
}
