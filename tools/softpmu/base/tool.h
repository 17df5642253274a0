/* SPDX-License-Identifier: MIT */
/* tool.h: what every part of the tool uses: exit statuses, messages, numbers, memory. */
#ifndef SOFTPMU_TOOL_TOOL_H
#define SOFTPMU_TOOL_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <softpmu/model.h>

/* Exit statuses of the tool's own failures.  Otherwise it exits with the program's status. */
#define EXIT_CHANGED	 121 /* a count is beyond the baseline's threshold */
#define EXIT_TOOL	 125 /* the tool cannot do what was asked */
#define EXIT_CANNOT_RUN	 126 /* the program was found but cannot be run */
#define EXIT_NOT_FOUND	 127 /* there is no such program */
#define EXIT_BAD_USAGE	 129 /* wrong options or arguments, as perf does */
#define EXIT_WITH_SIGNAL 128 /* plus the signal that ended the program */

#define DEFAULT_MODEL "skylake"

/* Prints "softpmu: " and the message as one line on standard error.  Returns EXIT_TOOL. */
int tool_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Does the same for wrong usage: adds "(see softpmu NAME --help)" and returns EXIT_BAD_USAGE. */
int tool_usage_error(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints what is wrong with an option for which getopt_long() returned '?' or ':'.  The option
 * string begins with "+:" and opterr is 0.  Returns EXIT_BAD_USAGE. */
int tool_bad_option(const char *command, int option, char **argv);

/* Returns the model of that name (NULL: the default), or NULL after a message. */
const struct spmu_model *tool_model(const char *name);

/* Reads a decimal or 0x number with an optional K, M or G (powers of 1000).  Returns false if the
 * text is anything else. */
bool tool_number(const char *text, uint64_t *value);

/* Reads a number from 0 to 100.  Returns false for other text. */
bool tool_percent(const char *text, double *value);

/* Returns how far apart two names are, for "did you mean": the number of letters that are wrong,
 * missing, added or exchanged with the next one.  Ignores case. */
unsigned tool_distance(const char *a, const char *b);

/* Memory functions that end the tool with a message when there is no memory. */
void *tool_alloc(size_t bytes);
void *tool_grow(void *old, size_t bytes);
/* Returns the array, moved if necessary, with room for another element.  *room counts elements. */
void *tool_room(void *array, size_t *room, size_t count, size_t element_bytes);
char *tool_copy(const char *text);
char *tool_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
