/* SPDX-License-Identifier: MIT */
/*
 * cascade.c: samples by a cascade of two NetBurst counters (Vol. 3B 18.15.5.6, 18.15.5.7). After
 * every N occurrences of one event, the next occurrence of another event takes a sample.
 *
 * The starter counts up to its period and does not interrupt. Its overflow enables the other
 * counter. The other counter's CCCR has no ENABLE flag. Instead it has a bit that lets the starter
 * start it. That bit is CASCADE between the two pairs of a block, and bit 11 if the starter is in
 * the third pair of IQ. (CASCADE leads to the third pair, but not away from it.) FORCE_OVF makes
 * each of its counts an overflow. It counts while that bit of its own CCCR and the starter's OVF
 * are set (18.15.5.5). So the driver stops it by its own bit, and does not clear the starter's OVF
 * before the sample is taken.
 */
#include "internal.h"

#include "src/abi.h"

/* Puts the two requests on this counter and one that it can start, or neither of them. */
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
					 const struct spmu_request *given_starter,
					 const struct spmu_request *given_request,
					 unsigned slots[2])
{
	struct spmu_request known[2], *starter = &known[0], *request = &known[1];
	enum spmu_status status = SPMU_E_COUNTER;
	unsigned got[2];
	uint32_t set;

	if (!given_starter || !given_request || !slots ||
	    !abi_take(starter, sizeof(*starter), given_starter) ||
	    !abi_take(request, sizeof(*request), given_request))
		return SPMU_E_ARGUMENT;
	set = starter->counters & driver->facilities.general_set;
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
