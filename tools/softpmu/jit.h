/* SPDX-License-Identifier: MIT */
/*
 * jit.h: functions that a program made while it ran, from the file that it wrote of them: a
 * jitdump, or a perf map.
 */
#ifndef SOFTPMU_TOOL_JIT_H
#define SOFTPMU_TOOL_JIT_H

#include "tools/softpmu/symbols.h"

/* A process's perf map. */
#define JIT_MAP "/tmp/perf-%u.map"

struct jit;

/* Is that the name of a jitdump, "jit-1234.dump"?  A process that maps one writes one. */
bool jit_is_dump(const char *path);

/*
 * Read the file, below the root of the symbols: a jitdump by its name, else a perf map.  NULL when
 * it cannot be used, with *trouble one phrase, JIT_NOT_THERE among them.  A jitdump that ends in
 * the middle of a record, as that of a killed process does, is used as far as it goes.  To be
 * closed after the symbols.
 */
struct jit *jit_open(struct symbols *symbols, const char *path, const char **trouble);
extern const char JIT_NOT_THERE[];
void jit_close(struct jit *jit);

/* Begin anew: nothing has been made yet. */
void jit_rewind(struct jit *jit);

/* The function at the address at that time (CLOCK_MONOTONIC), as a file of its own that holds it
 * alone; times only grow.  NULL: none. */
struct symbol_file *jit_find(struct jit *jit, uint64_t time_ns, uint64_t address);

#endif
