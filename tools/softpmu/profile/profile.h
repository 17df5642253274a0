/* SPDX-License-Identifier: MIT */
/*
 * profile.h: the samples of a perf.data, or the instructions of an exact profile, each with its
 * command, file and function.
 */
#ifndef SOFTPMU_TOOL_PROFILE_H
#define SOFTPMU_TOOL_PROFILE_H

#include "tools/softpmu/exact/exact.h"
#include "tools/softpmu/profile/filter.h"
#include "tools/softpmu/symbols/symbols.h"

struct profile {
	struct perfdata_reader *reader; /* NULL: an exact profile */
	struct exact *exact;		/* NULL: a perf.data */
	struct symbol **names;		/* of an exact profile, by object */
	char *path;
	bool incomplete;      /* the file could not be read to its end */
	struct filter filter; /* what profile_each() visits: the caller sets it */

	/* Of a file whose records are not in order of time: where they are, in that order. */
	struct profile_entry *entries;
	size_t count, room;
	struct processes *processes; /* what is mapped where: processes.h */
};

/* Where an address of a process is.  Texts are interned: equal ones are the same pointer. */
struct profile_place {
	uint64_t ip;
	const char *object; /* path of the mapped file, "[JIT] tid N", "[kernel]", "[unknown]" */
	struct symbol_file *file;    /* NULL: not a mapped file */
	uint64_t address;	     /* in the file; the ip when there is no file */
	const struct symbol *symbol; /* NULL: unknown */
	char level;		     /* 'k' or '.', as perf marks symbols */
};

struct profile_branch {
	struct profile_place from, to;
	uint64_t flags; /* as in struct perf_branch_entry */
};

struct profile_sample {
	size_t event;
	uint64_t count; /* samples, or how often the instruction ran */
	uint64_t period, time_ns;
	uint64_t data_address; /* 0: not recorded */
	uint64_t data_source;  /* union perf_mem_data_src; 0: not known */
	uint64_t weight;       /* core clocks of a load; 0: not known */
	uint32_t pid, tid, cpu;
	const char *comm;
	struct profile_place at;
	/* What was not asked for is NULL, but the numbers are those of the file. */
	const struct profile_branch *branches; /* the newest first */
	const struct profile_place *callers;   /* calls that had not returned, innermost first */
	size_t branch_count, caller_count;
};

/*
 * Opens the file and reads its records.  Returns NULL after a message.  If the file ends too early,
 * a message says so and the records before are used.
 */
struct profile *profile_open(const char *path, const char *root);
void profile_close(struct profile *profile);

/* What a visitor asks for besides the sample itself.  PROFILE_ALL: samples that the filter leaves
 * out, too. */
enum profile_parts { PROFILE_BRANCHES = 1, PROFILE_CALLERS = 2, PROFILE_ALL = 4 };

/* Is called for each sample, in order of time.  A branch of a trace is a sample at its source, and
 * holds itself as its only branch. */
typedef void profile_visitor(void *opaque, const struct profile_sample *sample);
void profile_each(struct profile *profile, unsigned parts, profile_visitor *visit, void *opaque);

/*
 * Is called for each call of an exact profile, and for each function with what it called.  The cost
 * of a recursion is there once.
 */
struct profile_call {
	size_t event;
	uint64_t times, cost;
	uint32_t pid, tid;
	const char *comm;
	bool is_call; /* otherwise a function */
	struct profile_place from, to;
};
typedef void profile_call_visitor(void *opaque, const struct profile_call *call);
void profile_exact_calls(struct profile *profile, profile_call_visitor *visit, void *opaque);

/* Visits the instructions of an exact profile.  Called by profile_each(). */
void profile_exact_insns(struct profile *profile, profile_visitor *visit, void *opaque);
/* Make and free `names`. */
void profile_exact_names(struct profile *profile);
void profile_exact_free_names(struct profile *profile);

size_t profile_event_count(const struct profile *profile);
const char *profile_event_name(const struct profile *profile, size_t event);

/* Returns what the file says about the run (src/perfdata/perfdata.h), or NULL. */
const char *profile_about(const struct profile *profile, const char *what);

/* Returns true if samples of the event have call chains. */
bool profile_has_callers(const struct perfdata_event *event);

/* Returns true if the branches of its samples are not branches to show, but calls that had not
 * returned. */
bool profile_has_call_stack(const struct perfdata_event *event);

/* Returns the last component of a path, as lists show it. */
const char *profile_short(const char *object);

/* Says on standard error that no sample is used. */
void profile_say_empty(const struct profile *profile);

/* Says on standard error why the names of a file's functions are not known. */
void profile_complain(const struct symbol_file *file);

#endif
