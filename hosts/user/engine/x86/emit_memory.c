/* SPDX-License-Identifier: MIT */
/* emit_memory.c: emits instructions with an operand in memory, [base+distance] (emit.h). */
#include "engine/x86/emit.h"

static void operand(struct emit *e, unsigned reg, unsigned base, int32_t distance)
{
	bool is_short = distance == (int8_t)distance;

	emit8(e, (is_short ? 0x40 : 0x80) | reg << 3 | base);
	if (is_short)
		emit8(e, (uint8_t)distance);
	else
		emit32(e, (uint64_t)(int64_t)distance);
}

void emit_memory(struct emit *e, unsigned opcode, unsigned reg, unsigned base, int32_t distance)
{
	emit_bytes(e, (const uint8_t[]){0x48, (uint8_t)opcode}, 2);
	operand(e, reg, base, distance);
}

void emit_memory32(struct emit *e, unsigned opcode, unsigned reg, unsigned base, int32_t distance)
{
	emit8(e, opcode);
	operand(e, reg, base, distance);
}

void emit_memory_n(struct emit *e, unsigned operation, unsigned base, int32_t distance, int n)
{
	emit_memory(e, 0x83, operation, base, distance);
	emit8(e, (uint8_t)n);
}

void emit_memory32_value(struct emit *e, unsigned opcode, unsigned operation, unsigned base,
			 int32_t distance, uint32_t value)
{
	emit_memory32(e, opcode, operation, base, distance);
	emit32(e, value);
}
