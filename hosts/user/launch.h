/* SPDX-License-Identifier: MIT */
/*
 * launch.h: the tool's side of hosts/user: starts the engine in a program's place and drains the
 * ring until the program has ended.
 */
#ifndef SOFTPMU_HOST_LAUNCH_H
#define SOFTPMU_HOST_LAUNCH_H

#include <sys/resource.h>

#include <hosts/user/link.h>
#include <hosts/user/program.h>
#include <softpmu/uarch_time.h>

/* The sum of the engine's image, which files of saved translations name. */
extern const uint64_t engine_image_sum;

/* The signals that hosts/user supplies: everything that follows from execution.  After
 * launch_use_machine() also what a model of the machine counts. */
extern struct spmu_supply launch_supply;

/* What clocks there are, if the machine has a core in softpmu/uarch_time.h. */
enum launch_clocks {
	LAUNCH_CLOCKS_NONE,
	LAUNCH_CLOCKS_TIMELINE, /* of a timeline, which no sample can name */
	LAUNCH_CLOCKS_STATIC,	/* static ones, of each instruction */
};
void launch_use_machine(const struct spmu_machine *machine, enum launch_clocks clocks);

/*
 * Is called with each record of the ring and the record's time in nanoseconds of CLOCK_MONOTONIC,
 * and about every 100 ms with NULL and the time.  `trace` is the BTS records of LINK_REC_TRACE,
 * valid until the call returns, otherwise NULL.
 */
typedef void launch_sink(void *opaque, const struct link_record *record, uint64_t time_ns,
			 const void *trace);

/* Is called at the end with the regions of the program, and with how many entries of regions there
 * was no place for. */
typedef void launch_regions(void *opaque, const struct link_region *region, size_t count,
			    uint32_t lost);

/* Finds functions in a mapping with code.  Writes their addresses and regions, at most `room`, and
 * returns how many there are.  A region is one of `region`, which has a new name there. */
typedef size_t launch_points(void *opaque, const struct link_mmap *mmap, struct link_region *region,
			     struct link_point *point, size_t room);

/* Is given what the run has counted of each event `passed_ns` after its start.  Returns false to be
 * given no more. */
typedef bool launch_interval(void *opaque, uint64_t passed_ns,
			     const uint64_t count[LINK_EVENTS_MAX]);

/* Events that count only part of the time, or are shown while they count, as with perf's -D,
 * --control and -I. */
struct launch_control {
	bool off;	       /* they do not count at the start */
	const uint32_t *times; /* when they are switched, in milliseconds after the start, in
				    order: on and off in turn if `off`, otherwise off and on */
	size_t time_count;
	/* After each `interval_ms` the counts until then are given to `interval`, by another thread
	 * than that of launch_run().  0: never. */
	uint32_t interval_ms;
	launch_interval *interval;
	void *opaque;
	uint32_t end_ms;	 /* when the program gets SIGTERM; 0: never */
	int command_fd;		 /* where commands come from; -1: there are none */
	int acknowledge_fd;	 /* where they are acknowledged; -1: nowhere */
	const char *const *name; /* of each event of the request */
};

struct launch_request {
	const char *model;
	const struct spmu_machine *machine; /* that counts modelled events; NULL: none */
	enum launch_clocks clocks;
	bool branch_clocks;   /* last branch records have static clocks */
	bool judges_branches; /* and say what the machine predicts */
	unsigned threads;
	const struct link_event *event;
	size_t events;
	uint32_t want;		 /* LINK_WANT_ */
	uint64_t lbr_select;	 /* MSR_LBR_SELECT */
	uint64_t load_threshold; /* MSR_PEBS_LD_LAT; 0: no event needs it */
	uint64_t frontend;	 /* MSR_PEBS_FRONTEND; 0: no event needs it */
	uint32_t stack_bytes;	 /* with LINK_WANT_STACKS: of a copy, at most LINK_STACK_MAX */
	/* Windows that the machine's model sees: instructions of each, those before that warm it
	 * up, and those that it skips.  0: it sees all. */
	uint32_t window_count, window_warm, window_skip;
	const char *tree; /* the folder of what programs see of the unit; NULL: what is there */
	/* Is told of the shared memory before the program starts.  NULL: nobody wants to know. */
	void (*prepare)(void *opaque, struct link *link);
	launch_sink *sink;	 /* NULL: no records are needed */
	launch_regions *regions; /* NULL: not wanted */
	void *opaque;		 /* of both */
	launch_points *points;	 /* functions that are regions; NULL: there are none */
	void *points_opaque;
	bool begins_stopped; /* no event counts until a request of valgrind starts it */
	bool events_off;     /* none counts outside of functions of --toggle */
	const struct launch_control *control; /* NULL: all events count all the time */
};

enum launch_end {
	LAUNCH_DONE,	    /* the program ended; the counts are final */
	LAUNCH_LOST,	    /* it was killed before the engine could publish its counts */
	LAUNCH_UNSUPPORTED, /* the program did something that cannot be followed */
	LAUNCH_FAILED,	    /* the engine could not run it */
	LAUNCH_ERROR,	    /* it was not started */
};

struct launch_result {
	enum launch_end end;
	int status;    /* the exit status for the tool */
	int signal;    /* the signal that ended the program, 0: none */
	int core;      /* there is a core dump */
	int asked;     /* the signal (SIGINT, SIGTERM...) that the tool got meanwhile, 0: none */
	char *message; /* for the user, to free(); NULL: nothing to say */

	unsigned natives; /* programs that ran natively, without counts */
	char native[256]; /* the first of them, and the reason */
	unsigned refused; /* requests of valgrind that were not done */
	unsigned missing; /* processes without counts: they still run or were killed */
	int pid;
	uint64_t count[LINK_EVENTS_MAX];
	struct link_windows windows;
	uint64_t tsc_start, tsc_end; /* around the program's own run; 0: not known */
	uint64_t units, interrupts, records, buffer_full, blocks, cached_blocks, cache_bytes;
	uint64_t elapsed_ns; /* from the start of the child to the end */
	struct rusage usage; /* of the program */
	uint64_t end_ns;     /* CLOCK_MONOTONIC at the end */
};

/* Runs the program to its end. */
void launch_run(const struct launch_program *program, const struct launch_request *request,
		struct launch_result *result);

#endif
