/* SPDX-License-Identifier: MIT */
/*
 * program.c: assigns counters to requests and programs, starts and stops them
 * (Vol. 3B 18.2.1.1, 18.2.2, 18.4.4.1).
 *
 * A counter starts at -period and so overflows after `period` occurrences.  A
 * PEBS counter is armed by its overflow and has no INT bit: its interrupt is the
 * buffer's threshold.  A counter that only counts has INT set too, so that
 * the service routine sees each wrap.
 *
 * After RESET the general counters stand enabled in IA32_PERF_GLOBAL_CTRL: it is cleared
 * before the first event select gets its EN bit.
 *
 * Assignment does not move what is already assigned.  It keeps counters that can
 * do PEBS for requests that need it.
 */
#include "internal.h"

bool spmu_drv_read_counter(const struct spmu_driver *driver, unsigned slot, uint64_t *value)
{
	unsigned index = driver->counter[slot].index;

	if (!drv_read(driver,
		      driver->counter[slot].fixed ? DRV_IA32_FIXED_CTR0 + index
						  : DRV_IA32_PMC0 + index,
		      value))
		return false;
	*value &= drv_counter_mask(driver, slot);
	return true;
}

bool spmu_drv_write_counter(const struct spmu_driver *driver, unsigned slot, uint64_t value)
{
	unsigned index = driver->counter[slot].index;

	value &= drv_counter_mask(driver, slot);
	if (driver->counter[slot].fixed)
		return drv_write(driver, DRV_IA32_FIXED_CTR0 + index, value);
	if (driver->facilities.full_width_writes)
		return drv_write(driver, DRV_IA32_A_PMC0 + index, value);
	/* The register takes 32 bits and extends bit 31. */
	return drv_write(driver, DRV_IA32_PMC0 + index, (uint32_t)value);
}

/* The longest period whose start value can be written to the counter. */
static uint64_t longest_period(const struct spmu_driver *driver, unsigned slot)
{
	if (driver->counter[slot].fixed || driver->facilities.full_width_writes)
		return drv_counter_mask(driver, slot);
	return DRV_BIT(31);
}

bool spmu_drv_pause(const struct spmu_driver *driver)
{
	return drv_write(driver, DRV_IA32_PERF_GLOBAL_CTRL, 0);
}

bool spmu_drv_enable(const struct spmu_driver *driver)
{
	if (driver->facilities.pebs &&
	    !drv_write(driver, DRV_IA32_PEBS_ENABLE, driver->pebs_enabled))
		return false;
	return drv_write(driver, DRV_IA32_PERF_GLOBAL_CTRL, driver->enabled);
}

/* Counters of a kind that are taken. */
static uint32_t taken(const struct spmu_driver *driver, bool fixed)
{
	uint32_t set = 0;

	for (unsigned slot = 0; slot < SPMU_DRIVER_COUNTERS; slot++) {
		if (driver->counter[slot].used && driver->counter[slot].fixed == fixed)
			set |= UINT32_C(1) << driver->counter[slot].index;
	}
	return set;
}

/* A fixed counter knows rings and threads, but no threshold, edge or inversion. */
static bool fixed_can(const struct spmu_driver *driver, const struct spmu_request *request)
{
	const uint64_t knows = DRV_SELECT_EVENT | DRV_SELECT_USR | DRV_SELECT_OS | DRV_SELECT_ANY;

	return !request->precise && request->fixed >= 0 &&
	       request->fixed < driver->facilities.fixed_counters && !(request->select & ~knows) &&
	       !(taken(driver, true) & UINT32_C(1) << request->fixed);
}

