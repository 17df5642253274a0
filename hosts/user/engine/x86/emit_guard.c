/* SPDX-License-Identifier: MIT */
/*
 * emit_guard.c: code in front of an instruction of a restartable sequence (rseq.c).  It checks that
 * the kernel has not cleared the word of the thread's area.  The kernel expects the area's
 * signature in front of the place where it aborts to.
 *
 *		signature
 *	abort:	RCX = what was spilled; leave
 *	entry:	spill RCX
 *	start:	RCX = the word; if that is 0 go to abort; RCX = what was spilled
 *		the instruction
 *
 * No flag changes, and at each place from start on RCX has been spilled.
 */
#include "engine/rt/context_words.h"
#include "engine/x86/emit.h"

#define CHECK_BYTES 5u /* MOV RCX, [RCX]; JRCXZ */

static const uint8_t load_through_rcx[] = {0x48, 0x8b, 0x09};

struct guarded_code emit_guard_of(uint64_t code, uint64_t end)
{
	unsigned word = emit_word_bytes();
	uint64_t start = code - CHECK_BYTES - 2 * word;

	return (struct guarded_code){
		.entry = start - word,
		.start = start,
		.end = end,
		.abort = start - 2 * word - JMP_BYTES,
	};
}

void emit_guard(struct emit *e, uint32_t signature)
{
	const uint8_t *abort;

	emit32(e, signature);
	abort = e->at;
	emit_load(e, RCX, CTX_SPILL_RCX);
	emit_jmp(e, (uint64_t)emit_trampoline(EXIT_STEP_ABORTED));
	emit_save(e, RCX, CTX_SPILL_RCX);
	emit_load(e, RCX, CTX_SEQUENCE);
	emit_bytes(e, load_through_rcx, sizeof(load_through_rcx));
	emit8(e, 0xe3); /* JRCXZ */
	emit8(e, (unsigned)(abort - (e->at + 1)) & 0xff);
	emit_load(e, RCX, CTX_SPILL_RCX);
}
