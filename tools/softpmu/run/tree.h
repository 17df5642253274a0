/* SPDX-License-Identifier: MIT */
/* tree.h: a folder of files by which programs of a run look at the unit (tree.c). */
#ifndef SOFTPMU_TOOL_TREE_H
#define SOFTPMU_TOOL_TREE_H

#include <softpmu/model.h>
#include <stdbool.h>

/* Makes the folder.  `identity`: with /proc/cpuinfo.  Returns its name, to free(), or NULL after a
 * message. */
char *tree_make(const struct spmu_model *model, bool identity);
/* Removes it.  NULL: there is none. */
void tree_remove(const char *tree);

#endif