/* Choose a counter for the slot; false when none is free. */
static bool assign(struct spmu_driver *driver, unsigned slot, const struct spmu_request *request)
{
	uint32_t pebs = spmu_drv_pebs_counters(&driver->facilities);
	uint32_t there = (uint32_t)(DRV_BIT(driver->facilities.counters) - 1) & DRV_COUNTERS;
	uint32_t free = request->counters & there & ~taken(driver, false);

	driver->counter[slot].fixed = fixed_can(driver, request);
	if (driver->counter[slot].fixed) {
		driver->counter[slot].index = (uint8_t)request->fixed;
		return true;
	}
	if (request->precise)
		free &= pebs;
	else if (free & ~pebs)
		free &= ~pebs;
	if (!free)
		return false;
	driver->counter[slot].index = (uint8_t)__builtin_ctz(free);
	return true;
}

static bool program_fixed(const struct spmu_driver *driver, unsigned slot, bool on)
{
	uint64_t select = driver->counter[slot].request.select;
	unsigned shift = 4u * driver->counter[slot].index;
	uint64_t control, bits = 0;

	if (on) {
		bits = DRV_FIXED_PMI;
		bits |= select & DRV_SELECT_OS ? DRV_FIXED_OS : 0;
		bits |= select & DRV_SELECT_USR ? DRV_FIXED_USR : 0;
		bits |= select & DRV_SELECT_ANY ? DRV_FIXED_ANY : 0;
	}
	if (!drv_read(driver, DRV_IA32_FIXED_CTR_CTRL, &control))
		return false;
	control &= ~(UINT64_C(0xf) << shift);
	return drv_write(driver, DRV_IA32_FIXED_CTR_CTRL, control | bits << shift);
}

static bool program_general(const struct spmu_driver *driver, unsigned slot, bool on)
{
	const struct spmu_request *request = &driver->counter[slot].request;
	uint64_t select = 0;

	if (on)
		select = request->select | DRV_SELECT_EN | (request->precise ? 0 : DRV_SELECT_INT);
	return drv_write(driver, DRV_IA32_PERFEVTSEL0 + driver->counter[slot].index, select);
}

static bool program_select(const struct spmu_driver *driver, unsigned slot, bool on)
{
	return driver->counter[slot].fixed ? program_fixed(driver, slot, on)
					   : program_general(driver, slot, on);
}

/* Registers of a slot in order: event off, value, old overflow cleared, event on. */
static bool program(struct spmu_driver *driver, unsigned slot)
{
	if (!driver->running && !spmu_drv_pause(driver))
		return false;
	if (!program_select(driver, slot, false) ||
	    !spmu_drv_write_counter(driver, slot, driver->counter[slot].start) ||
	    !drv_write(driver, DRV_IA32_PERF_GLOBAL_STATUS_RESET, drv_counter_bit(driver, slot)))
		return false;
	if (drv_is_pebs(driver, slot) && !spmu_drv_store_area(driver, spmu_drv_pebs_index(driver)))
		return false;
	return program_select(driver, slot, true);
}

static enum spmu_status check_request(const struct spmu_driver *driver,
				      const struct spmu_request *request)
{
	if (request->select & (DRV_SELECT_EN | DRV_SELECT_INT))
		return SPMU_E_ARGUMENT;
	if (request->precise && request->period == 0)
		return SPMU_E_ARGUMENT;
	if (driver->facilities.counters == 0 ||
	    (request->precise && (!driver->facilities.pebs || !driver->area)))
		return SPMU_E_UNAVAILABLE;
	return SPMU_OK;
}

enum spmu_status spmu_driver_add(struct spmu_driver *driver, const struct spmu_request *request,
				 unsigned *slot)
{
	enum spmu_status status = check_request(driver, request);
	unsigned s = 0;

	if (status != SPMU_OK)
		return status;
	while (s < SPMU_DRIVER_COUNTERS && driver->counter[s].used)
		s++;
	if (s == SPMU_DRIVER_COUNTERS || !assign(driver, s, request))
		return SPMU_E_COUNTER;
	if (request->period > longest_period(driver, s))
		return SPMU_E_ARGUMENT;

	driver->counter[s].used = true;
	driver->counter[s].request = *request;
	driver->counter[s].reload = request->period;
	driver->counter[s].total = 0;
	driver->counter[s].start = drv_start_value(driver, s, request->period);
	/* Its last write is the one that switches the event on: there is nothing to undo. */
	if (!program(driver, s)) {
		driver->counter[s].used = false;
		return SPMU_E_UNAVAILABLE;
	}
	*slot = s;
	return SPMU_OK;
}

