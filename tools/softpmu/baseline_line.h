/* SPDX-License-Identifier: MIT */
/*
 * baseline_line.h: one line of a baseline, as `stat -j` wrote it.
 */
#ifndef SOFTPMU_TOOL_BASELINE_LINE_H
#define SOFTPMU_TOOL_BASELINE_LINE_H

#include <stdbool.h>

/* What matters of a line; NULL where it does not say so. */
struct line {
	char *event, *value;
	char *model, *command, *version, *label;
};

/* Read one line; false when it is no such object, or has no event or no value.  Either way
 * line_forget() frees what was read. */
bool line_parse(const char *text, struct line *line);
void line_forget(struct line *line);

/* The first character that is not a blank. */
const char *line_skip_blanks(const char *at);

#endif
