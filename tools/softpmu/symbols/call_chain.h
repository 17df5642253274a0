/* SPDX-License-Identifier: MIT */
/* call_chain.h: the callers of a sampled instruction, from a copy of the stack. */
#ifndef SOFTPMU_TOOL_CALL_CHAIN_H
#define SOFTPMU_TOOL_CALL_CHAIN_H

#include "tools/softpmu/symbols/call_frames.h"
#include "tools/softpmu/symbols/code.h"

/*
 * Finds the callers of the instruction at `ip` of the current process.  `after` are the registers
 * after that instruction, and the stack is the one of that moment.  If RIP in them is `ip`, the
 * instruction has not run yet.
 *
 * Stores `ip`, then an address in each caller's instruction, the innermost first.  In a call it is
 * that of the last byte, and in an instruction before which a signal came that of the byte after
 * the first one.  So the address before that is in the instruction, too, for readers that expect
 * return addresses.  Stores at most `most` addresses, which is at least 2.  Returns how many.
 *
 * A frame without an unwind table, for example of generated code, is left by its frame pointer.
 */
size_t call_chain_find(struct code *code, uint64_t ip, const struct call_frames_registers *after,
		       const struct call_frames_stack *stack, uint64_t *chain, size_t most);

#endif
