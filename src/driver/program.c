/* SPDX-License-Identifier: MIT */
/*
 * program.c: assigns counters to requests, and programs, starts and stops them (Vol. 3B 18.2.1.1,
 * 18.2.2, 18.2.4.3, 18.4.4.1).
 *
 * A counter starts at -period and so overflows after `period` occurrences. A PEBS counter is armed
 * by its overflow and has no INT bit: the threshold of the buffer interrupts. A counter that only
 * counts has INT set, so that the service routine sees each wrap.
 *
 * After RESET the general counters are enabled in IA32_PERF_GLOBAL_CTRL. The driver clears the
 * register before the first event select gets its EN bit.
 *
 * Assignment does not move requests that already have a counter. It keeps counters that can do PEBS
 * for requests that need it, and PMC0 to the last: on some families only PMC0 has PEBS, and the
 * driver does not know which events are precise.
 */
#include "internal.h"

#include "src/abi.h"

/* The counters of a kind that are taken. */
static uint32_t taken(const struct spmu_driver *driver, bool fixed)
{
	uint32_t set = 0;

	for (unsigned slot = 0; slot < driver->slots; slot++) {
		if (driver->counter[slot].used && driver->counter[slot].fixed == fixed)
			set |= UINT32_C(1) << driver->counter[slot].index;
	}
	return set;
}

/*
 * The counters that belong to other software by IA32_PERF_GLOBAL_INUSE. That register has the bits
 * of IA32_PERF_GLOBAL_CTRL and says whether a counter's select is programmed.
 */
static bool find_others(struct spmu_driver *driver)
{
	uint64_t value, counters;

	if (driver->facilities.perfmon_version < 4)
		return true;
	if (!drv_read(driver, DRV_IA32_PERF_GLOBAL_INUSE, &value))
		return false;
	counters = (DRV_BIT(driver->facilities.counters) - 1) |
		   (uint64_t)driver->facilities.fixed_set << DRV_STATUS_FIXED0;
	counters &= ~(taken(driver, false) | (uint64_t)taken(driver, true) << DRV_STATUS_FIXED0);
	driver->others = value & counters;
	return true;
}

/* A fixed counter has rings and threads, but no threshold, edge or inversion. */
static bool fixed_can(const struct spmu_driver *driver, const struct spmu_request *request)
{
	const uint64_t knows = DRV_SELECT_EVENT | DRV_SELECT_USR | DRV_SELECT_OS | DRV_SELECT_ANY;
	uint64_t bit;

	if (request->fixed < 0 || request->fixed > 15 || (request->select & ~knows))
		return false;
	if (!(driver->facilities.fixed_set >> request->fixed & 1) ||
	    (taken(driver, true) >> request->fixed & 1))
		return false;
	bit = DRV_BIT(DRV_STATUS_FIXED0 + request->fixed);
	return !(driver->others & bit) &&
	       (!request->precise || (spmu_drv_pebs_counters(driver) & bit));
}

/*
 * Chooses one of the free counters: for a precise request the first, otherwise the last one without
 * PEBS.
 */
static unsigned choose(uint32_t free, uint32_t pebs, bool precise)
{
	if (!precise && (free & ~pebs))
		free &= ~pebs;
	return (unsigned)(precise || !(free & pebs) ? __builtin_ctz(free)
						    : 31 - __builtin_clz(free));
}

/* NetBurst: ESCRs must be free to select and tag the event for the counter. */
static bool assign_selected(struct spmu_driver *driver, unsigned slot,
			    const struct spmu_request *request, uint32_t free, uint32_t pebs)
{
	while (free) {
		unsigned index = choose(free, pebs, request->precise);

		if (spmu_drv_escr_place(driver, slot, request, index)) {
			driver->counter[slot].index = (uint8_t)index;
			return true;
		}
		free &= ~(UINT32_C(1) << index);
	}
	return false;
}

/*
 * Returns true if the request can have this counter together with those in use. On some models
 * the other general counters must not be in use while one has precise distribution (18.9.4.4).
 */
static bool is_compatible(const struct spmu_driver *driver, const struct spmu_request *request,
			  unsigned index)
{
	bool alone = drv_is_pdir(driver, request, index), compatible = true;

	for (unsigned slot = 0; driver->facilities.pdir_alone && slot < driver->slots; slot++) {
		if (driver->counter[slot].used && !driver->counter[slot].fixed)
			compatible &= !alone && !drv_is_pdir(driver, &driver->counter[slot].request,
							     driver->counter[slot].index);
	}
	return compatible;
}

