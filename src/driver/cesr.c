/* SPDX-License-Identifier: MIT */
/*
 * cesr.c: the control register of a Pentium's two counters (Vol. 3B 18.23.1): the event, the rings,
 * and whether it counts events or the clocks in which the event happens.
 *
 * A request with a threshold of one asks for those clocks; the family has no other threshold. Pin
 * control is set to overflow. So a board that wires the pins to an interrupt can call the service
 * routine at an overflow.
 */
#include "internal.h"

#define CESR_OS	      (1u << 6)
#define CESR_USR      (1u << 7)
#define CESR_CLOCKS   (1u << 8)
#define CESR_OVERFLOW (1u << 9)
#define CESR_SECOND   16 /* counter 1's fields are this much higher */

#define CESR_EVENTS 0x3fu

bool spmu_drv_cesr_can(const struct spmu_request *request)
{
	const uint64_t unknown = DRV_SELECT_EDGE | DRV_SELECT_INV | DRV_SELECT_ANY | DRV_SELECT_PIN;

	return request->code <= CESR_EVENTS && !request->tagger && !(request->select & unknown) &&
	       DRV_SELECT_CMASK(request->select) <= 1;
}

static uint64_t control(const struct spmu_request *request)
{
	uint64_t value = request->code | CESR_OVERFLOW;

	value |= request->select & DRV_SELECT_OS ? CESR_OS : 0;
	value |= request->select & DRV_SELECT_USR ? CESR_USR : 0;
	value |= DRV_SELECT_CMASK(request->select) ? CESR_CLOCKS : 0;
	return value;
}

bool spmu_drv_cesr_write(const struct spmu_driver *driver, uint64_t counters)
{
	uint64_t value = 0;

	for (unsigned slot = 0; slot < driver->slots; slot++) {
		unsigned shift = driver->counter[slot].index ? CESR_SECOND : 0;

		if (driver->counter[slot].used && (counters & drv_counter_bit(driver, slot)))
			value |= control(&driver->counter[slot].request) << shift;
	}
	return drv_write(driver, DRV_CESR, value);
}
