/* SPDX-License-Identifier: MIT */
/* machine_draw.h: a machine as boxes: caches, TLBs, predictors, prefetchers. */
#ifndef SOFTPMU_TOOL_MACHINE_DRAW_H
#define SOFTPMU_TOOL_MACHINE_DRAW_H

#include <softpmu/uarch.h>

/* Draws a machine on standard output, and lists its parameters as a file for --machine-file. */
void machine_draw(const struct spmu_machine *machine, bool ascii);

/* Lists the names and sources of all machines. */
void machine_draw_list(void);

#endif
