/* SPDX-License-Identifier: MIT */
/* disasm.h: one x86-64 instruction as text. */
#ifndef SOFTPMU_TOOL_DISASM_H
#define SOFTPMU_TOOL_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disasm; /* a syntax and a function that names addresses */

/* Writes the name of an address ("memcpy+0x10").  Returns false if it has none. */
typedef bool disasm_name(void *opaque, uint64_t address, char *text, size_t bytes);

/* `intel`: Intel's syntax, otherwise AT&T's. */
struct disasm *disasm_new(bool intel, disasm_name *name, void *opaque);
void disasm_free(struct disasm *disasm);

/*
 * Disassembles the instruction in `code`, at most `room` bytes, that runs at `address`.  Returns
 * its length.  Bytes that are not an instruction become ".byte 0x..", one at a time.
 */
size_t disasm_one(struct disasm *disasm, const uint8_t *code, size_t room, uint64_t address,
		  char *text, size_t text_bytes);

#endif
