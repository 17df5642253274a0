/* SPDX-License-Identifier: MIT */
/* cache_folder.h: the folders of persistent code caches. */
#ifndef SOFTPMU_HOST_CACHE_FOLDER_H
#define SOFTPMU_HOST_CACHE_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

struct cache_entry {
	char name[NAME_MAX + 1];
	off_t bytes;
	struct timespec written;
};

/* Writes its path, and makes it if necessary.  Returns false if no folder is safe to use. */
bool cache_folder_find(char *path, size_t bytes);
#define CACHE_SYSTEM_FOLDER "/var/cache/softpmu/translations"
/* Returns the path of the system's folder, which root fills for all users.  NULL: there is none, or
 * others than root can write to it. */
const char *cache_folder_system(void);
/* The same, but makes the folder if it does not exist, for root.  Returns NULL with errno. */
const char *cache_folder_make_system(void);
/* Lists the regular files of a folder, the newest first.  Returns how many there are, or -1 with
 * errno.  The caller frees *entries. */
ssize_t cache_folder_list(const char *path, struct cache_entry **entries);
/* Returns true for an old file with a dot in its name: its process was killed while it wrote. */
bool cache_folder_is_abandoned(const struct cache_entry *entry);
/* Removes the oldest files until the others are small enough. */
void cache_folder_trim(const char *path);

#endif
