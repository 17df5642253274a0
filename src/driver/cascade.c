/* SPDX-License-Identifier: MIT */
/*
 * cascade.c: NetBurst's counters that start each other, for sampling (Vol.
 * 3B 18.15.5.6, 18.15.5.7): where an event happens after each so many occurrences of another one.
 *
 * The starter counts up to its period and interrupts nobody.  Its overflow enables the other
 * counter, whose CCCR asks for that instead of being enabled: by CASCADE between the two pairs of a
 * block, by bit 11 from the third pair of IQ, which CASCADE only leads to.  FORCE_OVF
 * makes each count of that an overflow.  The other counter counts while that bit of its own CCCR
 * and OVF of the starter's are set (18.15.5.5).  So the driver stops it by its own bit, and
 * clears the starter's OVF with the sample, not before.
 */
#include "internal.h"

#define CCCR_EXTENDED DRV_BIT(11)
#define CCCR_CASCADE  DRV_BIT(30)

#define IQ_LAST_PAIR 16u /* and 17: CASCADE does not lead away from them */

uint64_t spmu_drv_cascade_link(const struct spmu_driver *driver, unsigned from, unsigned to)
{
	/* CASCNT4INTO0, CASCNT5INTO3, CASCNT5INTO4, CASCNT4INTO5 (table 18-65). */
	static const uint8_t extended[][2] = {{16, 12}, {17, 15}, {17, 16}, {16, 17}};

	if (from < IQ_LAST_PAIR) {
		if (to < IQ_LAST_PAIR ? (from ^ to) == 2 : to == from + 2)
			return CCCR_CASCADE;
		return 0;
	}
	for (size_t i = 0; i < sizeof(extended) / sizeof(extended[0]); i++)
		if (driver->facilities.extended_cascade && extended[i][0] == from &&
		    extended[i][1] == to)
			return CCCR_EXTENDED;
	return 0;
}

uint64_t spmu_drv_cascade_bit(const struct spmu_driver *driver, unsigned slot)
{
	unsigned starter = driver->counter[slot].starter;

	return starter ? spmu_drv_cascade_link(driver, driver->counter[starter - 1].index,
					       driver->counter[slot].index)
		       : 0;
}

/* Both on these counters, or neither. */
static enum spmu_status add_on(struct spmu_driver *driver, const struct spmu_request *starter,
			       const struct spmu_request *request, unsigned counter,
			       unsigned slots[2])
{
	struct spmu_request first = *starter;
	enum spmu_status status;

	first.counters = UINT32_C(1) << counter;
	status = spmu_drv_add(driver, &first, 0, &slots[0]);
	if (status != SPMU_OK)
		return status;
	status = spmu_drv_add(driver, request, slots[0] + 1, &slots[1]);
	if (status == SPMU_OK) {
		driver->counter[slots[0]].starts = (uint8_t)(slots[1] + 1);
		if (spmu_drv_program_select(driver, slots[0], true))
			return SPMU_OK;
		spmu_drv_remove(driver, slots[1]);
		status = SPMU_E_UNAVAILABLE;
	}
	spmu_drv_remove(driver, slots[0]);
	return status;
}

enum spmu_status spmu_driver_add_cascade(struct spmu_driver *driver,
					 const struct spmu_request *starter,
					 const struct spmu_request *request, unsigned slots[2])
{
	uint32_t set = starter->counters & driver->facilities.general_set;
	enum spmu_status status = SPMU_E_COUNTER;
	unsigned got[2];

	if (driver->facilities.programming != SPMU_PROGRAM_ESCR)
		return SPMU_E_UNAVAILABLE;
	if (starter->precise || request->precise || !starter->period || request->period)
		return SPMU_E_ARGUMENT;
	for (; set && status == SPMU_E_COUNTER; set &= set - 1)
		status = add_on(driver, starter, request, (unsigned)__builtin_ctz(set), got);
	if (status == SPMU_OK) {
		slots[0] = got[0];
		slots[1] = got[1];
	}
	return status;
}
