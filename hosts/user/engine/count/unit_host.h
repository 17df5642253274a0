/* SPDX-License-Identifier: MIT */
/* unit_host.h: the callbacks and the port of a thread's unit (unit_host.c). */
#ifndef SOFTPMU_ENGINE_UNIT_HOST_H
#define SOFTPMU_ENGINE_UNIT_HOST_H

#include "engine/count/units.h"

#define UNIT_DS_BYTES (16u << 10) /* some 70 records, so that they stay in the first-level cache */

/* Returns what the engine reports to units. */
struct spmu_supply unit_host_supply(void);
/* Return the callbacks of a unit, and the port of its driver.  u->model must be set. */
struct spmu_host unit_host(struct unit *u);
struct spmu_port unit_host_port(struct unit *u);
/* Takes the registers of the running thread.  A unit is retiring an instruction. */
void unit_host_registers(struct spmu_registers *out);

#endif
