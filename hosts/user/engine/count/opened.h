/* SPDX-License-Identifier: MIT */
/*
 * opened.h: the events that programs have opened, as the running task counts them (opened.c).
 *
 * The task's list in the memory of the run says what it is to count.  Other tasks change it.  The
 * task takes that over at a boundary between two instructions: current->opened is what it counts.
 */
#ifndef SOFTPMU_ENGINE_OPENED_H
#define SOFTPMU_ENGINE_OPENED_H

#include <hosts/user/link.h>
#include <hosts/user/perf_event/perf_state.h>
#include <stdbool.h>

struct context;
struct perf_event_mmap_page;

struct opened_event {
	uint64_t serial;
	uint16_t place;
	uint16_t flags;	   /* LINK_OPEN_ */
	uint32_t switches; /* as in the list */
	bool gone;	   /* it is no longer in the list */
	bool added;	   /* it is in the event set, as `number` */
	uint8_t number;
	uint64_t published;   /* the part of its count that is in the memory of the run ... */
	uint64_t contributed; /* ... and in link_open.count */
	uint32_t resets;
	struct perf_times times;	   /* since they were published */
	struct perf_event_mmap_page *page; /* the engine's view of it; NULL: it is not mapped */
	/* Of an event that samples. */
	uint32_t periods;		  /* as in the event */
	uint64_t period, least, last_tsc; /* of a rate */
	uint64_t last_ns;		  /* of a clock: the task's time at the last sample */
};

struct opened_room;

struct opened {
	unsigned count;
	struct opened_room *room; /* for samples; NULL: no event has sampled */
	struct opened_event event[LINK_OPENED_MAX];
};

/* Returns true if the run serves perf_event_open(2). */
bool opened_wanted(void);
/* Returns true if the task has any. */
bool opened_any(void);

/* Gives a task that has none yet an empty list. */
void opened_begin(struct context *c);
/* The task *c, which is about to start, begins with what it inherits from the running one. */
void opened_inherit(struct context *c, bool is_thread);
/* The running task is a copy of the one that called fork(2): leaves it what it inherits. */
void opened_begin_process(void);
/* Writes what the task counts to its list, which is empty. */
void opened_enlist(struct link_opened *list);
/* The task's program was executed: takes the list over from the program before.  Nothing counts
 * yet. */
void opened_adopt(struct link_opened *list);
/* The units have been made again: nothing is in the event set. */
void opened_begin_units(void);

/* Counts what the list says from now on.  NULL: nothing. */
void opened_follow(const struct link_opened *list);
/* Gives the event a page to write.  Returns false if the task does not count it. */
bool opened_map(uint64_t serial, struct perf_event_mmap_page *page);
/* Writes the pages of all events anew. */
void opened_write_pages(void);
/* Adds what has been counted to the events. */
void opened_publish(void);
/* The task ends: the same, for good. */
void opened_end(void);

/* The running task's events do not count while a vfork child runs with its units, whose own they
 * become.  Returns them; then gives them back, with `killed` if the units are about to be made
 * again. */
struct opened *opened_lend(void);
void opened_take_back(struct opened *own, bool killed);

#endif
