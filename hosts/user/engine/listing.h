/* SPDX-License-Identifier: MIT */
/* listing.h: the list of its mappings as the program is to see it (listing.c). */
#ifndef SOFTPMU_ENGINE_LISTING_H
#define SOFTPMU_ENGINE_LISTING_H

#include <stdbool.h>

/* Is that the name of a list of the process's own mappings? */
bool listing_is(const char *path);
/* The descriptor leads to that file: to a copy of it from now on.  The lock is held. */
void listing_open(int fd, const char *path);

#endif
