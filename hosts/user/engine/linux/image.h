/* SPDX-License-Identifier: MIT */
/* image.h: tells the kernel about the program's image (image.c). */
#ifndef SOFTPMU_ENGINE_IMAGE_H
#define SOFTPMU_ENGINE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

struct loaded;

extern bool image_has_heap; /* brk(2) may move the end of its heap */

/* Tells the kernel the program's stack, its auxiliary vector, and the start of the heap (0:
 * unchanged).  Returns false if the kernel refuses. */
bool image_tell(const struct loaded *program, const uint64_t *stack, const uint64_t *aux,
		uint64_t heap);

#endif
