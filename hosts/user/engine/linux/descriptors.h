/* SPDX-License-Identifier: MIT */
/* descriptors.h: the engine's image and the memory of the run as descriptors (descriptors.c). */
#ifndef SOFTPMU_ENGINE_DESCRIPTORS_H
#define SOFTPMU_ENGINE_DESCRIPTORS_H

#include "engine/rt/call.h"

#include <stdbool.h>

struct context;

/* Opens them for the next image.  Returns an error if they are out of reach. */
long descriptors_image(void);
long descriptors_link(void);
/* Returns `count` adjacent free numbers, as high as the tool takes them; -1: there are none. */
int descriptors_find(int count);

/* Returns whether the process may be unable to reach them after this call. */
bool descriptors_leads_elsewhere(const struct syscall_arguments *c);
/* Opens both and keeps them from now on.  `confined`: rules of Landlock follow, which may forbid to
 * execute files. */
void descriptors_keep(bool confined);
/* Begins the table of the process.  The image before this one kept them: this descriptor and the
 * next; -1: it did not. */
void descriptors_start(int base);
/* Returns true if it has them with it. */
bool descriptors_are_kept(void);
/* A task that the running one starts in its memory shares its descriptors, or gets copies.  The
 * lock is held. */
void descriptors_inherit(struct context *c, bool shares);
/* Makes a call of the program that closes or duplicates descriptors, or unshare(2). */
long descriptors_call(const struct syscall_arguments *c);

#endif
