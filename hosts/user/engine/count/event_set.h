/* SPDX-License-Identifier: MIT */
/*
 * event_set.h: the events of a thread, which come and go while it runs (event_set.c).
 *
 * A set counts by units of its own: first one, then as many as its events need, so that nothing is
 * multiplexed.  It knows the units by their drivers alone.  A thread has one set; a thread that it
 * starts, and a process, begin with a new set of the same events.
 */
#ifndef SOFTPMU_ENGINE_EVENT_SET_H
#define SOFTPMU_ENGINE_EVENT_SET_H

#include <softpmu/driver.h>

#define SET_UNITS_MAX  8
#define SET_EVENTS_MAX 64

/* Returns the driver of one more unit, which is ready and has no events; NULL: there is none. */
typedef struct spmu_driver *event_set_unit(void *opaque, unsigned number);

struct event_set {
	event_set_unit *more;
	void *opaque;
	struct spmu_driver *unit[SET_UNITS_MAX];
	unsigned units;
	bool traces; /* the first unit runs without an enabled event, too: it traces branches */
	/* Of each unit: its events whose samples have last branch records, and MSR_LBR_SELECT. */
	struct {
		unsigned events;
		uint64_t select;
	} branches[SET_UNITS_MAX];
	struct {
		bool used, enabled, branches;
		uint8_t unit, slot;
	} event[SET_EVENTS_MAX];
};

/* Makes a set that has one unit and no events, and is stopped.  SPMU_E_SPACE: there is no unit. */
enum spmu_status event_set_create(struct event_set *set, event_set_unit *more, void *opaque);

/*
 * Adds an event, which is enabled, to a set that is stopped.  `starter` is not NULL for a cascade
 * (spmu_driver_add_cascade()).  *event gets the number by which the event is named from then on.
 * SPMU_E_COUNTER: no counter of the model can take it; SPMU_E_SPACE: there are too many events, or
 * the units are used up; else as spmu_driver_add().
 */
enum spmu_status event_set_add(struct event_set *set, const struct spmu_request *request,
			       const struct spmu_request *starter, unsigned *event);

/* The same, and samples have last branch records by this MSR_LBR_SELECT.  Events with different
 * ones are on different units. */
enum spmu_status event_set_add_with_branches(struct event_set *set,
					     const struct spmu_request *request, uint64_t select,
					     unsigned *event);

/*
 * Each of these needs a set that is stopped, and an event that was added.  A disabled event keeps
 * its counter, its count and what is left of its period, and costs nothing.
 */
void event_set_remove(struct event_set *set, unsigned event);
void event_set_enable(struct event_set *set, unsigned event, bool enabled);

/* Occurrences since the event was added.  The set may run. */
uint64_t event_set_read(struct event_set *set, unsigned event);

/* Returns the number by which RDPMC reads the counter of an event, and its width in bits; false: it
 * is not on the first unit. */
bool event_set_rdpmc(const struct event_set *set, unsigned event, uint32_t *number, unsigned *bits);

/* Changes the period of an event that is sampled (spmu_driver_set_period()).  The set may run. */
enum spmu_status event_set_period(struct event_set *set, unsigned event, uint64_t period);

/* Starts the units that have an enabled event, and the first one if it traces branches.  Stops
 * all units; samples that wait in their buffers are handed out.  The result is the first that is
 * not SPMU_OK. */
enum spmu_status event_set_start(struct event_set *set);
enum spmu_status event_set_stop(struct event_set *set);

#endif
