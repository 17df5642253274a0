/* SPDX-License-Identifier: MIT */
/*
 * pentium.c: CESR, which programs both counters of a Pentium (18.23.1, 18.23.2).
 */
#include "reference.h"

/* Adds an event. Two counters may have different events for one select (table 19-38). */
static void add_event(const struct reference *unit, struct reference_view *v, unsigned n,
		      unsigned select)
{
	for (size_t i = 0; i < spmu_event_count(unit->model); i++) {
		const struct spmu_event *event = spmu_event_at(unit->model, i);

		if (event->code != select || !(event->counters >> n & 1))
			continue;
		reference_add_event(unit, v, event);
		return;
	}
}

/*
 * CC: bit 0 CPL 0 to 2, bit 1 CPL 3, bit 2 clocks instead of events.  Reading of "count clocks
 * (duration)": each clock in which the event takes place counts once.
 */
struct reference_view reference_view_cesr(struct reference *unit, unsigned owner, unsigned n)
{
	struct reference_thread *t = &unit->thread[owner];
	unsigned half = (unsigned)(t->cesr >> (16 * n)) & 0x3ff;
	unsigned control = half >> 6 & 7;
	bool at_overflow = half >> 9 & 1;

	if (unit->defect == REFERENCE_PIN_CONTROL_SWAPPED)
		at_overflow = !at_overflow;
	struct reference_view v = {
		.counter = &t->general[n],
		.bits = unit->family->bits,
		.enabled = true,
		.system = control & 1 ? 1u << owner : 0,
		.user = control & 2 ? 1u << owner : 0,
		.at_least = control & 4 && unit->defect != REFERENCE_CLOCKS_AS_EVENTS,
		.pin = at_overflow ? PIN_AT_OVERFLOW : PIN_AT_COUNT,
	};

	add_event(unit, &v, n, half & 0x3f);
	return v;
}
