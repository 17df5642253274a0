/* SPDX-License-Identifier: MIT */
/* starts.h: tells the engine where functions begin (link_flow_start()), and which code the tool can
 * read. */
#ifndef SOFTPMU_TOOL_STARTS_H
#define SOFTPMU_TOOL_STARTS_H

#include <hosts/user/link.h>

#include "tools/softpmu/symbols/code.h"

/* Notes the address. */
void starts_note(struct link *link, uint64_t address);

/* Notes the functions of a mapping.  It may tail-call any place of a linkage table. */
void starts_note_all(struct code *code, const struct link_mmap *map, struct link *link);

/* Notes that the tool can read the file of a mapping (link_flow_readable()). */
void starts_note_readable(const struct link_mmap *map, struct link *link);

#endif
