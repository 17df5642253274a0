/* SPDX-License-Identifier: MIT */
/* starts.h: tells the engine where functions begin, and which code the tool can read (enum
 * link_mark). */
#ifndef SOFTPMU_TOOL_STARTS_H
#define SOFTPMU_TOOL_STARTS_H

#include <hosts/user/link.h>

#include "tools/softpmu/symbols/code.h"

/* Notes the functions of a mapping.  It may tail-call any place of a linkage table. */
void starts_note_all(struct code *code, const struct link_mmap *map, struct link *link);

/* Notes that the tool can read the file of a mapping. */
void starts_note_readable(const struct link_mmap *map, struct link *link);

#endif
