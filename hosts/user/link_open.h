/* SPDX-License-Identifier: MIT */
/*
 * link_open.h: events that programs of the run open (perf_event_open(2)), in the memory of the run.
 *
 * An event has one place in link.open for as long as a descriptor leads to it.  A task that counts
 * it has it in its list, link.opened[i], where i is the task's place in link.follower.  Each task
 * adds what it has counted to the event.  link.open_lock guards both.
 */
#ifndef SOFTPMU_HOST_LINK_OPEN_H
#define SOFTPMU_HOST_LINK_OPEN_H

#include <stdint.h>

#define LINK_OPEN_MAX	512 /* events of a run at a time */
#define LINK_OPENED_MAX 64  /* events that a task counts */

/* Flags of an event, and of its entry in a list. */
#define LINK_OPEN_INHERIT	 1u  /* tasks that a task starts count it, too ... */
#define LINK_OPEN_INHERIT_THREAD 2u  /* ... if they are threads */
#define LINK_OPEN_EXEC_ENABLES	 4u  /* the next execve(2) of the task enables it */
#define LINK_OPEN_EXEC_REMOVES	 8u  /* ... or removes it */
#define LINK_OPEN_ON		 16u /* the task counts it, if its group's leader is on as well */
#define LINK_OPEN_CHILD		 32u /* the task has inherited it */
#define LINK_OPEN_TELLS		 64u /* it wants records of mappings, names or tasks */

/* What the unit counts: as in struct spmu_request. */
struct link_open_request {
	uint64_t select;
	uint32_t code, counters;
	int32_t fixed;
	uint32_t software; /* 1 + PERF_COUNT_SW_ of a software event; 0: it is the unit's */
};

struct link_open {
	uint64_t serial;   /* another event at this place has another; 0: the place is free */
	uint64_t inode;	   /* of its descriptors */
	uint32_t leader;   /* the place of its group's leader; its own: it is one */
	uint32_t tasks;	   /* lists that it is in */
	uint32_t target;   /* the task that it was opened on; 0: it has ended */
	uint32_t flags;	   /* LINK_OPEN_INHERIT to LINK_OPEN_EXEC_REMOVES */
	uint32_t type;	   /* as in struct perf_event_attr */
	uint32_t resets;   /* how often `count` was set to 0 */
	uint32_t switches; /* how often it was switched on or off ... */
	uint32_t switched; /* ... and which of them, the last time */
	uint64_t read_format;
	struct link_open_request request;
	/* Occurrences in tasks that have it, and in those that had inherited it and have ended. */
	uint64_t count, ended;
	uint64_t enabled_ns, running_ns;
};

struct link_opened {
	uint32_t count, reserved;
	struct {
		uint64_t serial;
		uint16_t place;
		uint16_t flags;
		uint32_t switches; /* of the event, which `flags` follow */
	} event[LINK_OPENED_MAX];
};

#endif
