/* SPDX-License-Identifier: MIT */
/*
 * offcore.c: the registers of off-core response events (Vol. 3B 18.8.1.3, 18.9.5).
 *
 * There are two such events that count alike, and each counts what a register of its own selects.
 * Requests share a register if they want the same of it.  If a register is taken, the request is
 * counted by the other event.
 */
#include "internal.h"

/* Returns the address of the register of an event, or 0 if it has none. */
static uint32_t register_of(uint64_t select)
{
	switch (select & DRV_SELECT_EVENT) {
	case 0x01b7:
	case 0x012a: /* after Tiger Lake */
		return DRV_MSR_OFFCORE_RSP_0;
	case 0x01bb:
	case 0x012b:
	case 0x02b7: /* Atoms */
		return DRV_MSR_OFFCORE_RSP_1;
	default:
		return 0;
	}
}

/* Returns whether the request's register has another value for another request. */
static bool is_taken(const struct spmu_driver *driver, const struct spmu_request *request)
{
	for (unsigned slot = 0; slot < driver->slots; slot++) {
		const struct spmu_request *other = &driver->counter[slot].request;

		if (driver->counter[slot].used && other->offcore &&
		    other->offcore != request->offcore &&
		    register_of(other->select) == register_of(request->select))
			return true;
	}
	return false;
}

/* Changes the request to the model's other event.  Returns false if there is none. */
static bool exchange(const struct spmu_driver *driver, struct spmu_request *request)
{
	for (size_t i = 0; i < spmu_event_count(driver->model); i++) {
		const struct spmu_event *event = spmu_event_at(driver->model, i);

		if (event->tally != SPMU_TALLY_OFFCORE || !register_of(event->code) ||
		    register_of(event->code) == register_of(request->select))
			continue;
		request->select = (request->select & ~DRV_SELECT_EVENT) | event->code;
		return true;
	}
	return false;
}

bool spmu_drv_offcore_can(const struct spmu_driver *driver, const struct spmu_request *request)
{
	return !request->offcore || (driver->facilities.programming == SPMU_PROGRAM_PERFEVTSEL &&
				     register_of(request->select));
}

enum spmu_status spmu_drv_offcore_write(const struct spmu_driver *driver,
					struct spmu_request *request)
{
	if (!request->offcore)
		return SPMU_OK;
	if (is_taken(driver, request) && (!exchange(driver, request) || is_taken(driver, request)))
		return SPMU_E_COUNTER;
	return drv_write(driver, register_of(request->select), request->offcore)
		       ? SPMU_OK
		       : SPMU_E_UNAVAILABLE;
}
