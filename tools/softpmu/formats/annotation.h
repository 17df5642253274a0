/* SPDX-License-Identifier: MIT */
/* annotation.h: the hot instructions of a profile. */
#ifndef SOFTPMU_TOOL_ANNOTATION_H
#define SOFTPMU_TOOL_ANNOTATION_H

#include "tools/softpmu/profile/profile.h"

struct annotation_options {
	const char *wanted; /* name of a function; NULL: the hottest */
	/* Of an event's count: without a name, functions with less are left out. */
	double percent_limit;
	bool intel;  /* Intel's syntax, otherwise AT&T's */
	size_t most; /* functions of an event; 0: no limit */
	bool quiet;  /* it is no error if there is nothing to show */
};

/* A function of one event, and its code. */
struct annotated_function {
	size_t event;
	const struct symbol *symbol;
	const char *object;
	uint64_t samples, period;
	uint64_t total; /* period of the event */
	size_t bytes;	/* of its code; 0: it is in no file */
};

struct annotated_insn {
	uint64_t address; /* in the file */
	const char *text;
	uint64_t period;
	const char *source; /* NULL: unknown; equal files are mostly the same pointer */
	int line;
};

/* What is called for each function, the hottest of each event first, and for its instructions in
 * the order of their addresses. */
struct annotation_view {
	void (*begin)(void *opaque, const struct annotated_function *function);
	void (*insn)(void *opaque, const struct annotated_function *function,
		     const struct annotated_insn *insn);
	void (*end)(void *opaque, const struct annotated_function *function);
};

/* Visits the functions that the options choose.  Returns the exit status. */
int annotation_visit(struct profile *profile, const struct annotation_options *options,
		     const struct annotation_view *view, void *opaque);

/* annotation_text.c */
/* Writes to standard output, as `perf annotate --stdio`.  Returns the exit status. */
int annotation_text_write(struct profile *profile, const struct annotation_options *options);

#endif