/* Chooses a counter for the slot. Returns false if none is free. */
static bool assign(struct spmu_driver *driver, unsigned slot, const struct spmu_request *request)
{
	uint32_t pebs = (uint32_t)spmu_drv_pebs_counters(driver);
	uint32_t free = request->counters & driver->facilities.general_set & ~taken(driver, false) &
			~(uint32_t)driver->others;

	driver->counter[slot].fixed = fixed_can(driver, request);
	if (driver->counter[slot].fixed) {
		driver->counter[slot].index = (uint8_t)request->fixed;
		return true;
	}
	if (request->precise)
		free &= pebs;
	if (driver->facilities.programming == SPMU_PROGRAM_ESCR)
		return assign_selected(driver, slot, request, free, pebs);
	if (!free)
		return false;
	driver->counter[slot].index = (uint8_t)choose(free, pebs, request->precise);
	return is_compatible(driver, request, driver->counter[slot].index);
}

/* Writes the period into the area. One more PEBS counter may need another threshold, too. */
static bool store_reset(struct spmu_driver *driver)
{
	bool stored;

	if (!spmu_drv_pause_debug(driver))
		return false;
	spmu_drv_place_threshold(driver);
	stored = spmu_drv_store_area(driver, spmu_drv_pebs_index(driver));
	return (driver->in_service || spmu_drv_resume_debug(driver)) && stored;
}

/*
 * Writes the registers of a slot in this order: event off, value, old overflow cleared, event on.
 */
static bool program(struct spmu_driver *driver, unsigned slot)
{
	uint64_t stale = drv_counter_bit(driver, slot);

	/*
	 * While the counters run, the service routine clears the indications that are no counter's.
	 */
	if (!driver->running && !driver->in_service)
		stale |= spmu_drv_other_status(driver);
	if (!driver->running && drv_has_global(driver) && !spmu_drv_pause(driver))
		return false;
	if (!spmu_drv_program_select(driver, slot, false) ||
	    !spmu_drv_write_counter(driver, slot, driver->counter[slot].start) ||
	    !spmu_drv_clear_status(driver, stale))
		return false;
	if (drv_is_pebs(driver, slot) && !store_reset(driver))
		return false;
	return spmu_drv_program_select(driver, slot, true);
}

/* Returns true if the family's counters can be programmed like this. */
static bool can_select(const struct spmu_driver *driver, const struct spmu_request *request)
{
	switch (driver->facilities.programming) {
	case SPMU_PROGRAM_CESR:
		return spmu_drv_cesr_can(request);
	case SPMU_PROGRAM_ESCR:
		return spmu_drv_escr_can(driver, request);
	case SPMU_PROGRAM_PERFEVTSEL:
		break;
	}
	/* P6 has one thread. */
	return !request->tagger &&
	       !(driver->facilities.enable_first && (request->select & DRV_SELECT_ANY));
}

static enum spmu_status check_request(const struct spmu_driver *driver,
				      const struct spmu_request *request)
{
	if (request->select & (DRV_SELECT_EN | DRV_SELECT_INT))
		return SPMU_E_ARGUMENT;
	if (request->precise && request->period == 0)
		return SPMU_E_ARGUMENT;
	if (driver->facilities.counters == 0 ||
	    (request->precise && (!driver->facilities.pebs || !driver->pebs_base)))
		return SPMU_E_UNAVAILABLE;
	if (request->period && driver->facilities.no_interrupt)
		return SPMU_E_UNAVAILABLE;
	return can_select(driver, request) && spmu_drv_offcore_can(driver, request)
		       ? SPMU_OK
		       : SPMU_E_ARGUMENT;
}

