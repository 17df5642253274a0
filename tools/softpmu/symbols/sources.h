/* SPDX-License-Identifier: MIT */
/* sources.h: lines of source files. */
#ifndef SOFTPMU_TOOL_SOURCES_H
#define SOFTPMU_TOOL_SOURCES_H

struct sources; /* the files read so far */

struct sources *sources_new(void);
void sources_free(struct sources *sources);

/* Returns line `number` (from 1) without its newline, or NULL if there is no such file or line. */
const char *sources_line(struct sources *sources, const char *path, int number);

#endif
