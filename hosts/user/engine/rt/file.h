/* SPDX-License-Identifier: MIT */
/* file.h: what the engine needs to know about the process's files (file.c). */
#ifndef SOFTPMU_ENGINE_FILE_H
#define SOFTPMU_ENGINE_FILE_H

#include <asm/stat.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stores the name of the file that a descriptor is open on, or an empty name if there is none. */
void file_name(int fd, char *path, size_t bytes);

/* Returns true if the process may write files of this size.  The engine's own writes must not
 * end the program with SIGXFSZ. */
bool file_may_have(uint64_t bytes);

/* Returns false if there is no such descriptor. */
bool file_stat(int fd, struct stat *stat);

#endif
