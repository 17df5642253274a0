/* SPDX-License-Identifier: MIT */
/*
 * interrupt.c: the DS interrupt service routine (Vol. 3B 17.4.9.5, 18.4.4.3).
 *
 * BTS, PEBS and overflows share one vector. So each entry tests every cause: the BTS index at its
 * threshold, the PEBS index at its threshold or the buffer-overflow bit, and each counter. The
 * routine does this in order:
 *
 * 	1. stop recording branches, the counters and PEBS
 * 	2. serve each cause
 * 	3. clear exactly the indications that it saw (IA32_PERF_GLOBAL_STATUS_RESET, with bit 62
 * 	   and version 4's freeze bits)
 * 	4. enable from its own copies, because a freeze may have cleared IA32_PERF_GLOBAL_CTRL and
 * 	   the LBR bit of IA32_DEBUGCTL
 * 	5. unmask the LVT entry
 *
 * On entry IA32_PEBS_ENABLE keeps the bit of a counter that is armed at this moment, because
 * clearing it could forget the record that is due. The counters are off, so no event makes that
 * record now.
 *
 * Totals are updated and the status is cleared before anything goes to the sink. The sink may
 * block, and it may read and change any counter.
 *
 * Software also clears the indications when it disables counting (18.2.2, 18.4.2). So an overflow
 * that has not interrupted when the counters stop is served then.
 */
#include <string.h>

#include "internal.h"

/* Updates the total of a counter that overflowed to its present value. */
static bool account_overflow(struct spmu_driver *driver, unsigned slot)
{
	uint64_t value;

	if (!spmu_drv_read_counter(driver, slot, &value))
		return false;
	if (drv_has_global(driver))
		driver->counter[slot].total +=
			drv_counter_mask(driver, slot) + 1 + value - driver->counter[slot].start;
	else
		driver->counter[slot].total +=
			(value - driver->counter[slot].start) & drv_counter_mask(driver, slot);
	driver->counter[slot].start = value;
	return true;
}

/*
 * Begins the next period. Occurrences since the overflow belong to it, so that samples are exactly
 * one period apart. If the interrupt was delayed for more than a period, the next period begins
 * now.
 */
static void reload(struct spmu_driver *driver, unsigned slot)
{
	uint64_t period = spmu_drv_interval(driver, slot);
	uint64_t value = driver->counter[slot].start;
	uint64_t next = value < period ? value - period : 0 - period;

	next &= drv_counter_mask(driver, slot);
	if (spmu_drv_write_counter(driver, slot, next))
		driver->counter[slot].start = next;
	driver->counter[slot].reload = period;
}

/* Makes a sample of the interrupted context for each slot in the set. */
static void sample_overflows(struct spmu_driver *driver, uint32_t slots)
{
	struct spmu_pebs_record record;
	struct spmu_sample sample = {.record = &record};

	if (!slots)
		return;
	memset(&record, 0, offsetof(struct spmu_pebs_record, xmm));
	driver->port.interrupted(driver->port.opaque, &record.regs, &record.tsc);
	sample.ip = record.eventing_ip = record.regs.rip;
	sample.tsc = record.tsc;
	if (driver->lbr) {
		spmu_drv_take_stack(driver);
		sample.branches = driver->branch;
		sample.branch_count = driver->branches;
	}
	for (unsigned slot = 0; slot < driver->slots; slot++) {
		unsigned starter = driver->counter[slot].starter;
		unsigned timed = starter ? starter - 1 : slot;

		if (!(slots & UINT32_C(1) << slot))
			continue;
		sample.tag = driver->counter[slot].request.tag;
		sample.period = driver->counter[timed].reload;
		if (driver->sink)
			driver->sink(driver->sink_opaque, &sample);
		reload(driver, timed);
	}
}

static void serve_buffers(struct spmu_driver *driver, uint64_t status)
{
	if (status & DRV_STATUS_OVFBUFFER)
		driver->buffer_full++;
	if (driver->bts_base && !driver->bts_circular &&
	    spmu_drv_bts_index(driver) >= driver->bts_threshold)
		spmu_drv_drain_bts(driver);
	if (driver->pebs_base && ((status & DRV_STATUS_OVFBUFFER) ||
				  spmu_drv_pebs_index(driver) >= driver->pebs_threshold))
		spmu_drv_drain_pebs(driver);
}

