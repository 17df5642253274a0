/* SPDX-License-Identifier: MIT */
/*
 * drain.c: hands the records of the PEBS buffer to the sink and keeps the counters' totals
 * (Vol. 3B 18.4.4, 18.13.1, and 17.4.9.5 for resetting the index).
 *
 * A counter that starts at -P overflows at its P-th occurrence, which arms PEBS;
 * the record is taken at the next one, after which the unit reloads the counter.
 * So a record accounts for P + 1 occurrences in the total, while its sample says P,
 * the period that was asked for, as is the habit of profilers.
 */
#include "internal.h"

static const unsigned char *at_linear(const struct spmu_driver *driver, uint64_t linear)
{
	return (const unsigned char *)driver->area + (linear - driver->area_linear);
}

static bool decode_at(const struct spmu_driver *driver, uint64_t linear,
		      struct spmu_pebs_record *record)
{
	return spmu_pebs_decode(drv_ds_layout(driver), at_linear(driver, linear),
				spmu_pebs_record_bytes(drv_ds_layout(driver), 0), record,
				NULL) == SPMU_OK;
}

static bool caused_by(const struct spmu_driver *driver, unsigned slot,
		      const struct spmu_pebs_record *record)
{
	return drv_is_pebs(driver, slot) &&
	       (record->applicable & DRV_BIT(driver->counter[slot].index));
}

/* Account for one record; the period that led to it. */
static uint64_t account(struct spmu_driver *driver, unsigned slot)
{
	uint64_t period = (0 - driver->counter[slot].start) & drv_counter_mask(driver, slot);

	driver->counter[slot].total += period + 1;
	driver->counter[slot].start = drv_start_value(driver, slot, driver->counter[slot].reload);
	return period;
}

static void hand_out(struct spmu_driver *driver, const struct spmu_pebs_record *record)
{
	uint64_t period[SPMU_DRIVER_COUNTERS];

	/* Totals first: the sink may read any of them. */
	for (unsigned slot = 0; slot < SPMU_DRIVER_COUNTERS; slot++)
		period[slot] = caused_by(driver, slot, record) ? account(driver, slot) : 0;
	for (unsigned slot = 0; slot < SPMU_DRIVER_COUNTERS; slot++) {
		struct spmu_sample sample = {
			.tag = driver->counter[slot].request.tag,
			.precise = true,
			.period = period[slot],
			.record = record,
		};

		if (period[slot] && driver->sink)
			driver->sink(driver->sink_opaque, &sample);
	}
}

/* Occurrences since the counter was loaded, and what it was loaded for. */
static bool passed(const struct spmu_driver *driver, unsigned slot, uint64_t *occurrences,
		   uint64_t *period)
{
	uint64_t mask = drv_counter_mask(driver, slot);
	uint64_t value;

	if (!spmu_drv_read_counter(driver, slot, &value))
		return false;
	*occurrences = (value - driver->counter[slot].start) & mask;
	*period = (0 - driver->counter[slot].start) & mask;
	return true;
}

bool spmu_drv_is_armed(const struct spmu_driver *driver, unsigned slot)
{
	uint64_t occurrences, period;

	return passed(driver, slot, &occurrences, &period) && occurrences >= period;
}

/*
 * A record that did not fit was skipped entirely: the counter was not reloaded and
 * counts on from 0.  Account for what passed and begin a period, not armed: for that
 * PEBS goes off and on again.
 */
static void restart_skipped(struct spmu_driver *driver)
{
	for (unsigned slot = 0; slot < SPMU_DRIVER_COUNTERS; slot++) {
		uint64_t bit, occurrences, period, pebs, start;

		if (!drv_is_pebs(driver, slot) || !passed(driver, slot, &occurrences, &period) ||
		    occurrences <= period || !drv_read(driver, DRV_IA32_PEBS_ENABLE, &pebs))
			continue;
		bit = drv_counter_bit(driver, slot);
		start = drv_start_value(driver, slot, driver->counter[slot].request.period);
		if (!drv_write(driver, DRV_IA32_PEBS_ENABLE, pebs & ~bit) ||
		    !spmu_drv_write_counter(driver, slot, start))
			continue;
		driver->counter[slot].total += occurrences;
		driver->counter[slot].start = start;
		drv_write(driver, DRV_IA32_PERF_GLOBAL_STATUS_RESET, bit);
		drv_write(driver, DRV_IA32_PEBS_ENABLE, pebs);
	}
}

void spmu_driver_drain(struct spmu_driver *driver)
{
	size_t bytes = spmu_pebs_record_bytes(drv_ds_layout(driver), 0);
	uint64_t index;

	if (!driver->area || driver->draining)
		return;
	driver->draining = true;
	index = spmu_drv_pebs_index(driver);
	while (driver->pebs_next < index) {
		struct spmu_pebs_record record;
		bool decoded = decode_at(driver, driver->pebs_next, &record);

		driver->pebs_next += bytes;
		if (!decoded)
			continue;
		driver->records++;
		hand_out(driver, &record);
	}
	for (unsigned slot = 0; slot < SPMU_DRIVER_COUNTERS; slot++) {
		if (drv_is_pebs(driver, slot))
			driver->counter[slot].reload = driver->counter[slot].request.period;
	}
	driver->pebs_next = driver->pebs_base;
	spmu_drv_store_area(driver, driver->pebs_base);
	restart_skipped(driver);
	driver->draining = false;
}

/* What the counter holds and what waits in the buffer; nothing is handed out. */
static uint64_t pebs_total(const struct spmu_driver *driver, unsigned slot)
{
	uint64_t mask = drv_counter_mask(driver, slot);
	uint64_t total = driver->counter[slot].total;
	uint64_t start = driver->counter[slot].start;
	uint64_t index, value;

	/* A record that comes between the two readings has reloaded the counter. */
	do {
		index = spmu_drv_pebs_index(driver);
		if (!spmu_drv_read_counter(driver, slot, &value))
			return total;
	} while (spmu_drv_pebs_index(driver) != index);

	for (uint64_t at = driver->pebs_next; at < index;
	     at += spmu_pebs_record_bytes(drv_ds_layout(driver), 0)) {
		struct spmu_pebs_record record;

		if (!decode_at(driver, at, &record) || !caused_by(driver, slot, &record))
			continue;
		total += ((0 - start) & mask) + 1;
		start = drv_start_value(driver, slot, driver->counter[slot].reload);
	}
	return total + ((value - start) & mask);
}

/* A wrap that the service routine has not seen yet stands in the status. */
static uint64_t interrupting_total(const struct spmu_driver *driver, unsigned slot)
{
	uint64_t bit = drv_counter_bit(driver, slot);
	uint64_t total = driver->counter[slot].total;
	uint64_t before, after, status;

	do {
		if (!spmu_drv_read_counter(driver, slot, &before) ||
		    !drv_read(driver, DRV_IA32_PERF_GLOBAL_STATUS, &status) ||
		    !spmu_drv_read_counter(driver, slot, &after))
			return total;
	} while (after < before);
	if (status & bit)
		total += drv_counter_mask(driver, slot) + 1;
	return total + after - driver->counter[slot].start;
}

uint64_t spmu_driver_read(struct spmu_driver *driver, unsigned slot)
{
	if (slot >= SPMU_DRIVER_COUNTERS || !driver->counter[slot].used)
		return 0;
	return drv_is_pebs(driver, slot) ? pebs_total(driver, slot)
					 : interrupting_total(driver, slot);
}
