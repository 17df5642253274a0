/* SPDX-License-Identifier: MIT */
/* stat_output.h: where and in which form stat prints its counts. */
#ifndef SOFTPMU_TOOL_STAT_OUTPUT_H
#define SOFTPMU_TOOL_STAT_OUTPUT_H

#include "tools/softpmu/counts/stat_sweep.h"

struct stat_output {
	const char *path;      /* NULL: `fd` */
	int fd;		       /* -1: standard error */
	bool append;	       /* to what the file has */
	bool json;	       /* a JSON object on each line */
	const char *separator; /* of fields; NULL: text or JSON */
	FILE *file;
	bool created; /* by stat_output_open() */
};

/* Opens the file.  A program that runs afterwards cannot fail by a wrong name.  Returns false after
 * a message. */
bool stat_output_open(struct stat_output *output);

/* Prints the counts, or a sweep.  Empties the file before that. */
void stat_output_print(const struct stat_output *output, const struct stat_table *table,
		       const struct stat_sweep *sweep);

/* Prints the counts of an interval.  `before` is how many were printed before it; the first one
 * empties the file. */
void stat_output_interval(const struct stat_output *output, const struct stat_table *table,
			  uint64_t before);

/* Closes the file, and removes a new one if there was no run.  Returns false, after a message if
 * that is possible, if something could not be written. */
bool stat_output_close(struct stat_output *output, uint64_t runs);

#endif
