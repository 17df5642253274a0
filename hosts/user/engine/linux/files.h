/* SPDX-License-Identifier: MIT */
/* files.h: system calls on files that show the program itself (files.c). */
#ifndef SOFTPMU_ENGINE_FILES_H
#define SOFTPMU_ENGINE_FILES_H

#include "engine/rt/call.h"

#include <stdbool.h>

/* Returns whether the path is "/proc/self/exe" or similar.  It would lead to the engine, and
 * must lead to engine_program_path. */
bool files_names_own_image(uint64_t path);
/* Makes a call that follows the path at a[at]. */
long files_look_up(struct syscall_arguments *c, unsigned at);
long files_open(struct syscall_arguments *c);
long files_readlink(struct syscall_arguments *c, uint64_t path, uint64_t buffer, uint64_t bytes);
/* Makes a call that writes to the file, which may be code of shared memory, or the program's
 * memory. */
long files_write(const struct syscall_arguments *c, int fd);
/* Makes splice(2), which may wait for data in its pipe. */
long files_splice(const struct syscall_arguments *c);

#endif
