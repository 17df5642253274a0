/* SPDX-License-Identifier: MIT */
/*
 * ds_setup.c: creates the DS save area (Vol. 3B 17.4.9.2, 17.4.9.4, 18.4.4.1). The management area
 * is at the start of the memory. The BTS buffer follows on the next cache line, then the PEBS
 * buffer on the next cache line.
 *
 * The fields obey the manual's restrictions: doubleword alignment; index = base; absolute maximum
 * one byte past a whole number of records; threshold a whole number of records above the base and
 * below the maximum, so that the interrupt comes before the buffer is full. The threshold of a
 * circular BTS buffer is past its end, so that it is never reached. All fields of a buffer that
 * does not exist are 0.
 */
#include "internal.h"

#include "src/abi.h"

#define CACHE_LINE 64u

static bool store(struct spmu_driver *driver, uint64_t pebs_index, uint64_t bts_index)
{
	struct spmu_ds_area area = {
		.bts_base = driver->bts_base,
		.bts_index = bts_index,
		.bts_maximum = driver->bts_maximum,
		.bts_threshold = driver->bts_threshold,
		.pebs_base = driver->pebs_base,
		.pebs_index = pebs_index,
		.pebs_maximum = driver->pebs_maximum,
		.pebs_threshold = driver->pebs_threshold,
	};

	for (unsigned slot = 0; slot < driver->slots; slot++) {
		bool fixed = driver->counter[slot].fixed;
		unsigned index = driver->counter[slot].index;
		uint64_t *reset =
			fixed ? &area.fixed_reset[index] : &area.reset[drv_reset_of(driver, index)];

		if (drv_is_pebs(driver, slot))
			*reset =
				drv_start_value(driver, slot, driver->counter[slot].request.period);
	}
	return spmu_ds_encode(driver->layout, &area, driver->area, driver->area_bytes) == SPMU_OK;
}

bool spmu_drv_store_area(struct spmu_driver *driver, uint64_t pebs_index)
{
	return store(driver, pebs_index, driver->bts_base ? spmu_drv_bts_index(driver) : 0);
}

bool spmu_drv_empty_bts(struct spmu_driver *driver)
{
	return store(driver, spmu_drv_pebs_index(driver), driver->bts_base);
}

/* Returns a valid index: whole records of this size between base and maximum. */
static uint64_t index_within(uint64_t index, uint64_t base, uint64_t maximum, size_t record)
{
	if (index < base)
		return base;
	if (index > maximum)
		return maximum;
	return record ? index - (index - base) % record : index;
}

uint64_t spmu_drv_pebs_index(const struct spmu_driver *driver)
{
	/* Adaptive records contain their own length. */
	size_t record =
		driver->facilities.pebs_format >= 4 ? 0 : spmu_pebs_record_bytes(driver->layout, 0);
	struct spmu_ds_area area;

	if (!driver->pebs_base ||
	    spmu_ds_decode(driver->layout, driver->area, driver->area_bytes, &area) != SPMU_OK)
		return driver->pebs_base;
	return index_within(area.pebs_index, driver->pebs_base, driver->pebs_maximum, record);
}

uint64_t spmu_drv_bts_index(const struct spmu_driver *driver)
{
	struct spmu_ds_area area;

	if (!driver->bts_base ||
	    spmu_ds_decode(driver->layout, driver->area, driver->area_bytes, &area) != SPMU_OK)
		return driver->bts_base;
	return index_within(area.bts_index, driver->bts_base, driver->bts_maximum,
			    driver->layout->bts_bytes);
}

void spmu_drv_map_interrupt(struct spmu_driver *driver)
{
	if (driver->lvt_mapped || driver->facilities.no_interrupt)
		return;
	driver->lvt = driver->port.map_interrupt(driver->port.opaque) & ~DRV_LVT_MASKED;
	driver->lvt_mapped = true;
	driver->port.write_lvt(driver->port.opaque, driver->lvt);
}

