/* SPDX-License-Identifier: MIT */
/*
 * jit.h: functions that a program generated, from a file that the program wrote about them: a
 * jitdump or a perf map.
 */
#ifndef SOFTPMU_TOOL_JIT_H
#define SOFTPMU_TOOL_JIT_H

#include "tools/softpmu/symbols/symbols.h"

/* The perf map of a process. */
#define JIT_MAP "/tmp/perf-%u.map"

struct jit;

/* Returns true if that is the name of a jitdump, "jit-1234.dump".  A process maps the one it
 * writes. */
bool jit_is_dump(const char *path);

/*
 * Reads the file, below the root of the symbols: a jitdump or, by its name, a perf map.  Returns
 * NULL if it cannot be used, with a phrase in *trouble, which can be jit_not_there.  A jitdump that
 * ends within a record (the process was killed) is used up to there.  Close it after the symbols.
 */
struct jit *jit_open(struct symbols *symbols, const char *path, const char **trouble);
extern const char jit_not_there[];
void jit_close(struct jit *jit);

/* Goes back to the time before any code was generated. */
void jit_rewind(struct jit *jit);

/* Returns the function at the address at that time (CLOCK_MONOTONIC), as a file that contains only
 * this function, or NULL.  Times must not decrease. */
struct symbol_file *jit_find(struct jit *jit, uint64_t time_ns, uint64_t address);

#endif
