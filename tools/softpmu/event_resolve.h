/* SPDX-License-Identifier: MIT */
/*
 * event_resolve.h: what an event's code and the modifiers around its name come to on a model.
 */
#ifndef SOFTPMU_EVENT_RESOLVE_H
#define SOFTPMU_EVENT_RESOLVE_H

#include "event_names.h"
#include "events.h"

/* Everything that stands around an event's name. */
#define PRECISE_MAX 3
struct modifiers {
	bool user, kernel, hypervisor, guest, host; /* asked for by a letter */
	unsigned precise;			    /* how many letters p */
	uint64_t select;			    /* EDGE, ANY, INV, CMASK */
	uint64_t period, frequency;
	char *name; /* name= */
	char *tag;  /* tag= */
};

/* Fill in everything of the event but its name and group, the reason of absence included. */
void event_resolve(struct event *event, const struct spmu_model *model,
		   const struct event_code *code, const struct modifiers *modifiers);

#endif
