/* SPDX-License-Identifier: MIT */
/*
 * emit_log.c: emits the machine code that logs a taken branch (emit.h).  RAX, which is spilled,
 * holds the next place in the log.
 */
#include "engine/rt/context_words.h"
#include "engine/x86/emit.h"

void emit_log_word(struct emit *e, unsigned at, uint64_t value)
{
	if (value <= INT32_MAX) {
		emit_bytes(e, (const uint8_t[]){0x48, 0xc7, 0x40, (uint8_t)at}, 4);
		emit32(e, value);
		return;
	}
	for (unsigned half = 0; half < 2; half++) {
		emit_bytes(e, (const uint8_t[]){0xc7, 0x40, (uint8_t)(at + 4 * half)}, 3);
		emit32(e, value >> 32 * half);
	}
}

/* The first word is stored first.  At the end of the log this store faults before anything has
 * been written. */
static void emit_log_end(struct emit *e, uint32_t kind)
{
	if (kind != LOG_NO_KIND)
		emit_log_word(e, 16, kind);
	emit_bytes(e, (const uint8_t[]){0x48, 0x8d, 0x40, LOG_RECORD_BYTES}, 4); /* LEA RAX */
	emit_save(e, RAX, CTX_LOG);
}

void emit_log(struct emit *e, uint64_t from, uint64_t to, uint32_t kind)
{
	emit_save(e, RAX, CTX_SPILL_LOG);
	emit_load(e, RAX, CTX_LOG);
	emit_log_word(e, 0, from);
	emit_log_word(e, 8, to);
	emit_log_end(e, kind);
	emit_load(e, RAX, CTX_SPILL_LOG);
}

void emit_log_indirect(struct emit *e, uint64_t from, uint32_t kind)
{
	emit_save(e, RAX, CTX_SPILL_LOG);
	emit_load(e, RAX, CTX_LOG);
	emit_log_word(e, 0, from);
	emit_bytes(e, (const uint8_t[]){0x48, 0x89, 0x48, 0x08}, 4); /* MOV [RAX+8], RCX */
	emit_log_end(e, kind);
	emit_load(e, RAX, CTX_SPILL_LOG);
}

void emit_count(struct emit *e, unsigned offset, bool keep_flags)
{
	if (!keep_flags) {
		emit_refund(e, offset, 1);
		return;
	}
	emit_save(e, RAX, CTX_SPILL_LOG);
	emit_load(e, RAX, offset);
	emit_bytes(e, (const uint8_t[]){0x48, 0x8d, 0x40, 0x01}, 4); /* LEA RAX, [RAX+1] */
	emit_save(e, RAX, offset);
	emit_load(e, RAX, CTX_SPILL_LOG);
}
