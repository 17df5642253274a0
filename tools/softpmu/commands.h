/* SPDX-License-Identifier: MIT */
/*
 * commands.h: the subcommands, one file each, and what they share.
 *
 * A subcommand gets its own name as argv[0], parses with getopt_long() and
 * returns the tool's exit status.  Errors are one line on standard error.
 */
#ifndef SOFTPMU_COMMANDS_H
#define SOFTPMU_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <softpmu/model.h>

/* Exit statuses of the tool's own failures; otherwise the program's passes through. */
#define EXIT_CHANGED	 121 /* a count is beyond the baseline's threshold */
#define EXIT_TOOL	 125 /* the tool cannot do what was asked */
#define EXIT_CANNOT_RUN	 126 /* the program was found but cannot be run */
#define EXIT_NOT_FOUND	 127 /* there is no such program */
#define EXIT_BAD_USAGE	 129 /* wrong options or arguments, as perf does */
#define EXIT_WITH_SIGNAL 128 /* plus the signal that ended the program */

#define DEFAULT_MODEL "skylake"

int cmd_annotate(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_models(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_vm(int argc, char **argv);

/* Print "softpmu: " and the message as one line on standard error; returns EXIT_TOOL. */
int tool_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for wrong usage; adds "(see softpmu NAME --help)" and returns EXIT_BAD_USAGE. */
int tool_usage_error(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Load the libraries of late.c, or end with a line and EXIT_TOOL: before a program is run whose
 * results need them. */
void tool_load_libraries(void);

/* For getopt_long()'s '?' and ':' (the option string begins with "+:", opterr is 0). */
int tool_bad_option(const char *command, int option, char **argv);

/* The model of that name (NULL: the default); when there is none says so and returns NULL. */
const struct spmu_model *tool_model(const char *name);

/* A decimal or 0x number with an optional K, M or G (powers of 1000) that fills the text. */
bool tool_number(const char *text, uint64_t *value);

/* Distance of two names for "did you mean": letters that are wrong, missing, too many or exchanged
 * with the next one; case ignored; larger is less alike. */
unsigned tool_distance(const char *a, const char *b);

/* malloc() and friends that end the tool with a line when there is no memory. */
void *tool_alloc(size_t bytes);
void *tool_grow(void *old, size_t bytes);
char *tool_copy(const char *text);
char *tool_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
