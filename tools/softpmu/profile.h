/* SPDX-License-Identifier: MIT */
/*
 * profile.h: the samples of a perf.data, each with the command, file and
 * function it fell into.
 */
#ifndef SOFTPMU_TOOL_PROFILE_H
#define SOFTPMU_TOOL_PROFILE_H

#include "src/perfdata/perfdata.h"
#include "tools/softpmu/symbols.h"

struct profile {
	struct perfdata_reader *reader;
	char *path;
	bool incomplete; /* the file could not be read to its end */

	struct profile_entry *entries; /* the records, in order of time */
	size_t count, room;
	struct profile_copy *copies;
	struct spaces *spaces; /* what is mapped where: spaces.h */
};

/* Texts are interned: equal ones are the same pointer. */
struct profile_sample {
	size_t event;
	uint64_t ip, period;
	const char *comm;
	const char *object; /* path of the mapped file, "[JIT] tid N", "[kernel]", "[unknown]" */
	struct symbol_file *file;    /* NULL: not a mapped file */
	uint64_t address;	     /* in the file; the ip when there is no file */
	const struct symbol *symbol; /* NULL: unknown */
	char level;		     /* 'k' or '.', as perf marks symbols */
};

/*
 * Open the file and read its records.  NULL after a line on standard error.
 * A file that ends too early is said so in a line, and what came before is used.
 */
struct profile *profile_open(const char *path, const char *root);
void profile_close(struct profile *profile);

/* What is called for each sample, and for each branch that samples or traces hold, in order of
 * time. A branch of a trace is a sample, too, where it is from.  NULL: not wanted. */
struct profile_visitor {
	void (*sample)(void *opaque, const struct profile_sample *sample);
	void (*branch)(void *opaque, const struct profile_sample *from,
		       const struct profile_sample *to);
	void *opaque;
};
void profile_visit(struct profile *profile, const struct profile_visitor *visitor);

/* Call `each` for every sample, in order of time. */
void profile_each(struct profile *profile,
		  void (*each)(void *opaque, const struct profile_sample *sample), void *opaque);

/* The last component of a path: how lists show a file. */
const char *profile_short(const char *object);

/* One line on standard error for each file with many samples whose names could not be had. */
void profile_complain(const struct symbol_file *file);

/* The comment lines that begin a listing: what was recorded, with what and where. */
void profile_print_about(const struct profile *profile);

#endif