/*
 * Returns how many records come before the threshold. The number is 1 if the driver reads a stack
 * of last branch records that is not part of the record. The stack belongs to one record only, so
 * what the caller asked for does not matter.
 */
static uint64_t threshold_records(const struct spmu_driver *driver, uint64_t records)
{
	uint64_t spare = records / 8 ? records / 8 : 1;
	unsigned wanted = driver->pebs_wanted;

	if (driver->lbr && !driver->facilities.pebs_baseline)
		wanted = 1;
	if (wanted == 0)
		return records - spare;
	return wanted < records ? wanted : records - 1;
}

void spmu_drv_place_threshold(struct spmu_driver *driver)
{
	uint64_t record = spmu_pebs_record_bytes(driver->layout, driver->pebs_data_cfg);
	uint64_t records;

	if (!driver->pebs_base)
		return;
	records = (driver->pebs_maximum - driver->pebs_base) / record;
	driver->pebs_threshold = driver->pebs_base + threshold_records(driver, records) * record;
}

static uint64_t data_cfg(const struct spmu_driver *driver)
{
	uint64_t groups = driver->pebs_groups;

	if (!driver->facilities.pebs_baseline)
		return 0;
	if (driver->lbr)
		groups |= SPMU_PEBS_LBR | SPMU_PEBS_LBR_ENTRIES(driver->lbr_layout->depth);
	return groups;
}

enum spmu_status spmu_drv_configure_records(struct spmu_driver *driver)
{
	uint64_t config = data_cfg(driver);
	uint64_t record = spmu_pebs_record_bytes(driver->layout, config);
	uint64_t records;

	if (!driver->pebs_base)
		return SPMU_OK;
	records = (driver->pebs_end - driver->pebs_base) / record;
	if (records < 2)
		return SPMU_E_SPACE;
	if (driver->facilities.pebs_baseline && !drv_write(driver, DRV_MSR_PEBS_DATA_CFG, config))
		return SPMU_E_UNAVAILABLE;
	driver->pebs_data_cfg = config;
	driver->pebs_maximum = driver->pebs_base + records * record;
	driver->pebs_next = driver->pebs_base;
	spmu_drv_place_threshold(driver);
	return spmu_drv_store_area(driver, driver->pebs_base) ? SPMU_OK : SPMU_E_FAULT;
}

/* A counter that was set up for the present area would continue with the previous one. */
static bool area_in_use(const struct spmu_driver *driver)
{
	for (unsigned slot = 0; slot < driver->slots; slot++) {
		if (drv_is_pebs(driver, slot))
			return true;
	}
	return driver->running || driver->in_service || (driver->debugctl & DRV_DEBUG_TRACE);
}

static enum spmu_status check_range(const struct spmu_driver *driver, const void *memory,
				    uint64_t linear, size_t bytes)
{
	if (!memory || (uintptr_t)memory % 4 || linear % 4 || linear == 0 ||
	    linear + bytes < linear)
		return SPMU_E_ARGUMENT;
	if (driver->layout->field_bytes == 4 && linear + bytes > UINT32_MAX)
		return SPMU_E_ARGUMENT;
	return SPMU_OK;
}

static enum spmu_status check_memory(const struct spmu_driver *driver,
				     const struct spmu_driver_memory *m)
{
	const struct spmu_facilities *f = &driver->facilities;
	enum spmu_status status;

	if (!f->ds || !driver->layout || !(f->pebs || f->bts) || (m->bts_bytes && !f->bts) ||
	    (!m->bts_bytes && !f->pebs))
		return SPMU_E_UNAVAILABLE;
	if (area_in_use(driver))
		return SPMU_E_ARGUMENT;
	status = check_range(driver, m->memory, m->linear, m->bytes);
	if (status == SPMU_OK && m->bts_memory)
		status = check_range(driver, m->bts_memory, m->bts_linear, m->bts_bytes);
	return status;
}

/*
 * Places the BTS buffer at `base`. Returns how much of `bytes` it takes, 0 if not even two records
 * fit.
 */
