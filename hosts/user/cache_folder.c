/* SPDX-License-Identifier: MIT */
/*
 * cache_folder.c: the folders of persistent code caches (engine/persist/).
 *
 * The user's folder is $XDG_CACHE_HOME/softpmu/translations, or the same below ~/.cache (XDG base
 * directory specification).  The system's folder is CACHE_SYSTEM_FOLDER.  Runs read it, and write
 * to the user's folder only.
 *
 * A folder and the one above it must belong to the user, or for the system's folder to root.
 * Nobody else may be able to write to them.  Otherwise the folder is not used.
 */
#define _GNU_SOURCE
#include "cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CACHE_BYTES_MOST   ((off_t)512 << 20)
#define UNFINISHED_SECONDS 60

#define SYSTEM_ABOVE "/var/cache/softpmu"

static bool is_folder_of(const char *path, uid_t user)
{
	struct stat is;

	return !lstat(path, &is) && S_ISDIR(is.st_mode) && is.st_uid == user &&
	       !(is.st_mode & (S_IWGRP | S_IWOTH));
}

bool cache_folder_find(char *path, size_t bytes)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (cache && cache[0] == '/')
		n = snprintf(path, bytes, "%s", cache);
	else if (home && home[0] == '/')
		n = snprintf(path, bytes, "%s/.cache", home);
	else
		return false;
	if (n < 0 || (size_t)n + sizeof("/softpmu/translations") > bytes)
		return false;
	mkdir(path, S_IRWXU);
	strcat(path, "/softpmu");
	mkdir(path, S_IRWXU);
	if (!is_folder_of(path, geteuid()))
		return false;
	strcat(path, "/translations");
	mkdir(path, S_IRWXU);
	return is_folder_of(path, geteuid());
}

const char *cache_folder_system(void)
{
	return is_folder_of(SYSTEM_ABOVE, 0) && is_folder_of(CACHE_SYSTEM_FOLDER, 0)
		       ? CACHE_SYSTEM_FOLDER
		       : NULL;
}

/* Makes a folder that all users can read, whatever the mask is. */
static bool make_readable(const char *path)
{
	return mkdir(path, S_IRWXU) ? errno == EEXIST : !chmod(path, 0755);
}

const char *cache_folder_make_system(void)
{
	if (!make_readable(SYSTEM_ABOVE) || !make_readable(CACHE_SYSTEM_FOLDER))
		return NULL;
	errno = EPERM;
	return cache_folder_system();
}

static int by_age(const void *a, const void *b)
{
	const struct timespec *x = &((const struct cache_entry *)a)->written;
	const struct timespec *y = &((const struct cache_entry *)b)->written;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? 1 : -1;
	return (x->tv_nsec < y->tv_nsec) - (x->tv_nsec > y->tv_nsec);
}

ssize_t cache_folder_list(const char *path, struct cache_entry **entries)
{
	DIR *folder = opendir(path);
	size_t n = 0, room = 0;
	const struct dirent *entry;

	*entries = NULL;
	if (!folder)
		return -1;
	while ((entry = readdir(folder))) {
		struct stat is;

		if (fstatat(dirfd(folder), entry->d_name, &is, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(is.st_mode))
			continue;
		if (n == room) {
			struct cache_entry *more = realloc(*entries, (room + 64) * sizeof(*more));

			if (!more)
				break;
			*entries = more;
			room += 64;
		}
		snprintf((*entries)[n].name, sizeof((*entries)[n].name), "%s", entry->d_name);
		(*entries)[n].bytes = is.st_size;
		(*entries)[n++].written = is.st_mtim;
	}
	closedir(folder);
	if (n)
		qsort(*entries, n, sizeof(**entries), by_age);
	return (ssize_t)n;
}

bool cache_folder_is_abandoned(const struct cache_entry *entry)
{
	return strchr(entry->name, '.') && entry->written.tv_sec < time(NULL) - UNFINISHED_SECONDS;
}

void cache_folder_trim(const char *path)
{
	struct cache_entry *entries;
	ssize_t n = cache_folder_list(path, &entries);
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	off_t sum = 0;

	for (ssize_t i = 0; folder >= 0 && i < n; i++) {
		sum += entries[i].bytes;
		if (sum > CACHE_BYTES_MOST || cache_folder_is_abandoned(&entries[i]))
			unlinkat(folder, entries[i].name, 0);
	}
	if (folder >= 0)
		close(folder);
	free(entries);
}
