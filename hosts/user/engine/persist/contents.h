/* SPDX-License-Identifier: MIT */
/* contents.h: the contents of files, as sums that are equal in every copy (contents.c). */
#ifndef SOFTPMU_ENGINE_CONTENTS_H
#define SOFTPMU_ENGINE_CONTENTS_H

#include "engine/cache/persistent.h"

/* Stores the version of a regular file.  Returns false if it is none. */
bool contents_version(int fd, struct file_version *version);

/* Returns a sum of a part of the file, which is of this version, or 0 if it cannot be read.
 * `lasting`: the version is old enough to be noted for later runs.  Cost: reads the part, unless a
 * run has noted the sum. */
uint64_t contents_sum(int fd, const struct file_version *version, uint64_t offset, uint64_t bytes,
		      bool lasting);

/* Returns whether there are sums to be noted. */
bool contents_are_new(void);
/* Notes them in the folder of persistent code caches, which is the user's own. */
void contents_save(long folder);

#endif
