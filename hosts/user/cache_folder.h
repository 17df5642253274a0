/* SPDX-License-Identifier: MIT */
/* cache_folder.h: the folder of persistent code caches. */
#ifndef SOFTPMU_HOST_CACHE_FOLDER_H
#define SOFTPMU_HOST_CACHE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Writes its path, and makes it if necessary.  Returns false if no folder is safe to use. */
bool cache_folder_find(char *path, size_t bytes);
/* Removes the oldest files until the others are small enough. */
void cache_folder_trim(const char *path);

#endif
