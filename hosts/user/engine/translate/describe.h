/* SPDX-License-Identifier: MIT */
/* describe.h: what blocks log for a model of the machine (describe.c). */
#ifndef SOFTPMU_ENGINE_DESCRIBE_H
#define SOFTPMU_ENGINE_DESCRIBE_H

#include "engine/count/activity.h"
#include "engine/translate/path.h"
#include "engine/x86/emit.h"

/* Shortens a path so that two registers are free for its log. */
void describe_shorten(struct path *p);
/* Returns a new description of a path; NULL: nothing is logged. */
struct activity_block *describe_path(const struct path *p);

/* Emit the parts of the log of the path that was described last: at the beginning, before each
 * instruction, and before the last instruction, after its own accesses. */
void describe_emit_begin(struct emit *e, const struct activity_block *b);
void describe_emit_insn(struct emit *e, const struct activity_block *b, unsigned insn);
void describe_emit_end(struct emit *e, const struct activity_block *b);

#endif
