/* SPDX-License-Identifier: MIT */
/* script_blocks.h: the instructions between the last branches of a sample (script_blocks.c). */
#ifndef SOFTPMU_TOOL_SCRIPT_BLOCKS_H
#define SOFTPMU_TOOL_SCRIPT_BLOCKS_H

#include <stdio.h>

#include "tools/softpmu/disasm/disasm.h"
#include "tools/softpmu/profile/profile.h"

/*
 * Writes the instructions from the oldest branch to the sample, a line each, with the name of each
 * function that they come to.  A branch has its flags, its clocks, and the instructions for each
 * clock since the branch before.  `bytes`: the bytes of instructions in place of their text.
 */
void script_blocks_write(struct disasm *disasm, bool bytes, const struct profile_sample *sample,
			 FILE *to);

#endif
