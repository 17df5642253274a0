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

#include <hosts/user/perf_event/perf_ring.h>
#include <linux/perf_event.h>
#include <stdint.h>

#define LINK_OPEN_MAX	512 /* events of a run at a time */
#define LINK_OPENED_MAX 64  /* events that a task counts */
#define LINK_RINGS_MAX	512

/* The file of the run's memory has the rings after everything else.  Memory that is not used costs
 * nothing. */
#define LINK_RINGS_BYTES (UINT64_C(16) << 30)

/* Flags of an event, and of its entry in a list. */
#define LINK_OPEN_INHERIT	 1u  /* tasks that a task starts count it, too ... */
#define LINK_OPEN_INHERIT_THREAD 2u  /* ... if they are threads */
#define LINK_OPEN_EXEC_ENABLES	 4u  /* the next execve(2) of the task enables it */
#define LINK_OPEN_EXEC_REMOVES	 8u  /* ... or removes it */
#define LINK_OPEN_ON		 16u /* the task counts it, if its group's leader is on as well */
#define LINK_OPEN_CHILD		 32u /* the task has inherited it */

#define LINK_OPEN_ALL UINT32_MAX /* as a target: all tasks of the run */

/* What the unit counts: as in struct spmu_request. */
struct link_open_request {
	uint64_t select;
	uint32_t code, counters;
	int32_t fixed;
	uint32_t precise;
	uint64_t period;	 /* 0: it only counts; of a rate: the first */
	uint64_t offcore;	 /* the value of a register; 0: none */
	uint32_t load_threshold; /* MSR_PEBS_LD_LAT; 0: it is no event of load latency */
	uint32_t software;	 /* 1 + PERF_COUNT_SW_ of a software event; 0: it is the unit's */
};

struct link_open {
	uint64_t serial; /* another event at this place has another; 0: the place is free */
	uint64_t inode;	 /* of its descriptors, on this device */
	uint64_t device;
	uint32_t leader;   /* the place of its group's leader; its own: it is one */
	uint32_t tasks;	   /* lists that it is in */
	uint32_t target;   /* the task that it was opened on, or LINK_OPEN_ALL; 0: it has ended */
	uint32_t flags;	   /* LINK_OPEN_INHERIT to LINK_OPEN_EXEC_REMOVES */
	uint32_t resets;   /* how often `count` was set to 0 */
	uint32_t switches; /* how often it was switched on or off ... */
	uint32_t switched; /* ... and which of them, the last time */
	uint32_t periods;  /* how often its period was changed */
	int32_t cpu;	   /* -1: all processors */
	uint32_t ring;	   /* 1 + the ring that its records go to; 0: none */
	uint32_t mapped;   /* it has been mapped itself */
	uint32_t named;	   /* its descriptor is a FIFO with this number (opened_wake.c); 0: none */
	uint32_t owner;	   /* the process that opened it */
	uint32_t signals;  /* somebody wants a signal when it is readable (O_ASYNC) */
	uint32_t hangs;	   /* the next signal says that the event is off */
	uint32_t readable; /* a wake-up has not been seen yet */
	int64_t limit;	   /* PERF_EVENT_IOC_REFRESH: overflows until it is switched off; 0: none */
	struct perf_event_attr attr;
	struct link_open_request request;
	/* Occurrences in tasks that have it, and in those that had inherited it and have ended. */
	uint64_t count, ended;
	uint64_t enabled_ns, running_ns;
	uint64_t lost; /* samples */
};

/* A ring of records.  Its place in the file and its size never change, so that processes can keep
 * it mapped. */
struct link_ring {
	uint64_t offset, bytes; /* with its first page; 0: the place has not been used */
	uint32_t users;		/* events whose records go there; 0: it is free */
	uint32_t lock;		/* the task that writes; 0: none */
	uint32_t reader;	/* the process that mapped it */
	uint64_t stalled;	/* 1 + how far the reader was when it did not go on */
	struct perf_ring ring;
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
