/* SPDX-License-Identifier: MIT */
/*
 * drain.c: hands the records of the PEBS buffer to the sink and keeps the counters' totals (Vol. 3B
 * 18.4.4, 18.8.1.1, 18.13.1; 17.4.9.5 for resetting the index).
 *
 * A counter that starts at -P overflows at its P-th occurrence, which arms PEBS. The next
 * occurrence makes the record, and the unit then reloads the counter. So a record adds P + 1
 * occurrences to the total, but its sample says P, the period of the request, as usual for
 * profilers. With precise distribution the P-th occurrence itself makes the record (18.9.4.4).
 *
 * From format 3 on, a record names the counters that caused it. Formats 1 and 2 have
 * IA32_PERF_GLOBAL_STATUS of the time before the record instead, and format 0 has nothing. With one
 * PEBS counter this makes no difference. With several, the record reloads each counter that has
 * overflowed (18.8.1.1), including one that still waits for its event. A record that names one
 * counter belongs to that counter. A record that names several is a collision and becomes no
 * sample. A counter that was waiting had one occurrence less than the driver adds for it; nothing
 * says which counter that was.
 */
#include "internal.h"

static const unsigned char *at_linear(const struct spmu_driver *driver, uint64_t linear)
{
	return (const unsigned char *)driver->area + (linear - driver->area_linear);
}

/*
 * Decodes the record at `linear`, which must end at or before `end`. Returns its size in bytes, 0
 * if there is no valid record.
 */
static size_t decode_at(const struct spmu_driver *driver, uint64_t linear, uint64_t end,
			struct spmu_pebs_record *record)
{
	size_t used;

	if (linear >= end || spmu_pebs_decode(driver->layout, at_linear(driver, linear),
					      end - linear, record, &used) != SPMU_OK)
		return 0;
	return used;
}

static bool is_one(uint64_t bits)
{
	return bits && !(bits & (bits - 1));
}

/* Returns the PEBS counters in use that the record names, and that were therefore reloaded. */
static uint64_t named(const struct spmu_driver *driver, const struct spmu_pebs_record *record)
{
	if (driver->facilities.pebs_format < 3 && is_one(driver->pebs_bits))
		return driver->pebs_bits;
	return record->applicable & driver->pebs_bits;
}

/* Adds one record to the totals. Returns the period that led to it. */
static uint64_t account(struct spmu_driver *driver, unsigned slot)
{
	uint64_t period = (0 - driver->counter[slot].start) & drv_counter_mask(driver, slot);

	driver->counter[slot].total += drv_to_record(driver, slot, period);
	driver->counter[slot].start = drv_start_value(driver, slot, driver->counter[slot].reload);
	return period;
}

/* Takes the last branches of a record: its own, or the stack for the first record of a service. */
static void add_branches(struct spmu_driver *driver, const struct spmu_pebs_record *record,
			 struct spmu_sample *sample)
{
	if (record->groups & SPMU_PEBS_LBR) {
		sample->branches = record->branch;
		while (sample->branch_count < record->branch_count &&
		       (record->branch[sample->branch_count].from ||
			record->branch[sample->branch_count].to))
			sample->branch_count++;
	} else if (driver->lbr && driver->in_service && !driver->stack_given) {
		spmu_drv_take_stack(driver);
		sample->branches = driver->branch;
		sample->branch_count = driver->branches;
	}
}

static void hand_out(struct spmu_driver *driver, const struct spmu_pebs_record *record,
		     uint64_t tsc)
{
	uint64_t set = named(driver, record);
	struct spmu_sample sample = {
		.precise = true,
		.record = record,
		.ip = driver->facilities.pebs_format < 2 ? record->regs.rip : record->eventing_ip,
		.tsc = driver->facilities.pebs_format < 3 ? tsc : record->tsc,
	};
	bool collision = driver->facilities.pebs_format < 3 && !is_one(set);
	uint64_t period[SPMU_DRIVER_COUNTERS];
	unsigned slots = driver->slots; /* the sink may add slots */

	driver->collisions += collision;
	add_branches(driver, record, &sample);
	driver->stack_given = true;
	/* Brings up all totals first, because the sink may read any of them. */
	for (unsigned slot = 0; slot < slots; slot++) {
		bool its = drv_is_pebs(driver, slot) && (set & drv_counter_bit(driver, slot));

		period[slot] = its ? account(driver, slot) : 0;
	}
	for (unsigned slot = 0; slot < slots; slot++) {
		sample.tag = driver->counter[slot].request.tag;
		sample.period = period[slot];
		if (period[slot] && !collision && driver->sink)
			driver->sink(driver->sink_opaque, &sample);
	}
}

/* Occurrences since the counter was loaded, and the period for which it was loaded. */
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

/*
 * A counter that is not armed is on its way to 0. It was loaded by the driver, or by a record that
 * is still in the buffer.
 */
uint64_t spmu_drv_armed(const struct spmu_driver *driver)
{
	uint64_t value, armed = 0;

	for (unsigned slot = 0; slot < driver->slots; slot++) {
		uint64_t again = drv_start_value(driver, slot, driver->counter[slot].reload);

		if (drv_is_pebs(driver, slot) && spmu_drv_read_counter(driver, slot, &value) &&
		    value < driver->counter[slot].start && value < again)
			armed |= drv_counter_bit(driver, slot);
	}
	return armed;
}

