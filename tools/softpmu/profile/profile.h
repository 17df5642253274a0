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

	struct profile_entry *entries; /* the records, in order of time */
	size_t count, room;
	struct profile_copy *copies;
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
};

struct profile_sample {
	size_t event;
	uint64_t period;
	const char *comm;
	struct profile_place at;
	const struct profile_branch *branches; /* the newest first; NULL unless asked for */
	size_t branch_count;
};

/*
 * Opens the file and reads its records.  Returns NULL after a message.  If the file ends too early,
 * a message says so and the records before are used.
 */
struct profile *profile_open(const char *path, const char *root);
void profile_close(struct profile *profile);

/* Is called for each sample, in order of time.  A branch of a trace is a sample at its source. */
typedef void profile_visitor(void *opaque, const struct profile_sample *sample);
void profile_each(struct profile *profile, profile_visitor *visit, void *opaque);

/* The same, with the branches that each sample holds.  A branch of a trace holds itself. */
void profile_each_with_branches(struct profile *profile, profile_visitor *visit, void *opaque);

/* Returns the last component of a path, as lists show it. */
const char *profile_short(const char *object);

/* Says on standard error why the names of a file's functions are not known. */
void profile_complain(const struct symbol_file *file);

#endif
