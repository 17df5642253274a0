/* SPDX-License-Identifier: MIT */
/*
 * cache_folder.c: the folder of persistent code caches (engine/persist/):
 * $XDG_CACHE_HOME/softpmu/translations, or the same below ~/.cache (XDG base directory
 * specification).  That folder and the one above it must belong to the user, and nobody else may be
 * able to write to them.  Otherwise no cache is used.
 */
#define _GNU_SOURCE
#include "cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CACHE_BYTES_MOST   ((off_t)512 << 20)
#define UNFINISHED_SECONDS 60

static bool is_own_folder(const char *path)
{
	struct stat is;

	return !lstat(path, &is) && S_ISDIR(is.st_mode) && is.st_uid == geteuid() &&
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
	if (!is_own_folder(path))
		return false;
	strcat(path, "/translations");
	mkdir(path, S_IRWXU);
	return is_own_folder(path);
}

struct file {
	char name[NAME_MAX + 1];
	off_t bytes;
	struct timespec written;
};

static int by_age(const void *a, const void *b)
{
	const struct timespec *x = &((const struct file *)a)->written;
	const struct timespec *y = &((const struct file *)b)->written;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? 1 : -1;
	return (x->tv_nsec < y->tv_nsec) - (x->tv_nsec > y->tv_nsec);
}

/* Lists the regular files of the folder.  Returns how many there are. */
static size_t list_files(DIR *folder, struct file **files)
{
	size_t n = 0, room = 0;
	const struct dirent *entry;

	while ((entry = readdir(folder))) {
		struct stat is;

		if (fstatat(dirfd(folder), entry->d_name, &is, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(is.st_mode))
			continue;
		if (n == room) {
			struct file *more = realloc(*files, (room + 64) * sizeof(**files));

			if (!more)
				break;
			*files = more;
			room += 64;
		}
		snprintf((*files)[n].name, sizeof((*files)[n].name), "%s", entry->d_name);
		(*files)[n].bytes = is.st_size;
		(*files)[n++].written = is.st_mtim;
	}
	return n;
}

/* Returns true for an old file with a dot in its name: its process was killed while it wrote. */
static bool is_abandoned(const struct file *file, time_t now)
{
	return strchr(file->name, '.') && file->written.tv_sec < now - UNFINISHED_SECONDS;
}

void cache_folder_trim(const char *path)
{
	struct file *files = NULL;
	DIR *folder = opendir(path);
	time_t now = time(NULL);
	off_t sum = 0;
	size_t n;

	if (!folder)
		return;
	n = list_files(folder, &files);
	if (n)
		qsort(files, n, sizeof(*files), by_age);
	for (size_t i = 0; i < n; i++) {
		sum += files[i].bytes;
		if (sum > CACHE_BYTES_MOST || is_abandoned(&files[i], now))
			unlinkat(dirfd(folder), files[i].name, 0);
	}
	free(files);
	closedir(folder);
}