void spmu_drv_mark_bts(struct spmu_driver *driver)
{
	unsigned char *last = drv_last_bts(driver);

	for (unsigned i = 0; i < driver->layout->bts_bytes; i++)
		last[i] = 0;
}

static uint64_t place_bts(struct spmu_driver *driver, uint64_t base, uint64_t bytes, bool circular)
{
	uint64_t record = driver->layout->bts_bytes;
	uint64_t records = bytes / record;
	uint64_t spare = records / 16 ? records / 16 : 1;

	if (records < 2)
		return 0;
	driver->bts_base = base;
	driver->bts_maximum = base + records * record;
	driver->bts_threshold = driver->bts_maximum - (spare < 64 ? spare : 64) * record;
	driver->bts_circular = circular;
	if (circular) {
		driver->bts_threshold = driver->bts_maximum + record;
		spmu_drv_mark_bts(driver);
	}
	return records * record;
}

static uint64_t next_line(uint64_t linear)
{
	return (linear + CACHE_LINE - 1) & ~(uint64_t)(CACHE_LINE - 1);
}

/* Places the buffers. Changes nothing outside the driver except the mark of a circular buffer. */
static enum spmu_status place(struct spmu_driver *driver, const struct spmu_driver_memory *m)
{
	uint64_t record = spmu_pebs_record_bytes(driver->layout, data_cfg(driver));
	uint64_t end = m->linear + m->bytes;
	uint64_t at = next_line(m->linear + driver->layout->bytes);

	driver->bts_distance = (uintptr_t)m->memory - m->linear;
	if (m->bts_bytes && m->bts_memory) {
		driver->bts_distance = (uintptr_t)m->bts_memory - m->bts_linear;
		if (!place_bts(driver, m->bts_linear, m->bts_bytes, m->bts_circular))
			return SPMU_E_SPACE;
	} else if (m->bts_bytes) {
		if (at < m->linear || at > end || m->bts_bytes > end - at)
			return SPMU_E_SPACE;
		if (!place_bts(driver, at, m->bts_bytes, m->bts_circular))
			return SPMU_E_SPACE;
		at = next_line(driver->bts_maximum);
	}
	if (!driver->facilities.pebs || at < m->linear || at > end || (end - at) / record < 2)
		return m->bts_bytes && m->bytes >= driver->layout->bytes ? SPMU_OK : SPMU_E_SPACE;
	driver->pebs_base = at;
	driver->pebs_end = end;
	driver->pebs_wanted = m->records_per_interrupt;
	return SPMU_OK;
}

static void forget_area(struct spmu_driver *driver)
{
	driver->area = NULL;
	driver->pebs_base = driver->pebs_end = driver->pebs_maximum = driver->pebs_threshold = 0;
	driver->bts_base = driver->bts_maximum = driver->bts_threshold = 0;
	driver->pebs_next = 0;
	driver->bts_circular = false;
}

enum spmu_status spmu_driver_setup_ds(struct spmu_driver *driver,
				      const struct spmu_driver_memory *given)
{
	struct spmu_driver before = *driver;
	struct spmu_driver_memory known, *memory = &known;
	enum spmu_status status;

	if (!given || !abi_take(memory, sizeof(*memory), given))
		return SPMU_E_ARGUMENT;
	status = check_memory(driver, memory);
	if (status != SPMU_OK)
		return status;
	forget_area(driver);
	driver->area = memory->memory;
	driver->area_linear = memory->linear;
	driver->area_bytes = memory->bytes;
	status = place(driver, memory);
	if (status != SPMU_OK) {
		*driver = before;
		return status;
	}
	status = spmu_drv_configure_records(driver);
	if (status != SPMU_OK || !spmu_drv_store_area(driver, driver->pebs_base) ||
	    !spmu_drv_empty_bts(driver) || !drv_write(driver, DRV_IA32_DS_AREA, memory->linear)) {
		forget_area(driver);
		return SPMU_E_UNAVAILABLE;
	}
	spmu_drv_map_interrupt(driver);
	return SPMU_OK;
}
