/* SPDX-License-Identifier: MIT */
/* kernels.h: what kernels.c and loops.c share. */
#ifndef ACCURACY_KERNELS_H
#define ACCURACY_KERNELS_H

#include <stddef.h>
#include <stdint.h>

struct kernel {
	const char *name;
	void (*run)(uint64_t turns);
	size_t chases; /* bytes; 0: it follows no pointers */
};

extern const struct kernel loops[]; /* ends with a name of NULL */
void loops_prepare(void);

#endif
