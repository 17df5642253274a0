/* SPDX-License-Identifier: MIT */
/*
 * baseline_line.h: one line of a baseline, as `stat -j` wrote it.
 */
#ifndef SOFTPMU_TOOL_BASELINE_LINE_H
#define SOFTPMU_TOOL_BASELINE_LINE_H

#include <stdbool.h>

/* What a line says; NULL: it does not say. */
struct baseline_line {
	char *event, *value;
	char *model, *command, *version, *label, *region;
};

/* Reads a line.  Returns false if it is not such an object, or has no event or no value.  In both
 * cases baseline_line_forget() frees what was read. */
bool baseline_line_parse(const char *text, struct baseline_line *line);
void baseline_line_forget(struct baseline_line *line);

/* Returns the first character that is not a blank. */
const char *baseline_line_skip_blanks(const char *at);

#endif