enum spmu_status spmu_drv_add(struct spmu_driver *driver, const struct spmu_request *request,
			      unsigned starter, unsigned *slot)
{
	enum spmu_status status = check_request(driver, request);
	unsigned s = 0;

	if (status != SPMU_OK)
		return status;
	while (s < SPMU_DRIVER_COUNTERS && driver->counter[s].used)
		s++;
	if (!find_others(driver))
		return SPMU_E_UNAVAILABLE;
	if (s == SPMU_DRIVER_COUNTERS)
		return SPMU_E_COUNTER;
	driver->counter[s].off = false;
	driver->counter[s].starter = (uint8_t)starter;
	driver->counter[s].starts = 0;
	if (!assign(driver, s, request))
		return SPMU_E_COUNTER;
	if (request->period > spmu_drv_longest_period(driver, s))
		return SPMU_E_ARGUMENT;
	driver->counter[s].request = *request;
	status = spmu_drv_offcore_write(driver, &driver->counter[s].request);
	if (status != SPMU_OK)
		return status;

	/* The records that wait in the buffer were made without this counter. */
	if (request->precise && !driver->running && !driver->in_service &&
	    spmu_drv_pebs_index(driver) > driver->pebs_base)
		spmu_drv_drain_pebs(driver);
	driver->counter[s].used = true;
	driver->slots = s < driver->slots ? driver->slots : s + 1;
	driver->pebs_bits |= request->precise ? drv_counter_bit(driver, s) : 0;
	driver->counter[s].reload = spmu_drv_interval(driver, s);
	driver->counter[s].total = 0;
	driver->counter[s].start = drv_start_value(driver, s, driver->counter[s].reload);
	/* The last write switches the event on, so there is nothing to undo. */
	if (!program(driver, s)) {
		driver->counter[s].used = false;
		driver->pebs_bits &= ~drv_counter_bit(driver, s);
		return SPMU_E_UNAVAILABLE;
	}
	*slot = s;
	return SPMU_OK;
}

enum spmu_status spmu_driver_add(struct spmu_driver *driver, const struct spmu_request *given,
				 unsigned *slot)
{
	struct spmu_request request;

	if (!given || !slot || !abi_take(&request, sizeof(request), given))
		return SPMU_E_ARGUMENT;
	return spmu_drv_add(driver, &request, 0, slot);
}

bool spmu_drv_remove(struct spmu_driver *driver, unsigned slot)
{
	bool done = spmu_drv_program_select(driver, slot, false);

	done &= spmu_drv_clear_status(driver, drv_counter_bit(driver, slot));
	driver->counter[slot].used = false;
	return done;
}

/* Returns the other slot of a cascade, or the slot itself. */
static unsigned partner(const struct spmu_driver *driver, unsigned slot)
{
	unsigned other = driver->counter[slot].starter;

	if (!other)
		other = driver->counter[slot].starts;
	return other ? other - 1 : slot;
}

static bool can_change(const struct spmu_driver *driver, unsigned slot)
{
	return slot < SPMU_DRIVER_COUNTERS && driver->counter[slot].used && !driver->running &&
	       !driver->in_service;
}

enum spmu_status spmu_driver_remove(struct spmu_driver *driver, unsigned slot)
{
	unsigned other;
	bool done;

	if (!can_change(driver, slot))
		return SPMU_E_ARGUMENT;
	other = partner(driver, slot);
	if (drv_is_pebs(driver, slot) && spmu_drv_pebs_index(driver) > driver->pebs_base)
		spmu_drv_drain_pebs(driver);
	driver->pebs_bits &= ~drv_counter_bit(driver, slot);
	done = spmu_drv_write_pebs(driver, spmu_drv_armed(driver) & driver->pebs_bits);
	done &= spmu_drv_remove(driver, slot);
	if (other != slot)
		done &= spmu_drv_remove(driver, other);
	while (driver->slots && !driver->counter[driver->slots - 1].used)
		driver->slots--;
	return done ? SPMU_OK : SPMU_E_UNAVAILABLE;
}

enum spmu_status spmu_driver_set_enabled(struct spmu_driver *driver, unsigned slot, bool enabled)
{
	if (!can_change(driver, slot))
		return SPMU_E_ARGUMENT;
	driver->counter[slot].off = driver->counter[partner(driver, slot)].off = !enabled;
	return SPMU_OK;
}

/* Disables everything except PEBS on the counters of `keep`. It continues if one write faults. */
static bool disable(const struct spmu_driver *driver, uint64_t keep)
{
	bool done = spmu_drv_pause(driver);

	if (driver->facilities.pebs)
		done &= spmu_drv_write_pebs(driver, keep);
	return done;
}

/*
 * Computes what is to be enabled. A PEBS counter that is switched off may wait for its record,
 * which PEBS does not forget.
 */
