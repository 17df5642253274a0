/* SPDX-License-Identifier: MIT */
/*
 * profile.h: the samples of a perf.data, each with its command, file and function.
 */
#ifndef SOFTPMU_TOOL_PROFILE_H
#define SOFTPMU_TOOL_PROFILE_H

#include "src/perfdata/perfdata.h"
#include "tools/softpmu/symbols/symbols.h"

struct profile {
	struct perfdata_reader *reader;
	char *path;
	bool incomplete; /* the file could not be read to its end */

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
	uint64_t period, time_ns;
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

/* What a visitor asks for besides the sample itself. */
enum profile_parts { PROFILE_BRANCHES = 1, PROFILE_CALLERS = 2 };

/* Is called for each sample, in order of time.  A branch of a trace is a sample at its source, and
 * holds itself as its only branch. */
typedef void profile_visitor(void *opaque, const struct profile_sample *sample);
void profile_each(struct profile *profile, unsigned parts, profile_visitor *visit, void *opaque);

/* Returns true if samples of the event have call chains. */
bool profile_has_callers(const struct perfdata_event *event);

/* Returns true if the branches of its samples are not branches to show, but calls that had not
 * returned. */
bool profile_has_call_stack(const struct perfdata_event *event);

/* Returns the last component of a path, as lists show it. */
const char *profile_short(const char *object);

/* Says on standard error why the names of a file's functions are not known. */
void profile_complain(const struct symbol_file *file);

#endif
