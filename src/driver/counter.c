/* SPDX-License-Identifier: MIT */
/*
 * counter.c: the registers of counters (Vol. 3B 18.2.1.1, 18.2.2, 18.2.4, 18.2.5): their values,
 * their event selects, and how all counters are stopped and started.
 *
 * From version 2 on, one write of IA32_PERF_GLOBAL_CTRL stops and starts all counters. The bits of
 * counters that other software uses are kept (version 4 reports them). Version 1 has an EN bit in
 * each event select, and no status. There a counter starts at most half of its range below 0, so a
 * clear sign bit says that it has overflowed. Earlier units are served in the same way: P6 has one
 * EN bit, in the first event select (18.22.1). The registers of Pentium and NetBurst are in cesr.c
 * and escr.c.
 */
#include "internal.h"

static uint32_t address_of(const struct spmu_driver *driver, unsigned slot)
{
	unsigned index = driver->counter[slot].index;

	if (driver->counter[slot].fixed)
		return DRV_IA32_FIXED_CTR0 + index;
	switch (driver->facilities.programming) {
	case SPMU_PROGRAM_CESR:
		return DRV_CTR0 + index;
	case SPMU_PROGRAM_ESCR:
		return DRV_MSR_BPU_COUNTER0 + index;
	case SPMU_PROGRAM_PERFEVTSEL:
		break;
	}
	return DRV_IA32_PMC0 + index;
}

bool spmu_drv_read_counter(const struct spmu_driver *driver, unsigned slot, uint64_t *value)
{
	if (!drv_read(driver, address_of(driver, slot), value))
		return false;
	*value &= drv_counter_mask(driver, slot);
	return true;
}

bool spmu_drv_write_counter(const struct spmu_driver *driver, unsigned slot, uint64_t value)
{
	uint32_t address = address_of(driver, slot);

	value &= drv_counter_mask(driver, slot);
	/* Some parts of NetBurst need a value to be written twice. */
	if (driver->facilities.programming == SPMU_PROGRAM_ESCR &&
	    !drv_write(driver, address, value))
		return false;
	if (driver->counter[slot].fixed || driver->facilities.programming)
		return drv_write(driver, address, value);
	if (driver->facilities.full_width_writes)
		return drv_write(driver, DRV_IA32_A_PMC0 + driver->counter[slot].index, value);
	/* The register takes 32 bits and extends bit 31 upwards. */
	return drv_write(driver, address, (uint32_t)value);
}

uint64_t spmu_drv_longest_period(const struct spmu_driver *driver, unsigned slot)
{
	uint64_t mask = drv_counter_mask(driver, slot);
	uint64_t longest = mask;

	if (!driver->counter[slot].fixed && !drv_writes_all(driver))
		longest = DRV_BIT(31);
	if (!drv_has_global(driver) && longest > mask / 2 + 1)
		longest = mask / 2 + 1;
	return longest;
}

uint64_t spmu_drv_interval(const struct spmu_driver *driver, unsigned slot)
{
	uint64_t period = driver->counter[slot].request.period;

	if (period == 0 && !drv_has_global(driver))
		return spmu_drv_longest_period(driver, slot);
	return period;
}

static bool program_fixed(const struct spmu_driver *driver, unsigned slot, bool on)
{
	const struct spmu_request *request = &driver->counter[slot].request;
	unsigned shift = 4u * driver->counter[slot].index;
	uint64_t control, bits = 0;

	if (on) {
		bits |= request->precise ? 0 : DRV_FIXED_PMI;
		bits |= request->select & DRV_SELECT_OS ? DRV_FIXED_OS : 0;
		bits |= request->select & DRV_SELECT_USR ? DRV_FIXED_USR : 0;
		bits |= request->select & DRV_SELECT_ANY ? DRV_FIXED_ANY : 0;
		if (request->precise && driver->facilities.pebs_baseline)
			bits |= DRV_FIXED_ADAPTIVE;
	}
	if (!drv_read(driver, DRV_IA32_FIXED_CTR_CTRL, &control))
		return false;
	control &= ~((DRV_FIXED_ADAPTIVE | 0xf) << shift);
	return drv_write(driver, DRV_IA32_FIXED_CTR_CTRL, control | bits << shift);
}

static bool write_select(const struct spmu_driver *driver, unsigned slot, bool enabled)
{
	const struct spmu_request *request = &driver->counter[slot].request;
	uint64_t select = request->select;

	if (!request->precise)
		select |= DRV_SELECT_INT;
	else if (driver->facilities.pebs_baseline)
		select |= DRV_SELECT_ADAPTIVE;
	if (enabled)
		select |= DRV_SELECT_EN;
	return drv_write(driver, DRV_IA32_PERFEVTSEL0 + driver->counter[slot].index, select);
}

/* Returns the driver's counters that count at this moment. */
static uint64_t counting(const struct spmu_driver *driver)
{
	return driver->running && !driver->in_service ? driver->enabled : 0;
}

/*
 * P6: while EN of the first select is set, an event counts as soon as it is written. So events are
 * written when all counters are enabled. Until then a select is empty, except for that bit.
 */
static bool write_nothing(const struct spmu_driver *driver, unsigned index)
{
	bool enable = index == 0 && counting(driver);

	return drv_write(driver, DRV_IA32_PERFEVTSEL0 + index, enable ? DRV_SELECT_EN : 0);
}

