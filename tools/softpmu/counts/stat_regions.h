/* SPDX-License-Identifier: MIT */
/* stat_regions.h: what regions of the program count (softpmu/client.h, stat --region). */
#ifndef SOFTPMU_TOOL_STAT_REGIONS_H
#define SOFTPMU_TOOL_STAT_REGIONS_H

#include <stdio.h>

#include "tools/softpmu/counts/stat_table.h"

/* A launch_regions whose `opaque` is the table: adds the regions of a run to table->regions. */
void stat_regions_take(void *opaque, const struct link_region *region, size_t count, uint32_t lost);
void stat_regions_free(struct stat_table *table);

/* Print the regions, if there are some.  In text a region has one line; as JSON and as fields it
 * has one for each event. */
void stat_regions_text(const struct stat_table *table, FILE *file);
void stat_regions_json(const struct stat_table *table, FILE *file);
void stat_regions_fields(const struct stat_table *table, const char *separator, FILE *file);

#endif
