/* SPDX-License-Identifier: MIT */
/*
 * ds_setup.c: creates the DS save area (Vol. 3B 17.4.9.2, 18.4.4.1): the management
 * area at the start of the memory, the PEBS buffer behind it on the next cache line.
 *
 * The fields follow the manual's restrictions: doubleword alignment, index = base, absolute
 * maximum one byte past a whole number of records, threshold a whole
 * number of records above the base and below the maximum, so that the interrupt comes
 * before the buffer is full.  The BTS buffer is empty: all its fields are 0.
 */
#include "internal.h"

#define CACHE_LINE 64u

bool spmu_drv_store_area(struct spmu_driver *driver, uint64_t pebs_index)
{
	const struct spmu_ds_layout *layout = drv_ds_layout(driver);
	struct spmu_ds_area area = {
		.pebs_base = driver->pebs_base,
		.pebs_index = pebs_index,
		.pebs_maximum = driver->pebs_maximum,
		.pebs_threshold = driver->pebs_threshold,
	};

	for (unsigned slot = 0; slot < SPMU_DRIVER_COUNTERS; slot++) {
		if (!drv_is_pebs(driver, slot))
			continue;
		area.reset[driver->counter[slot].index] =
			drv_start_value(driver, slot, driver->counter[slot].request.period);
	}
	return spmu_ds_encode(layout, &area, driver->area, driver->area_bytes) == SPMU_OK;
}

uint64_t spmu_drv_pebs_index(const struct spmu_driver *driver)
{
	size_t record = spmu_pebs_record_bytes(drv_ds_layout(driver), 0);
	struct spmu_ds_area area;
	uint64_t index;

	if (!driver->area || spmu_ds_decode(drv_ds_layout(driver), driver->area, driver->area_bytes,
					    &area) != SPMU_OK)
		return driver->pebs_base;
	index = area.pebs_index;
	if (index < driver->pebs_base)
		return driver->pebs_base;
	if (index > driver->pebs_maximum)
		return driver->pebs_maximum;
	return index - (index - driver->pebs_base) % record;
}

void spmu_drv_map_interrupt(struct spmu_driver *driver)
{
	if (driver->lvt_mapped)
		return;
	driver->lvt = driver->port.map_interrupt(driver->port.opaque) & ~DRV_LVT_MASKED;
	driver->lvt_mapped = true;
	driver->port.write_lvt(driver->port.opaque, driver->lvt);
}

/* How many records stand before the threshold. */
static uint64_t threshold_records(uint64_t records, unsigned wanted)
{
	uint64_t spare = records / 8 ? records / 8 : 1;

	if (wanted == 0)
		return records - spare;
	return wanted < records ? wanted : records - 1;
}

/* A counter that is set up for the present area would go on with the one before. */
static bool area_in_use(const struct spmu_driver *driver)
{
	for (unsigned slot = 0; slot < SPMU_DRIVER_COUNTERS; slot++) {
		if (drv_is_pebs(driver, slot))
			return true;
	}
	return driver->running;
}

enum spmu_status spmu_driver_setup_ds(struct spmu_driver *driver, void *memory, uint64_t linear,
				      size_t bytes, unsigned records_per_interrupt)
{
	const struct spmu_ds_layout *layout = drv_ds_layout(driver);
	uint64_t record = spmu_pebs_record_bytes(drv_ds_layout(driver), 0);
	uint64_t base, records;

	if (!driver->facilities.ds || !driver->facilities.pebs || !layout)
		return SPMU_E_UNAVAILABLE;
	if (!memory || area_in_use(driver) || (uintptr_t)memory % 4 || linear % 4 || linear == 0 ||
	    linear + bytes < linear)
		return SPMU_E_ARGUMENT;
	if (layout->field_bytes == 4 && linear + bytes > UINT32_MAX)
		return SPMU_E_ARGUMENT;

	base = (linear + layout->bytes + CACHE_LINE - 1) & ~(uint64_t)(CACHE_LINE - 1);
	if (base < linear || base - linear > bytes)
		return SPMU_E_SPACE;
	records = (bytes - (base - linear)) / record;
	if (records < 2)
		return SPMU_E_SPACE;

	driver->area = memory;
	driver->area_linear = linear;
	driver->area_bytes = bytes;
	driver->pebs_base = base;
	driver->pebs_next = base;
	driver->pebs_maximum = base + records * record;
	driver->pebs_threshold = base + threshold_records(records, records_per_interrupt) * record;
	if (!spmu_drv_store_area(driver, base) || !drv_write(driver, DRV_IA32_DS_AREA, linear)) {
		driver->area = NULL;
		return SPMU_E_UNAVAILABLE;
	}
	spmu_drv_map_interrupt(driver);
	return SPMU_OK;
}
