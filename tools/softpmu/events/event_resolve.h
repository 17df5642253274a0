/* SPDX-License-Identifier: MIT */
/*
 * event_resolve.h: what an event's code and the modifiers around its name mean on a model.
 */
#ifndef SOFTPMU_EVENT_RESOLVE_H
#define SOFTPMU_EVENT_RESOLVE_H

#include "tools/softpmu/events/event_names.h"
#include "tools/softpmu/events/events.h"

/* Everything around an event's name. */
#define PRECISE_MAX 3
struct modifiers {
	bool user, kernel, hypervisor, guest, host; /* given as a letter */
	unsigned precise;			    /* the number of letters p */
	uint64_t select;			    /* EDGE, ANY, INV, CMASK */
	uint64_t period, frequency;
	uint64_t load_threshold; /* ldlat=; 0: not given */
	uint64_t frontend;	 /* frontend=; 0: not given */
	uint64_t offcore;	 /* offcore_rsp=; 0: not given */
	char *name;		 /* name= */
	char *tag;		 /* tag= */
};

/* Fills in all of the event but its name and group. */
void event_resolve(struct event *event, const struct spmu_model *model,
		   const struct event_code *code, const struct modifiers *modifiers);

/* Returns the model's event that counts the same as the row and can be precise, or NULL. */
const struct spmu_event *event_resolve_precise_twin(const struct spmu_model *model,
						    const struct spmu_event *row);

#endif
