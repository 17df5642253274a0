/* SPDX-License-Identifier: MIT */
/* source.h: lines of source files. */
#ifndef SOFTPMU_TOOL_SOURCE_H
#define SOFTPMU_TOOL_SOURCE_H

struct sources; /* the files read so far */

struct sources *sources_new(void);
void sources_free(struct sources *sources);

/* Line `number` (from 1) without its newline; NULL when there is no such file or line. */
const char *sources_line(struct sources *sources, const char *path, int number);

#endif
