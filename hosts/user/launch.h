/* SPDX-License-Identifier: MIT */
/*
 * launch.h: the tool's side of hosts/user: check a program, start the engine
 * in its place, drain the ring until it has ended.
 */
#ifndef SOFTPMU_HOST_LAUNCH_H
#define SOFTPMU_HOST_LAUNCH_H

#include <sys/resource.h>

#include <hosts/user/link.h>
#include <softpmu/signals.h>

/* What hosts/user supplies: everything that follows from execution. */
extern const struct spmu_supply launch_supply;

/* A program that can be run. */
struct launch_program {
	char *file;  /* what is executed: for a script, the script */
	char *path;  /* the ELF file: for a script, its interpreter */
	char **argv; /* NULL-terminated; for a script as the kernel builds it */
	char *name;  /* as the user gave it, for messages */
};

/*
 * Find the program in PATH as a shell does, follow `#!`, check the ELF header.
 * 0, or the exit status (126, 127) with *error a line to free().
 */
int launch_find(struct launch_program *program, char **argv, char **error);
void launch_forget(struct launch_program *program);

/*
 * Called with each record of the ring and its TSC as CLOCK_MONOTONIC's nanoseconds, and about every
 * 100 ms with NULL and the time.  With LINK_REC_TRACE `trace` is its BTS records, valid
 * until the call returns; else NULL.
 */
typedef void launch_sink(void *opaque, const struct link_record *record, uint64_t time_ns,
			 const void *trace);

struct launch_request {
	const char *model;
	unsigned threads;
	const struct link_event *event;
	size_t events;
	uint32_t want;	     /* LINK_WANT_ */
	uint64_t lbr_select; /* MSR_LBR_SELECT */
	launch_sink *sink;   /* NULL: there are no records */
	void *opaque;
};

enum launch_end {
	LAUNCH_DONE,	    /* the program ended; counts are final */
	LAUNCH_LOST,	    /* it was killed before the engine could say its counts */
	LAUNCH_UNSUPPORTED, /* the program did what cannot be run yet */
	LAUNCH_FAILED,	    /* the engine could not run it */
	LAUNCH_ERROR,	    /* it was not started */
};

struct launch_result {
	enum launch_end end;
	int status;    /* what the tool should exit with */
	int signal;    /* that ended the program, 0 for none */
	int core;      /* it dumped core */
	int asked;     /* SIGINT, SIGTERM... that the tool got meanwhile, 0 for none */
	char *message; /* what to say; NULL: nothing.  free() */

	unsigned natives; /* programs that ran natively and were not counted */
	char native[256]; /* the first of them, and why */
	unsigned missing; /* processes that still run or were killed: their counts are not there */
	int pid;
	uint64_t count[LINK_EVENTS_MAX];
	uint64_t tsc_start, tsc_end; /* around the program's run; 0: unknown */
	uint64_t units, interrupts, records, buffer_full, blocks, kept_blocks, cache_bytes;
	uint64_t elapsed_ns; /* from fork to the end */
	struct rusage usage; /* of the program */
	uint64_t end_ns;     /* CLOCK_MONOTONIC when it had ended */
};

/* Run it to the end.  result->message is to be freed. */
void launch_run(const struct launch_program *program, const struct launch_request *request,
		struct launch_result *result);

#endif