/*
 * Updates the totals of the counters that have overflowed. Clears their status and the indications
 * that are no counter's. The unit clears the bits of PEBS counters when it makes the record; those
 * among `pebs` will have none. Returns the slots that get a sample.
 */
static uint32_t take_overflows(struct spmu_driver *driver, uint64_t status, uint64_t pebs)
{
	uint64_t seen = pebs | spmu_drv_other_status(driver);
	uint32_t samples = 0;

	for (unsigned slot = 0; slot < driver->slots; slot++) {
		uint64_t bit = drv_counter_bit(driver, slot);

		if (!driver->counter[slot].used || drv_is_pebs(driver, slot))
			continue;
		/* The starter of a cascade stays overflowed until the other counter's sample. */
		if (!driver->counter[slot].starts)
			seen |= bit;
		if (!(status & bit) || !account_overflow(driver, slot) ||
		    driver->counter[slot].starts)
			continue;
		if (driver->counter[slot].starter)
			seen |= drv_counter_bit(driver, driver->counter[slot].starter - 1u);
		if (driver->counter[slot].request.period || driver->counter[slot].starter)
			samples |= UINT32_C(1) << slot;
		else if (!drv_has_global(driver))
			reload(driver, slot);
	}
	spmu_drv_clear_status(driver, status & seen);
	return samples;
}

static void serve(struct spmu_driver *driver, uint64_t status)
{
	uint32_t samples = take_overflows(driver, status, 0);

	serve_buffers(driver, status);
	sample_overflows(driver, samples);
}

bool spmu_drv_serve_stopped(struct spmu_driver *driver, uint64_t armed, bool sampling)
{
	uint64_t status;
	uint32_t samples;

	if (!drv_has_global(driver) || driver->in_service)
		return true;
	if (!drv_read(driver, DRV_IA32_PERF_GLOBAL_STATUS, &status))
		return false;
	driver->stack_taken = driver->stack_given = false;
	samples = take_overflows(driver, status, driver->pebs_bits & ~armed);
	if (sampling)
		sample_overflows(driver, samples);
	return true;
}

/* The counter that a cascade started overflows at each count. */
static bool overflowed(const struct spmu_driver *driver, unsigned slot, uint64_t value)
{
	if (driver->counter[slot].starter)
		return value != driver->counter[slot].start;
	return !(value & (drv_counter_mask(driver, slot) / 2 + 1)) ||
	       spmu_drv_escr_overflowed(driver, slot);
}

/*
 * Version 1 has no status: a counter that has overflowed has a clear sign bit. NetBurst has a flag
 * for each counter, which some parts do not set.
 */
static bool read_status(const struct spmu_driver *driver, uint64_t *status)
{
	if (drv_has_global(driver))
		return drv_read(driver, DRV_IA32_PERF_GLOBAL_STATUS, status);
	*status = 0;
	for (unsigned slot = 0; slot < driver->slots; slot++) {
		uint64_t value;

		if (!driver->counter[slot].used || !spmu_drv_read_counter(driver, slot, &value))
			continue;
		if (overflowed(driver, slot, value))
			*status |= drv_counter_bit(driver, slot);
	}
	return true;
}

static void pause_pebs(struct spmu_driver *driver)
{
	driver->armed = spmu_drv_armed(driver);
	if (driver->pebs_enabled)
		spmu_drv_write_pebs(driver, driver->armed & driver->pebs_enabled);
}

void spmu_driver_interrupt(struct spmu_driver *driver)
{
	uint64_t status;

	driver->interrupts++;
	driver->in_service = true;
	driver->stack_taken = driver->stack_given = false;
	spmu_drv_pause_debug(driver);
	spmu_drv_pause(driver);
	pause_pebs(driver);
	if (read_status(driver, &status))
		serve(driver, status);
	driver->in_service = false;
	spmu_drv_enable(driver);
	spmu_drv_resume_debug(driver);
	driver->port.write_lvt(driver->port.opaque, driver->lvt);
}