/* Disable everything but PEBS on the counters of `keep`, and go on where one write faults. */
static bool disable(const struct spmu_driver *driver, uint64_t keep)
{
	bool done = spmu_drv_pause(driver);

	if (driver->facilities.pebs)
		done &= drv_write(driver, DRV_IA32_PEBS_ENABLE, keep);
	return done;
}

enum spmu_status spmu_driver_start(struct spmu_driver *driver)
{
	uint64_t enabled = 0, pebs = 0;

	if (driver->facilities.counters == 0)
		return SPMU_E_UNAVAILABLE;
	for (unsigned slot = 0; slot < SPMU_DRIVER_COUNTERS; slot++) {
		if (driver->counter[slot].used)
			enabled |= drv_counter_bit(driver, slot);
		if (drv_is_pebs(driver, slot))
			pebs |= DRV_BIT(driver->counter[slot].index);
	}
	spmu_drv_map_interrupt(driver);
	driver->enabled = enabled;
	driver->pebs_enabled = pebs;
	driver->running = true;
	/* The service routine, when that is the caller, enables at its end. */
	if (driver->in_service || spmu_drv_enable(driver))
		return SPMU_OK;
	driver->running = false;
	driver->enabled = driver->pebs_enabled = 0;
	disable(driver, 0);
	return SPMU_E_UNAVAILABLE;
}

enum spmu_status spmu_driver_stop(struct spmu_driver *driver)
{
	uint64_t armed = 0;

	spmu_drv_pause(driver);
	/* Armed now, a counter would lose its record if PEBS forgot; nothing counts any more. */
	for (unsigned slot = 0; slot < SPMU_DRIVER_COUNTERS; slot++) {
		if (drv_is_pebs(driver, slot) && spmu_drv_is_armed(driver, slot))
			armed |= driver->pebs_enabled & drv_counter_bit(driver, slot);
	}
	driver->running = false;
	driver->enabled = driver->pebs_enabled = 0;
	return disable(driver, armed) ? SPMU_OK : SPMU_E_UNAVAILABLE;
}

/* Records in the buffer belong to the period before: hand them out, then change the slot. */
static enum spmu_status set_pebs_period(struct spmu_driver *driver, unsigned slot, uint64_t period)
{
	/* In the service routine, also in the middle of draining, everything is stopped. */
	bool pause = driver->running && !driver->in_service;
	bool stored;

	if (pause && !spmu_drv_pause(driver))
		return SPMU_E_UNAVAILABLE;
	if (!driver->draining)
		spmu_driver_drain(driver);
	driver->counter[slot].request.period = period;
	if (!driver->draining)
		driver->counter[slot].reload = period;
	stored = spmu_drv_store_area(driver, spmu_drv_pebs_index(driver));
	if (pause && !spmu_drv_enable(driver))
		return SPMU_E_UNAVAILABLE;
	return stored ? SPMU_OK : SPMU_E_FAULT;
}

enum spmu_status spmu_driver_set_period(struct spmu_driver *driver, unsigned slot, uint64_t period)
{
	if (slot >= SPMU_DRIVER_COUNTERS || !driver->counter[slot].used ||
	    driver->counter[slot].request.period == 0 || period == 0 ||
	    period > longest_period(driver, slot))
		return SPMU_E_ARGUMENT;
	if (drv_is_pebs(driver, slot))
		return set_pebs_period(driver, slot, period);
	driver->counter[slot].request.period = period;
	return SPMU_OK;
}
