/* SPDX-License-Identifier: MIT */
/*
 * emit_words.c: emits the machine code that accesses words of the context (emit.h).
 *
 * While the process has had only one thread, the context is at a fixed address near the code.  Code
 * names its words by their distance, which is two bytes shorter than an offset in GS.  A Zen 5
 * keeps the memory of such accesses in registers: of two subtractions from a word, the second waits
 * one clock for the first instead of five.  Intel's processors gain nothing (bench/README.md), so
 * there code uses GS from the beginning.
 *
 * Many functions write through a copy of *e: see emit.c.
 */
#include "engine/rt/sys.h"
#include "engine/x86/emit.h"

uint64_t emit_context;

/* Returns the first 8 bytes of code that has the offset of a word of the context, which is below
 * 2^24, after `before` bytes. */
static uint64_t with_offset(uint64_t code, unsigned before, unsigned offset)
{
	return code | (uint64_t)offset << 8 * before;
}

/* opcode r64, gs:[offset].  The last byte of the offset follows these. */
static uint64_t gs_first(unsigned opcode, unsigned reg, unsigned offset)
{
	return with_offset(UINT64_C(0x2500004865) | (opcode | (0x04 | reg << 3) << 8) << 16, 5,
			   offset);
}

/* Returns the distance of a word from the end of an instruction. */
static uint32_t distance(unsigned offset, const uint8_t *end)
{
	return (uint32_t)(emit_context + offset - (uint64_t)end);
}

/* opcode r64, [RIP+distance], which has 7 bytes, plus `trailing` bytes: its immediate. */
static uint64_t near_first(unsigned opcode, unsigned reg, unsigned offset, const uint8_t *at,
			   unsigned trailing)
{
	return 0x48 | opcode << 8 | (0x05 | reg << 3) << 16 |
	       (uint64_t)distance(offset, at + WORD_NEAR_BYTES + trailing) << 24;
}

bool emit_reaches_word(const struct emit *e, unsigned offset)
{
	return !emit_context || emit_context + offset < (uint64_t)e->at + INT32_MAX;
}

/* Emits the instruction without its `trailing` bytes, the immediate. */
static void emit_word(struct emit *e, unsigned opcode, unsigned reg, unsigned offset,
		      unsigned trailing)
{
	struct emit at = *e;

	if (emit_context) {
		e->at += WORD_NEAR_BYTES;
		emit64(&at, near_first(opcode, reg, offset, at.at, trailing));
		return;
	}
	e->at += WORD_GS_BYTES;
	emit64(&at, gs_first(opcode, reg, offset));
	emit8(&at, 0);
}

void emit_save(struct emit *e, unsigned reg, unsigned offset)
{
	emit_word(e, 0x89, reg, offset, 0);
}

void emit_load(struct emit *e, unsigned reg, unsigned offset)
{
	emit_word(e, 0x8b, reg, offset, 0);
}

void emit_add(struct emit *e, unsigned reg, unsigned offset)
{
	emit_word(e, 0x03, reg, offset, 0);
}

void emit_subtract(struct emit *e, unsigned reg, unsigned offset)
{
	emit_word(e, 0x2b, reg, offset, 0);
}

static void emit_arithmetic(struct emit *e, unsigned operation, unsigned offset, unsigned n)
{
	bool is_short = n < 128;

	emit_word(e, is_short ? 0x83 : 0x81, operation, offset, is_short ? 1 : 4);
	if (is_short)
		emit8(e, n);
	else
		emit32(e, n);
}

void emit_charge(struct emit *e, unsigned offset, unsigned n)
{
	emit_arithmetic(e, 5, offset, n);
}

void emit_refund(struct emit *e, unsigned offset, unsigned n)
{
	emit_arithmetic(e, 0, offset, n);
}

void emit_set_word(struct emit *e, unsigned offset, uint32_t value)
{
	struct emit at = *e;

	if (emit_context) { /* MOV DWORD [RIP+distance], value */
		e->at += 10;
		emit64(&at, 0x05c7 | (uint64_t)distance(offset, e->at) << 16);
		at.at -= 2;
	} else {
		e->at += 12;
		emit64(&at, with_offset(UINT64_C(0x2504c765), 4, offset));
	}
	emit32(&at, value);
}

bool emit_is_save(const uint8_t *code, unsigned *reg)
{
	static const uint8_t gs[] = {0x65, 0x48, 0x89}, near[] = {0x48, 0x89};

	if (emit_context) {
		*reg = code[2] >> 3;
		return !memcmp(code, near, sizeof(near)) && (code[2] & 0xc7) == 0x05;
	}
	*reg = code[3] >> 3;
	return !memcmp(code, gs, sizeof(gs)) && (code[3] & 0xc7) == 0x04 && code[4] == 0x25;
}
