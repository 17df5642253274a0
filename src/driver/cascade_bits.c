/* SPDX-License-Identifier: MIT */
/*
 * cascade_bits.c: the bits of a CCCR by which one counter of NetBurst starts another (Vol. 3B
 * 18.15.5.6, 18.15.5.7).  cascade.c says what cascades are for.
 */
#include "internal.h"

#define CCCR_EXTENDED DRV_BIT(11)
#define CCCR_CASCADE  DRV_BIT(30)

#define IQ_LAST_PAIR 16u /* 16 and 17: CASCADE does not lead away from them */

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
