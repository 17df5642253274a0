/* SPDX-License-Identifier: MIT */
/*
 * event_set.c: which unit of a set counts which event.
 *
 * An event goes to the first unit that has a counter for it, else to a new unit.  So does an event
 * with PEBS where one record can be for several of the unit's events (18.8.1.1), as long as there
 * are units.  So does an event whose last branch records the unit would have to select otherwise.
 */
#include "engine/count/event_set.h"

#define RDPMC_FIXED (UINT32_C(1) << 30)

static enum spmu_status more_units(struct event_set *set)
{
	if (set->units == SET_UNITS_MAX)
		return SPMU_E_SPACE;
	set->branches[set->units].events = 0;
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

/* What an event of the set is to be. */
struct wish {
	const struct spmu_request *request, *starter;
	const uint64_t *select; /* NULL: its samples have no branches */
};

/* Records branches for one more event of the unit. */
static enum spmu_status use_branches(struct event_set *set, unsigned unit, uint64_t select)
{
	enum spmu_status status = SPMU_OK;

	if (set->branches[unit].events && set->branches[unit].select != select)
		return SPMU_E_COUNTER;
	if (!set->branches[unit].events)
		status = spmu_driver_enable_lbr(set->unit[unit], select);
	if (status != SPMU_OK)
		return status;
	set->branches[unit].select = select;
	set->branches[unit].events++;
	return SPMU_OK;
}

static void leave_branches(struct event_set *set, unsigned unit)
{
	if (!--set->branches[unit].events)
		(void)!spmu_driver_disable_lbr(set->unit[unit]);
}

static enum spmu_status add_to(struct event_set *set, unsigned unit, const struct wish *wish,
			       unsigned event)
{
	struct spmu_driver *driver = set->unit[unit];
	unsigned slots[2] = {0, 0};
	enum spmu_status status = SPMU_OK;

	if (set->units < SET_UNITS_MAX && would_collide(driver, wish->request))
		return SPMU_E_COUNTER;
	if (wish->select)
		status = use_branches(set, unit, *wish->select);
	if (status != SPMU_OK)
		return status;
	if (wish->starter)
		status = spmu_driver_add_cascade(driver, wish->starter, wish->request, slots);
	else
		status = spmu_driver_add(driver, wish->request, &slots[1]);
	if (status != SPMU_OK && wish->select)
		leave_branches(set, unit);
	set->event[event].unit = (uint8_t)unit;
	set->event[event].slot = (uint8_t)slots[1];
	return status;
}

static enum spmu_status add(struct event_set *set, const struct wish *wish, unsigned *event)
{
	enum spmu_status status = SPMU_E_COUNTER;
	unsigned e = 0;

	while (e < SET_EVENTS_MAX && set->event[e].used)
		e++;
	if (e == SET_EVENTS_MAX)
		return SPMU_E_SPACE;
	for (unsigned u = 0; u < set->units && status == SPMU_E_COUNTER; u++)
		status = add_to(set, u, wish, e);
	if (status == SPMU_E_COUNTER) {
		status = more_units(set);
		if (status == SPMU_OK)
			status = add_to(set, set->units - 1, wish, e);
	}
	if (status != SPMU_OK)
		return status;
	set->event[e].used = set->event[e].enabled = true;
	set->event[e].branches = wish->select;
	*event = e;
	return SPMU_OK;
}

enum spmu_status event_set_add(struct event_set *set, const struct spmu_request *request,
			       const struct spmu_request *starter, unsigned *event)
{
	return add(set, &(struct wish){request, starter, NULL}, event);
}

enum spmu_status event_set_add_with_branches(struct event_set *set,
					     const struct spmu_request *request, uint64_t select,
					     unsigned *event)
{
	return add(set, &(struct wish){request, NULL, &select}, event);
}

void event_set_remove(struct event_set *set, unsigned event)
{
	/* The counter is free whatever comes of it. */
	(void)!spmu_driver_remove(set->unit[set->event[event].unit], set->event[event].slot);
	set->event[event].used = false;
	if (set->event[event].branches)
		leave_branches(set, set->event[event].unit);
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
