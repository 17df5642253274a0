/* SPDX-License-Identifier: MIT */
/*
 * events.h: event names as perf, Intel and libpfm4 write them, turned into
 * what a counter is programmed with.
 */
#ifndef SOFTPMU_EVENTS_H
#define SOFTPMU_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softpmu/model.h>

struct event {
	char *name;		      /* as shown, modifiers included: "instructions:u" */
	const struct spmu_event *row; /* the model's, NULL for a code that it does not list */
	uint64_t select; /* IA32_PERFEVTSELx, EN and INT clear; where there is none its flags */
	uint32_t code, tagger;	     /* as struct spmu_request has them */
	uint32_t counters;	     /* general counters that can count it */
	int fixed;		     /* fixed counter that counts the same, or -1 */
	unsigned precise;	     /* number of p's: 0 to 3 */
	uint64_t period;	     /* from period=; 0: not given */
	uint64_t frequency;	     /* from freq=; 0: not given */
	enum spmu_fidelity fidelity; /* on this host; SPMU_ABSENT also for :k */
	const char *absent_reason;   /* why it is absent, one phrase; NULL otherwise */
	bool trace;		     /* intel_bts: a trace of branches, not a counter's */
	bool data_address;	     /* a PEBS record of it has a data linear address */
	uint32_t perf_type;	     /* perf_event_attr.type */
	uint64_t perf_config;	     /* perf_event_attr.config */
	bool exclude_user, exclude_kernel;
	int group; /* number of its {group}, or -1 */
};

struct event_list {
	struct event *event;
	size_t count;
};

/*
 * Add the events of a comma-separated list.  False when one is wrong; *error is then a line
 * (without a newline) to free() that names it and what is similar.
 */
bool events_parse(struct event_list *list, const struct spmu_model *model, const char *text,
		  char **error);
void events_free(struct event_list *list);

/* The model's event that counts the same as the row and can be precise; NULL when there is none. */
const struct spmu_event *events_precise_twin(const struct spmu_model *model,
					     const struct spmu_event *row);

/* perf's generic names, for lists: name number `index`, NULL past the last; *code gets what the
 * event is encoded as, *row the model's row of it or NULL. */
const char *events_generic(const struct spmu_model *model, size_t index,
			   const struct spmu_event **row, uint32_t *code);

/*
 * The name of a select register's value with its modifiers, "BR_INST_RETIRED.NEAR_TAKEN:c=2:i", to
 * free().  The model's row first, then libpfm4's; "rUUEE" when no name is known.
 */
char *events_name_of_select(const struct spmu_model *model, uint64_t select);

#endif