bool spmu_drv_program_select(const struct spmu_driver *driver, unsigned slot, bool on)
{
	if (driver->counter[slot].fixed)
		return program_fixed(driver, slot, on);
	switch (driver->facilities.programming) {
	case SPMU_PROGRAM_CESR:
		return spmu_drv_cesr_write(driver,
					   counting(driver) & ~drv_counter_bit(driver, slot));
	case SPMU_PROGRAM_ESCR:
		return spmu_drv_escr_program(driver, slot, on);
	case SPMU_PROGRAM_PERFEVTSEL:
		break;
	}
	if (driver->facilities.enable_first)
		return write_nothing(driver, driver->counter[slot].index);
	if (!on)
		return drv_write(driver, DRV_IA32_PERFEVTSEL0 + driver->counter[slot].index, 0);
	return write_select(driver, slot, drv_has_global(driver));
}

uint64_t spmu_drv_other_status(const struct spmu_driver *driver)
{
	uint64_t bits = DRV_STATUS_OVFBUFFER | DRV_STATUS_CONDCHGD;

	if (!drv_has_global(driver))
		return 0;
	if (driver->facilities.perfmon_version >= 4)
		bits |= DRV_STATUS_LBR_FRZ | DRV_STATUS_CTR_FRZ;
	return bits;
}

bool spmu_drv_clear_status(const struct spmu_driver *driver, uint64_t bits)
{
	if (driver->facilities.programming == SPMU_PROGRAM_ESCR)
		return spmu_drv_escr_clear(driver, bits);
	return !bits || !drv_has_global(driver) ||
	       drv_write(driver, DRV_IA32_PERF_GLOBAL_STATUS_RESET, bits);
}

/* Version 1: sets the EN bits of the counters in the set and clears those of all others. */
static bool write_enables(const struct spmu_driver *driver, uint64_t set)
{
	bool done = true;

	for (unsigned slot = 0; slot < driver->slots; slot++) {
		if (driver->counter[slot].used)
			done &= write_select(driver, slot, set & drv_counter_bit(driver, slot));
	}
	return done;
}

/*
 * P6: the first select enables both counters, so it is written last. For an empty set it is written
 * first and last. A counter that is not in the set gets no event.
 */
static bool write_first_last(const struct spmu_driver *driver, uint64_t set)
{
	uint64_t first = set ? DRV_SELECT_EN : 0;
	bool done = set || drv_write(driver, DRV_IA32_PERFEVTSEL0, 0);

	for (unsigned slot = 0; slot < driver->slots; slot++) {
		uint64_t select = driver->counter[slot].request.select | DRV_SELECT_INT;
		unsigned index = driver->counter[slot].index;

		if (!driver->counter[slot].used || !set)
			continue;
		if (!(set & drv_counter_bit(driver, slot)))
			select = 0;
		if (index == 0)
			first |= select;
		else
			done &= drv_write(driver, DRV_IA32_PERFEVTSEL0 + index, select);
	}
	return (!set || drv_write(driver, DRV_IA32_PERFEVTSEL0, first)) && done;
}

static bool write_control(const struct spmu_driver *driver, uint64_t set)
{
	uint64_t present = 0;

	if (driver->facilities.programming == SPMU_PROGRAM_CESR)
		return spmu_drv_cesr_write(driver, set);
	if (driver->facilities.programming == SPMU_PROGRAM_ESCR)
		return spmu_drv_escr_enable(driver, set);
	if (driver->facilities.enable_first)
		return write_first_last(driver, set);
	if (!drv_has_global(driver))
		return write_enables(driver, set);
	if (driver->others && !drv_read(driver, DRV_IA32_PERF_GLOBAL_CTRL, &present))
		return false;
	return drv_write(driver, DRV_IA32_PERF_GLOBAL_CTRL, set | (present & driver->others));
}

bool spmu_drv_pause(const struct spmu_driver *driver)
{
	return write_control(driver, 0);
}

/*
 * Returns true if one of these counters takes precise stores: its records have address and status
 * (18.9.4.3).
 */
static bool stores_precisely(const struct spmu_driver *driver, uint64_t counters)
{
	const uint64_t precise_store = 0x02cd;

	for (unsigned slot = 0; slot < driver->slots; slot++)
		if (drv_is_pebs(driver, slot) && (counters & drv_counter_bit(driver, slot)) &&
		    (driver->counter[slot].request.select & DRV_SELECT_EVENT) == precise_store)
			return true;
	return false;
}

bool spmu_drv_write_pebs(const struct spmu_driver *driver, uint64_t counters)
{
	uint64_t bits = drv_pebs_bits(driver, counters);

	if (!driver->facilities.pebs)
		return true;
	if (driver->facilities.programming == SPMU_PROGRAM_ESCR)
		bits |= spmu_drv_escr_replay(driver);
	if (driver->facilities.precise_store && stores_precisely(driver, counters))
		bits |= DRV_PEBS_STORE;
	return drv_write(driver, DRV_IA32_PEBS_ENABLE, bits);
}

bool spmu_drv_enable(const struct spmu_driver *driver)
{
	if (!spmu_drv_write_pebs(driver, driver->pebs_enabled))
		return false;
	return write_control(driver, driver->enabled);
}