/*
 * The unit dropped a record for which the buffer had no room: the counter was not reloaded and
 * counts on from 0. Adds what has passed and begins a new period. Switching PEBS off and on again
 * disarms the counter.
 */
static void restart_skipped(struct spmu_driver *driver, uint64_t armed)
{
	for (unsigned slot = 0; slot < driver->slots; slot++) {
		uint64_t bit, occurrences, period, pebs, start;

		bit = drv_counter_bit(driver, slot);
		if (!drv_is_pebs(driver, slot) || !(armed & bit) ||
		    !passed(driver, slot, &occurrences, &period) ||
		    occurrences < drv_to_record(driver, slot, period) ||
		    !drv_read(driver, DRV_IA32_PEBS_ENABLE, &pebs))
			continue;
		start = drv_start_value(driver, slot, driver->counter[slot].request.period);
		if (!drv_write(driver, DRV_IA32_PEBS_ENABLE, pebs & ~drv_pebs_bits(driver, bit)) ||
		    !spmu_drv_write_counter(driver, slot, start))
			continue;
		driver->counter[slot].total += occurrences;
		driver->counter[slot].start = start;
		spmu_drv_clear_status(driver, bit);
		drv_write(driver, DRV_IA32_PEBS_ENABLE, pebs);
	}
}

/* Formats before 3 have no time. The time of the interrupted context is used instead. */
static uint64_t time_now(const struct spmu_driver *driver)
{
	struct spmu_registers regs;
	uint64_t tsc = 0;

	if (driver->facilities.pebs_format < 3)
		driver->port.interrupted(driver->port.opaque, &regs, &tsc);
	return tsc;
}

static void drain_records(struct spmu_driver *driver, uint64_t index)
{
	uint64_t tsc = time_now(driver);

	while (driver->pebs_next < index) {
		struct spmu_pebs_record record;
		size_t bytes = decode_at(driver, driver->pebs_next, index, &record);

		if (!bytes) {
			driver->damaged++;
			break;
		}
		driver->pebs_next += bytes;
		driver->records++;
		hand_out(driver, &record, tsc);
	}
}

void spmu_drv_drain_pebs(struct spmu_driver *driver)
{
	uint64_t index, armed;

	if (!driver->pebs_base || driver->draining)
		return;
	driver->draining = true;
	armed = driver->in_service ? driver->armed : spmu_drv_armed(driver);
	index = spmu_drv_pebs_index(driver);
	if (index > driver->pebs_next)
		drain_records(driver, index);
	for (unsigned slot = 0; slot < driver->slots; slot++) {
		if (drv_is_pebs(driver, slot))
			driver->counter[slot].reload = driver->counter[slot].request.period;
	}
	driver->pebs_next = driver->pebs_base;
	spmu_drv_store_area(driver, driver->pebs_base);
	restart_skipped(driver, armed);
	driver->draining = false;
}

/* Returns what the counter holds plus what waits in the buffer. Hands nothing out. */
static uint64_t pebs_total(const struct spmu_driver *driver, unsigned slot)
{
	uint64_t mask = drv_counter_mask(driver, slot);
	uint64_t total = driver->counter[slot].total;
	uint64_t start = driver->counter[slot].start;
	uint64_t bit = drv_counter_bit(driver, slot);
	uint64_t at = driver->pebs_next, index, value;
	struct spmu_pebs_record record;
	size_t bytes;

	/* If a record comes between the two readings, it has reloaded the counter. */
	do {
		index = spmu_drv_pebs_index(driver);
		if (!spmu_drv_read_counter(driver, slot, &value))
			return total;
	} while (spmu_drv_pebs_index(driver) != index);

	for (; (bytes = decode_at(driver, at, index, &record)); at += bytes) {
		if (!(named(driver, &record) & bit))
			continue;
		total += drv_to_record(driver, slot, (0 - start) & mask);
		start = drv_start_value(driver, slot, driver->counter[slot].reload);
	}
	return total + ((value - start) & mask);
}

/* Without a status, the service routine must see a counter within half of its range. */
static uint64_t modular_total(const struct spmu_driver *driver, unsigned slot)
{
	uint64_t occurrences, period;

	if (!passed(driver, slot, &occurrences, &period))
		return driver->counter[slot].total;
	return driver->counter[slot].total + occurrences;
}

/* Without an interrupt, each reading begins a new period. */
static uint64_t followed_total(struct spmu_driver *driver, unsigned slot)
{
	uint64_t occurrences, period;

	if (passed(driver, slot, &occurrences, &period)) {
		driver->counter[slot].total += occurrences;
		driver->counter[slot].start += occurrences;
		driver->counter[slot].start &= drv_counter_mask(driver, slot);
	}
	return driver->counter[slot].total;
}

/* The status shows an overflow that the service routine has not seen yet. */
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
	if (drv_is_pebs(driver, slot))
		return pebs_total(driver, slot);
	if (driver->facilities.no_interrupt)
		return followed_total(driver, slot);
	return drv_has_global(driver) ? interrupting_total(driver, slot)
				      : modular_total(driver, slot);
}
