/* SPDX-License-Identifier: MIT */
/* image.h: what the kernel knows of the program's image (image.c). */
#ifndef SOFTPMU_ENGINE_IMAGE_H
#define SOFTPMU_ENGINE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

struct loaded;

/* The stack as the program finds it, its auxiliary vector, and where the heap begins (0: where it
 * does).  False: the kernel does not take it. */
bool image_tell(const struct loaded *program, const uint64_t *stack, const uint64_t *aux,
		uint64_t heap);

#endif