static void choose_enables(struct spmu_driver *driver)
{
	driver->enabled = driver->pebs_enabled = 0;
	for (unsigned slot = 0; slot < driver->slots; slot++) {
		if (driver->counter[slot].used && !driver->counter[slot].off)
			driver->enabled |= drv_counter_bit(driver, slot);
		if (drv_is_pebs(driver, slot))
			driver->pebs_enabled |= drv_counter_bit(driver, slot);
	}
}

static uint64_t trace_bits(const struct spmu_driver *driver)
{
	return driver->debugctl & DRV_DEBUG_TRACE;
}

/* What other software has left in the status since the driver stopped belongs to no interrupt. */
static bool clear_stale(const struct spmu_driver *driver)
{
	uint64_t stale = spmu_drv_other_status(driver);

	return !stale ||
	       spmu_drv_clear_status(driver, stale | (driver->enabled & ~driver->pebs_enabled));
}

enum spmu_status spmu_driver_start(struct spmu_driver *driver)
{
	if (driver->facilities.counters == 0)
		return SPMU_E_UNAVAILABLE;
	spmu_drv_map_interrupt(driver);
	choose_enables(driver);
	driver->running = true;
	if (spmu_drv_set_debug(driver, trace_bits(driver) | spmu_drv_lbr_bits(driver)) &&
	    /* If the service routine is the caller, it enables at its end. */
	    (driver->in_service || (clear_stale(driver) && spmu_drv_enable(driver))))
		return SPMU_OK;
	driver->running = false;
	driver->enabled = driver->pebs_enabled = 0;
	disable(driver, 0);
	spmu_drv_set_debug(driver, trace_bits(driver));
	return SPMU_E_UNAVAILABLE;
}

static bool stop(struct spmu_driver *driver, bool sampling)
{
	bool done = spmu_drv_pause(driver);
	uint64_t armed;

	/* An armed counter would lose its record if PEBS forgot it. Nothing counts any more. */
	armed = spmu_drv_armed(driver) & driver->pebs_enabled;
	driver->running = false;
	driver->enabled = driver->pebs_enabled = 0;
	done &= disable(driver, armed);
	done &= spmu_drv_set_debug(driver, trace_bits(driver));
	return spmu_drv_serve_stopped(driver, armed, sampling) && done;
}

enum spmu_status spmu_driver_stop(struct spmu_driver *driver)
{
	return stop(driver, true) ? SPMU_OK : SPMU_E_UNAVAILABLE;
}

enum spmu_status spmu_driver_release(struct spmu_driver *driver)
{
	bool done = stop(driver, false);

	done &= spmu_drv_set_debug(driver, 0);
	if (driver->facilities.pebs)
		done &= drv_write(driver, DRV_IA32_PEBS_ENABLE, 0);
	for (unsigned slot = 0; slot < driver->slots; slot++) {
		if (driver->counter[slot].used)
			done &= spmu_drv_remove(driver, slot);
	}
	driver->slots = 0;
	driver->pebs_bits = 0;
	return done ? SPMU_OK : SPMU_E_UNAVAILABLE;
}

/* Records in the buffer belong to the previous period: hand them out, then change the slot. */
static enum spmu_status set_pebs_period(struct spmu_driver *driver, unsigned slot, uint64_t period)
{
	/* In the service routine everything is stopped, even in the middle of draining. */
	bool pause = driver->running && !driver->in_service;
	bool stored;

	if (pause && (!spmu_drv_pause(driver) || !spmu_drv_pause_debug(driver)))
		return SPMU_E_UNAVAILABLE;
	if (!driver->draining)
		spmu_drv_drain_pebs(driver);
	driver->counter[slot].request.period = period;
	if (!driver->draining)
		driver->counter[slot].reload = period;
	stored = spmu_drv_store_area(driver, spmu_drv_pebs_index(driver));
	if (pause && (!spmu_drv_enable(driver) || !spmu_drv_resume_debug(driver)))
		return SPMU_E_UNAVAILABLE;
	return stored ? SPMU_OK : SPMU_E_FAULT;
}

enum spmu_status spmu_driver_set_period(struct spmu_driver *driver, unsigned slot, uint64_t period)
{
	if (slot >= SPMU_DRIVER_COUNTERS || !driver->counter[slot].used ||
	    driver->counter[slot].request.period == 0 || period == 0 ||
	    period > spmu_drv_longest_period(driver, slot))
		return SPMU_E_ARGUMENT;
	if (drv_is_pebs(driver, slot))
		return set_pebs_period(driver, slot, period);
	driver->counter[slot].request.period = period;
	return SPMU_OK;
}
