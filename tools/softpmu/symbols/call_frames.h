/* SPDX-License-Identifier: MIT */
/*
 * call_frames.h: finds the caller of a frame by the file's unwind table, .eh_frame.  Compilers
 * write it for all functions on x86-64, and stripping a file keeps it.
 */
#ifndef SOFTPMU_TOOL_CALL_FRAMES_H
#define SOFTPMU_TOOL_CALL_FRAMES_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DWARF's numbers of registers (System V ABI for AMD64, figure 3.36). */
enum { CALL_FRAMES_RBP = 6, CALL_FRAMES_RSP = 7, CALL_FRAMES_RIP = 16, CALL_FRAMES_REGISTERS };

/* The registers of a frame.  Bit n of `known` says that value[n] is. */
struct call_frames_registers {
	uint64_t value[CALL_FRAMES_REGISTERS];
	uint32_t known;
};

/* Copies of the stack, and of the stack that a handler of a signal has interrupted: each from the
 * address `start` on. */
struct call_frames_stack {
	struct {
		uint64_t start;
		size_t bytes;
		const uint8_t *copy;
	} part[2];
};

/* Reads a word of the stack.  Returns false if the copies do not have it. */
bool call_frames_read(const struct call_frames_stack *stack, uint64_t address, uint64_t *word);

struct call_frames; /* the table of one file, and what has been found in it */

/* Returns NULL if the file has no table. */
struct call_frames *call_frames_open(Elf *elf);
void call_frames_close(struct call_frames *frames);

/* Returns whether the table knows the instruction at this address of the file. */
bool call_frames_know(struct call_frames *frames, uint64_t address);

/*
 * Changes the registers of a frame, which is at this address of the file, to those of its caller.
 * *interrupted: the "caller" was interrupted by a signal, so RIP is that of its next instruction.
 * Otherwise RIP is a return address.  Returns false if the frame is the outermost one, or if the
 * caller is not known.
 */
bool call_frames_step(struct call_frames *frames, uint64_t address,
		      const struct call_frames_stack *stack,
		      struct call_frames_registers *registers, bool *interrupted);

#endif
