/* SPDX-License-Identifier: MIT */
/*
 * units.h: what a thread counts with: its units, and the shards of their headroom (units.c,
 * shards.c, counting.c).
 */
#ifndef SOFTPMU_ENGINE_UNITS_H
#define SOFTPMU_ENGINE_UNITS_H

#include <softpmu/softpmu.h>

#include "engine/count/event_set.h"
#include "engine/count/count.h"
#include "engine/count/windows.h"

#define MSR_PEBS_LD_LAT 0x3f6u

struct unit {
	const struct spmu_model *model;
	struct spmu_core *core;
	struct spmu_meters meters, siblings; /* of both threads of the core */
	struct spmu_driver driver;
	bool interrupt_due;
	/* This is kept when the unit is reset. */
	struct {
		void *core;
		uint8_t *ds;
	} memory;
};

/* The counting of a thread. */
struct counting {
	struct event_set set; /* set.unit[u] is unit[u].driver */
	enum counting_mode mode;
	uint64_t on;	      /* which events the set counts, as in link.events_on */
	uint64_t now_next_ip; /* of the instruction that is being retired */
	/* Instructions that may run in bulk until a meter that a model of the machine counts can
	 * use up its headroom; or all, if the model sees windows.  No unit has this meter. */
	struct spmu_meter window;
	bool samples;		  /* some event of the run is sampled */
	struct link_sample *room; /* for a record; NULL: the tool wants no samples */
	bool addresses;		  /* and its records have the address of an access */
	struct windows windows;
	/* Static clocks, in parts: those of the step, and what is not a whole clock yet. */
	unsigned step_parts, clock_parts;
	struct {
		uint64_t at;	/* where control came to after the last branch */
		unsigned parts; /* of a clock, which have passed since */
	} branch;
	int64_t handed_out; /* headroom used since the last quantum */
	uint64_t start_tsc, start_ns;
	struct {
		uint8_t number; /* in the set */
		bool added;
		uint64_t last_tsc;
		uint64_t period, least; /* without jitter */
		uint64_t random;	/* state of the sequence of jitter */
		uint64_t published;	/* the part of its count that the tool knows */
	} event[LINK_EVENTS_MAX];
	/* For static clocks; NULL: not needed yet. */
	struct spmu_timeline *scratch; /* path_clocks.c */
	struct pieces *pieces;	       /* pieces.c */
	struct unit unit[UNITS_MAX];
	/* In bulk mode a unit's headroom is in the shards. */
	struct {
		struct spmu_meter *unit;
		bool modelled;	 /* the model of the machine counts it */
		int64_t reserve; /* reserve in the current mode */
		int64_t held;	 /* not in the shards of bulk code: the next quanta */
		int64_t granted[SHARDS];
		uint64_t used[SHARDS]; /* recent use, by which the next grant is divided */
	} meter[SHARDED_METERS];
};

/* Precise mode: returns what a thread has counted of an event of the tool. */
static inline uint64_t counting_of(struct counting *c, unsigned e)
{
	return c->event[e].added ? event_set_read(&c->set, c->event[e].number) : 0;
}

/* Returns whether one unit can count all of them at a time.  The engine's lock is held. */
bool units_fit(struct spmu_request *request, unsigned requests);

/* Precise mode: which of the tool's events count, as in link.events_on. */
void units_switch(uint64_t on);

#endif
