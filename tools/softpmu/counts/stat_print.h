/* SPDX-License-Identifier: MIT */
/* stat_print.h: the forms in which stat shows counts. */
#ifndef SOFTPMU_TOOL_STAT_PRINT_H
#define SOFTPMU_TOOL_STAT_PRINT_H

#include <stdio.h>

#include "tools/softpmu/counts/stat_table.h"

/* `output` is the name of the file, for its heading; NULL: standard error. */
void stat_print_text(const struct stat_table *table, const char *output, FILE *file);
void stat_print_json(const struct stat_table *table, FILE *file);
void stat_print_fields(const struct stat_table *table, const char *separator, FILE *file);

#endif
