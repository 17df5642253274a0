/* SPDX-License-Identifier: MIT */
/* descriptors.h: the engine's image and the memory of the run as descriptors (descriptors.c). */
#ifndef SOFTPMU_ENGINE_DESCRIPTORS_H
#define SOFTPMU_ENGINE_DESCRIPTORS_H

#include "engine.h"

/* Opened for the next image; an error when they are out of reach. */
long descriptors_image(void);
long descriptors_link(void);
/* So many free neighbouring numbers, as high as the tool takes them; -1: there are none. */
int descriptors_find(int count);

/* Will the process perhaps not reach them after this call? */
bool descriptors_leads_elsewhere(const struct syscall_arguments *c);
/* From now on it has them with it. */
void descriptors_keep(void);
/* The image before this one had: this descriptor and the next. */
void descriptors_keep_these(int fd);
/* The first of the two; -1: it has not. */
int descriptors_kept(void);
/* The program's close(2), close_range(2), dup2(2) or dup3(2): true when it is done. */
bool descriptors_guard(const struct syscall_arguments *c, long *result);

#endif
