/* SPDX-License-Identifier: MIT */
/*
 * events.h: event names as perf, Intel and libpfm4 write them, and how a counter is programmed for
 * them.
 */
#ifndef SOFTPMU_EVENTS_H
#define SOFTPMU_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softpmu/model.h>

#include "tools/softpmu/events/event_kernel.h"

struct event {
	char *name;		      /* as shown, with modifiers: "instructions:u" */
	const struct spmu_event *row; /* the model's; NULL: it does not list the code */
	uint64_t select;    /* IA32_PERFEVTSELx with EN and INT clear; its flags on other units */
	uint64_t code;	    /* as in struct spmu_request ... */
	uint32_t tagger;    /* ... this, too */
	uint32_t counters;  /* general counters that can count it */
	int fixed;	    /* fixed counter that counts the same, or -1 */
	unsigned precise;   /* number of p's: 0 to 3 */
	uint64_t period;    /* from period=; 0: not given */
	uint64_t frequency; /* from freq=; 0: not given */
	uint64_t load_threshold;     /* of an event of load latency; 0: it is none */
	uint64_t frontend;	     /* MSR_PEBS_FRONTEND for the event; 0: it needs none */
	uint64_t offcore;	     /* MSR_OFFCORE_RSP_x for the event; 0: it needs none */
	enum spmu_fidelity fidelity; /* on this host; SPMU_ABSENT also for :k */
	const char *absent_reason;   /* a phrase; NULL: not absent */
	bool trace;		     /* intel_bts: a trace of branches, which no counter counts */
	bool data_address;	     /* its PEBS records have a data linear address */
	uint32_t perf_type;	     /* perf_event_attr.type */
	uint64_t perf_config;	     /* perf_event_attr.config */
	bool exclude_user, exclude_kernel;
	enum event_kernel kernel; /* one of the kernel's events, not the unit's */
	int group;		  /* number of its {group}, or -1 */
};

struct event_list {
	struct event *event;
	size_t count;
	bool kernel; /* events_parse() takes the kernel's events, too */
};

/*
 * Adds the events of a list.  Returns false if one is wrong.  *error is then a line (without a
 * newline) to free() that names it and similar names.
 */
bool events_parse(struct event_list *list, const struct spmu_model *model, const char *text,
		  char **error);
void events_free(struct event_list *list);

#endif
