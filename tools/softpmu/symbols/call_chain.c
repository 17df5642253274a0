/* SPDX-License-Identifier: MIT */
/* call_chain.c: goes from frame to frame, by unwind tables or by frame pointers. */
#include "tools/softpmu/symbols/call_chain.h"

#include <string.h>

#define WORD sizeof(uint64_t)

/* Leaves a frame by its frame pointer. */
static bool leave_by_pointer(const struct call_frames_stack *stack,
			     struct call_frames_registers *registers)
{
	uint64_t frame = registers->value[CALL_FRAMES_RBP], back, next;

	if (!(registers->known >> CALL_FRAMES_RBP & 1) ||
	    frame < registers->value[CALL_FRAMES_RSP] || !call_frames_read(stack, frame, &next) ||
	    !call_frames_read(stack, frame + WORD, &back))
		return false;
	registers->value[CALL_FRAMES_RBP] = next;
	registers->value[CALL_FRAMES_RSP] = frame + 2 * WORD;
	registers->value[CALL_FRAMES_RIP] = back;
	registers->known = 1u << CALL_FRAMES_RBP | 1u << CALL_FRAMES_RSP | 1u << CALL_FRAMES_RIP;
	return true;
}

/* Goes to the caller of the frame at `address`. */
static bool step(struct code *code, uint64_t address, const struct call_frames_stack *stack,
		 struct call_frames_registers *registers, bool *interrupted)
{
	uint64_t in_file;
	struct call_frames *frames = code_frames_at(code, address, &in_file);

	*interrupted = false;
	if (frames && call_frames_know(frames, in_file))
		return call_frames_step(frames, in_file, stack, registers, interrupted);
	return leave_by_pointer(stack, registers);
}

/* Returns whether the frame can be the caller of one whose stack pointer was `inner`.  It cannot if
 * a table was wrong, or if a function without a table uses RBP for something else. */
static bool is_caller(struct code *code, const struct call_frames_registers *registers,
		      uint64_t inner, bool interrupted)
{
	uint64_t in_file;

	return (registers->value[CALL_FRAMES_RSP] > inner || interrupted) &&
	       strcmp(code_object_at(code, registers->value[CALL_FRAMES_RIP], &in_file),
		      "[unknown]") != 0;
}

/* Stores the address of the frame, and of its callers. */
static size_t follow(struct code *code, struct call_frames_registers registers,
		     const struct call_frames_stack *stack, uint64_t *chain, size_t most)
{
	uint64_t address = registers.value[CALL_FRAMES_RIP];
	bool interrupted = false;
	size_t n = 0;

	while (n < most) {
		uint64_t inner = registers.value[CALL_FRAMES_RSP];

		chain[n++] = address + interrupted;
		if (!step(code, address, stack, &registers, &interrupted) ||
		    !is_caller(code, &registers, inner, interrupted))
			break;
		address = registers.value[CALL_FRAMES_RIP] - !interrupted;
	}
	return n;
}

size_t call_chain_find(struct code *code, uint64_t ip, const struct call_frames_registers *after,
		       const struct call_frames_stack *stack, uint64_t *chain, size_t most)
{
	struct call_frames_registers registers = *after;
	bool has_run = after->value[CALL_FRAMES_RIP] != ip;
	enum code_branch kind = BRANCH_UNKNOWN;
	unsigned length;
	size_t n;

	if (has_run)
		kind = code_branch_at(code, ip, &length);
	if (kind == BRANCH_RETURN) {
		chain[0] = ip;
		n = 1 + follow(code, registers, stack, chain + 1, most - 1);
		chain[1]--; /* from the return address into the call */
		return n;
	}
	if (kind == BRANCH_CALL || kind == BRANCH_CALL_INDIRECT) {
		registers.value[CALL_FRAMES_RSP] += WORD;
		registers.value[CALL_FRAMES_RIP] = ip;
	}
	n = follow(code, registers, stack, chain, most);
	chain[0] = ip;
	return n;
}
