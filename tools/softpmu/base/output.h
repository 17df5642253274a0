/* SPDX-License-Identifier: MIT */
/* output.h: standard output of the subcommands that print tables. */
#ifndef SOFTPMU_TOOL_OUTPUT_H
#define SOFTPMU_TOOL_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* Returns true if the locale's character set is UTF-8, so that lines and boxes can be drawn with
 * it. */
bool output_utf8(void);

/* Returns true if standard output is a terminal: lines may be broken to fit it. */
bool output_is_terminal(void);

/* Returns the width of the terminal at standard output, 80 if there is none. */
unsigned output_columns(void);

/*
 * Flushes standard output.  Returns `status`, or 1 if something could not be written.  Prints a
 * message with the name of the command ("list") then, unless the reader has closed its pipe.
 */
int output_finish(const char *command, int status);

/* Returns "Vol. 3B " for a section that does not name its volume, otherwise "". */
const char *output_volume(const char *section);

/* Writes the text as a JSON string, with its quotes. */
void output_json_string(FILE *to, const char *text);

#endif
