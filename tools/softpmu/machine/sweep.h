/* SPDX-License-Identifier: MIT */
/* sweep.h: several values for one parameter of a machine: `stat --sweep`. */
#ifndef SOFTPMU_TOOL_MACHINE_SWEEP_H
#define SOFTPMU_TOOL_MACHINE_SWEEP_H

#include "tools/softpmu/machine/parameter.h"

#define SWEEP_MAX 64

struct sweep {
	char *key;
	char *value[SWEEP_MAX];
	struct spmu_machine machine[SWEEP_MAX]; /* with each value */
	size_t count;
};

/*
 * Reads KEY=FROM..TO, which doubles each time, or KEY=VALUE,VALUE...  Makes a machine for each
 * value.
 * Returns a message, to free(), or NULL if all are valid.
 */
char *sweep_make(struct sweep *sweep, const struct spmu_machine *machine, const char *text);
void sweep_free(struct sweep *sweep);

#endif
