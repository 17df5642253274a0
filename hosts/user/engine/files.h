/* SPDX-License-Identifier: MIT */
/* files.h: system calls on files that show the program itself (files.c). */
#ifndef SOFTPMU_ENGINE_FILES_H
#define SOFTPMU_ENGINE_FILES_H

#include "engine.h"

/* "/proc/self/exe" or the like: what would lead to the engine, and is to lead to program_path. */
bool files_names_own_image(uint64_t path);
/* A call that follows the path at a[at]. */
long files_look_up(struct syscall_arguments *c, unsigned at);
long files_open(struct syscall_arguments *c);
long files_readlink(struct syscall_arguments *c, uint64_t path, uint64_t buffer, uint64_t bytes);
/* A call that writes to the file: it may be code of shared memory, or the program's memory. */
long files_write(const struct syscall_arguments *c, int fd);
/* Returns true if the process may write files as large as that: what the engine writes may not end
 * the program with SIGXFSZ. */
bool files_may_have(uint64_t bytes);
/* splice(2), which may wait for what is written to its pipe. */
long files_splice(const struct syscall_arguments *c);

#endif
