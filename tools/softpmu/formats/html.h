/* SPDX-License-Identifier: MIT */
/*
 * html.h: a profile, or two and their differences, as one HTML page that needs no network.
 *
 * The page has the profile as JSON.  Its script and style are the files of tools/softpmu/html/,
 * which make puts into the tool.
 */
#ifndef SOFTPMU_TOOL_HTML_H
#define SOFTPMU_TOOL_HTML_H

#include <stdio.h>

#include "tools/softpmu/profile/profile.h"

/* Writes the page of one profile (`after` NULL) or of two.  Returns a status. */
int html_write(struct profile *before, struct profile *after, FILE *to);

/* Writes the page to a file.  Returns a status, after a message if the file cannot be written. */
int html_write_file(struct profile *before, struct profile *after, const char *path);

/* --- for the parts of the page -------------------------------------------------------------- */

/* Writes the text as a JSON string that cannot end the script that it is in. */
void html_string(FILE *to, const char *text);

/* html_profile.c: writes the JSON object of a profile. */
void html_profile(struct profile *profile, FILE *to);

/* html_code.c: writes a JSON array of the hottest functions of each event, with their instructions
 * and source lines.  Returns a status. */
int html_code(struct profile *profile, FILE *to);

#endif
