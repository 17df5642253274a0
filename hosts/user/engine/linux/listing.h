/* SPDX-License-Identifier: MIT */
/* listing.h: the list of its mappings as the program must see it (listing.c). */
#ifndef SOFTPMU_ENGINE_LISTING_H
#define SOFTPMU_ENGINE_LISTING_H

#include <stdbool.h>

/* Returns whether this is the name of a list of the process's own mappings.  In a run that serves
 * perf_event_open(2) it may also be that of another process of the run. */
bool listing_is(const char *path);
/* Replaces that file, open on the descriptor, by a copy.  The lock is held. */
void listing_open(int fd, const char *path);

#endif
