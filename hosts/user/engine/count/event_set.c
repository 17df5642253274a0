/* SPDX-License-Identifier: MIT */
/*
 * event_set.c: which unit of a set counts which event.
 *
 * An event goes to the first unit that has a counter for it, else to a new unit.  So does an event
 * with PEBS where one record can be for several of the unit's events (18.8.1.1), as long as there
 * are units.
 */
#include "engine/count/event_set.h"

#define RDPMC_FIXED (UINT32_C(1) << 30)

static enum spmu_status more_units(struct event_set *set)
{
	if (set->units == SET_UNITS_MAX)
		return SPMU_E_SPACE;
	set->unit[set->units] = set->more(set->opaque, set->units);
	if (!set->unit[set->units])
		return SPMU_E_SPACE;
	set->units++;
	return SPMU_OK;
}

enum spmu_status event_set_create(struct event_set *set, event_set_unit *more, void *opaque)
{
	set->more = more;
	set->opaque = opaque;
	set->units = 0;
	set->traces = false;
	for (unsigned i = 0; i < SET_EVENTS_MAX; i++)
		set->event[i].used = false;
	return more_units(set);
}

/* Returns true if a record of the event could also belong to another event of that unit. */
static bool would_collide(const struct spmu_driver *driver, const struct spmu_request *request)
{
	return request->precise && driver->pebs_bits && driver->facilities.pebs_format < 3;
}

static enum spmu_status add_to(struct event_set *set, unsigned unit,
			       const struct spmu_request *request,
			       const struct spmu_request *starter, unsigned event)
{
	struct spmu_driver *driver = set->unit[unit];
	unsigned slots[2] = {0, 0};
	enum spmu_status status;

	if (set->units < SET_UNITS_MAX && would_collide(driver, request))
		return SPMU_E_COUNTER;
	if (starter)
		status = spmu_driver_add_cascade(driver, starter, request, slots);
	else
		status = spmu_driver_add(driver, request, &slots[1]);
	set->event[event].unit = (uint8_t)unit;
	set->event[event].slot = (uint8_t)slots[1];
	return status;
}

enum spmu_status event_set_add(struct event_set *set, const struct spmu_request *request,
			       const struct spmu_request *starter, unsigned *event)
{
	enum spmu_status status = SPMU_E_COUNTER;
	unsigned e = 0;

	while (e < SET_EVENTS_MAX && set->event[e].used)
		e++;
	if (e == SET_EVENTS_MAX)
		return SPMU_E_SPACE;
	for (unsigned u = 0; u < set->units && status == SPMU_E_COUNTER; u++)
		status = add_to(set, u, request, starter, e);
	if (status == SPMU_E_COUNTER) {
		status = more_units(set);
		if (status == SPMU_OK)
			status = add_to(set, set->units - 1, request, starter, e);
	}
	if (status != SPMU_OK)
		return status;
	set->event[e].used = set->event[e].enabled = true;
	*event = e;
	return SPMU_OK;
}

void event_set_remove(struct event_set *set, unsigned event)
{
	/* The counter is free whatever comes of it. */
	(void)!spmu_driver_remove(set->unit[set->event[event].unit], set->event[event].slot);
	set->event[event].used = false;
}

void event_set_enable(struct event_set *set, unsigned event, bool enabled)
{
	if (spmu_driver_set_enabled(set->unit[set->event[event].unit], set->event[event].slot,
				    enabled) == SPMU_OK)
		set->event[event].enabled = enabled;
}

uint64_t event_set_read(struct event_set *set, unsigned event)
{
	return spmu_driver_read(set->unit[set->event[event].unit], set->event[event].slot);
}

bool event_set_rdpmc(const struct event_set *set, unsigned event, uint32_t *number, unsigned *bits)
{
	const struct spmu_driver *driver = set->unit[0];
	unsigned slot = set->event[event].slot;
	bool fixed = driver->counter[slot].fixed;

	if (set->event[event].unit)
		return false;
	*number = driver->counter[slot].index | (fixed ? RDPMC_FIXED : 0);
	*bits = fixed ? driver->facilities.fixed_bits : driver->facilities.counter_bits;
	return true;
}

enum spmu_status event_set_period(struct event_set *set, unsigned event, uint64_t period)
{
	return spmu_driver_set_period(set->unit[set->event[event].unit], set->event[event].slot,
				      period);
}

static bool has_work(const struct event_set *set, unsigned unit)
{
	if (unit == 0 && set->traces)
		return true;
	for (unsigned e = 0; e < SET_EVENTS_MAX; e++)
		if (set->event[e].used && set->event[e].enabled && set->event[e].unit == unit)
			return true;
	return false;
}

enum spmu_status event_set_start(struct event_set *set)
{
	enum spmu_status first = SPMU_OK;

	for (unsigned u = 0; u < set->units; u++) {
		enum spmu_status status =
			has_work(set, u) ? spmu_driver_start(set->unit[u]) : SPMU_OK;

		first = first == SPMU_OK ? status : first;
	}
	return first;
}

enum spmu_status event_set_stop(struct event_set *set)
{
	enum spmu_status first = SPMU_OK;

	for (unsigned u = 0; u < set->units; u++) {
		enum spmu_status status;

		if (!set->unit[u]->running)
			continue;
		status = spmu_driver_stop(set->unit[u]);
		if (status == SPMU_OK)
			spmu_driver_drain(set->unit[u]);
		first = first == SPMU_OK ? status : first;
	}
	return first;
}
