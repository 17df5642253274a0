/* SPDX-License-Identifier: MIT */
/*
 * aggregation.h: the samples of a profile, added up.
 *
 * Samples of one event, command and place with the same chain of callers are one entry.  How they
 * are shown is not decided here: rows.h sorts them into rows, formats/ writes them.
 */
#ifndef SOFTPMU_TOOL_AGGREGATION_H
#define SOFTPMU_TOOL_AGGREGATION_H

#include "tools/softpmu/base/numbering.h"
#include "tools/softpmu/profile/profile.h"

/* A function or, without a known function, an address.  With AGGREGATION_ADDRESSES always an
 * address. */
struct aggregation_place {
	const char *object;
	struct symbol_file *file;    /* NULL: not a mapped file */
	const struct symbol *symbol; /* NULL: unknown */
	uint64_t address;	     /* in the file; 0: any of the function */
	uint64_t ip;		     /* in the process; 0 if `address` is */
	uint32_t function;	     /* the number of the same place without an address */
	char level;		     /* 'k' or '.' */
};

/* The end of a call chain: a place, and the frame that called it.  Frames form trees, in which a
 * frame has a lower number than those that it called. */
struct aggregation_frame {
	uint32_t place;
	uint32_t caller; /* a frame, AGGREGATION_NONE: the outermost */
};

#define AGGREGATION_NONE UINT32_MAX

/* The thread of samples or branches.  What was not asked for is 0. */
struct aggregation_thread {
	const char *comm;
	uint32_t pid, tid, cpu;
};

/* Equal samples. */
struct aggregation_stack {
	struct aggregation_thread thread;
	uint32_t frame; /* of the samples, with its callers */
	uint64_t samples, period;
};

/* Equal branches: the numbers of two places, and flags as in struct perf_branch_entry. */
struct aggregation_branch {
	struct aggregation_thread thread;
	uint32_t from, to;
	uint64_t flags;
	uint64_t count;
};

/* Calls of an exact profile, or a function with what it called. */
struct aggregation_call {
	struct aggregation_thread thread;
	uint32_t from, to; /* places; `from` AGGREGATION_NONE: the function `to` */
	uint64_t times, cost;
};

struct aggregation_event {
	const char *name;
	bool exact;	  /* not samples, but all occurrences */
	bool call_chains; /* its samples have callers */
	bool call_stack;  /* they are instead of branches */
	struct aggregation_stack *stacks;
	struct aggregation_branch *branches;
	struct aggregation_call *calls; /* of an exact profile */
	size_t stack_count, stack_room, branch_count, branch_room, call_count, call_room;
	uint64_t samples, period;
	uint64_t branch_total; /* branches to show, also when they were not asked for */
	struct numbering stack_numbers, branch_numbers;
};

struct aggregation {
	struct profile *profile;
	struct aggregation_place *places;
	size_t place_count, place_room;
	struct aggregation_frame *frames;
	size_t frame_count, frame_room;
	struct numbering place_numbers, frame_numbers;
	struct aggregation_event *events;
	size_t event_count;
	unsigned parts;
};

/* What is added up, and what tells entries apart besides the command and the place. */
enum aggregation_parts {
	AGGREGATION_SAMPLES = 1,
	AGGREGATION_CALLERS = 2, /* of samples; calls */
	AGGREGATION_BRANCHES = 4,
	AGGREGATION_THREADS = 8,
	AGGREGATION_CPUS = 16,
	AGGREGATION_ADDRESSES = 32,
	AGGREGATION_FLAGS = 64, /* of branches */
	/* The sums of an event have the samples that the profile's filter leaves out, too. */
	AGGREGATION_ABSOLUTE = 128,
};

/* Reads all samples of the profile.  The aggregation lives no longer than the profile. */
struct aggregation *aggregation_new(struct profile *profile, unsigned parts);
/* Returns the frame of a sample with its callers.  In a second visit of the same samples the frames
 * are those of the aggregation. */
uint32_t aggregation_frame(struct aggregation *aggregation, const struct profile_sample *sample);

/* Writes the name of a function: "main", "lib.so+0x1234" or "0x1234". */
void aggregation_name(const struct aggregation_place *place, char *text, size_t bytes);

void aggregation_free(struct aggregation *aggregation);

#endif
