/* SPDX-License-Identifier: MIT */
/* output.h: what the subcommands that print tables share about standard output. */
#ifndef SOFTPMU_TOOL_OUTPUT_H
#define SOFTPMU_TOOL_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* The locale's character set is UTF-8, so that lines and boxes can be drawn with it. */
bool output_utf8(void);

/* stdout is a terminal, so that lines may be broken to fit it. */
bool output_is_terminal(void);

/* Columns of the terminal behind stdout; 80 when it is none. */
unsigned output_columns(void);

/*
 * Flush stdout.  Returns `status`, or 1 when something could not be written: a
 * reader that went away is no news, anything else is said in one line on behalf of
 * `command` ("list").
 */
int output_finish(const char *command, int status);

/* "Vol. 3B " for a section that stands without its volume, else "". */
const char *output_volume(const char *section);

/* A JSON string with its quotes. */
void output_json_string(FILE *to, const char *text);

#endif
