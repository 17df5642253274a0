/* SPDX-License-Identifier: MIT */
/* kept.h: the folder of translations that are kept between runs (kept.c). */
#ifndef SOFTPMU_HOST_KEPT_H
#define SOFTPMU_HOST_KEPT_H

#include <stdbool.h>
#include <stddef.h>

/* Its path; made if it is not there.  False: there is none that is safe to use. */
bool kept_folder(char *path, size_t bytes);
/* Files that were written longest ago go until the rest is small enough. */
void kept_trim(const char *path);

#endif
