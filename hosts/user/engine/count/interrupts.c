/* SPDX-License-Identifier: MIT */
/* interrupts.c: interrupts of a thread's units, which its driver services at once. */
#include "engine/count/count.h"
#include "engine/count/units.h"
#include "engine/rt/context.h"

void interrupts_service(void)
{
	struct counting *c = current->counting;

	for (unsigned u = 0; u < c->set.units; u++)
		while (c->unit[u].interrupt_due) {
			c->unit[u].interrupt_due = false;
			spmu_driver_interrupt(&c->unit[u].driver);
		}
}
