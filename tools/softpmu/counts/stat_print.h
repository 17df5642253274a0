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

/* Prints only the rows and the metrics, each with the time at which the interval ended. */
void stat_print_interval(const struct stat_table *table, FILE *file);

/* Writes 1234567 as 1,234,567. */
#define STAT_PRINT_NUMBER 32
const char *stat_print_commas(double value, char to[STAT_PRINT_NUMBER]);
void stat_print_json_text(const char *text, FILE *file);
/* Prints the members of a JSON object by which a baseline is checked. */
void stat_print_json_origin(const struct stat_table *table, FILE *file);

#endif
