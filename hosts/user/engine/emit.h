/* SPDX-License-Identifier: MIT */
/*
 * emit.h: the machine code that the translator writes around the program's own.
 */
#ifndef SOFTPMU_ENGINE_EMIT_H
#define SOFTPMU_ENGINE_EMIT_H

#include <hosts/user/decode/decode.h>

#include "pages.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

struct emit {
	uint8_t *at;
};

static inline void emit8(struct emit *e, unsigned byte)
{
	*e->at++ = (uint8_t)byte;
}

/* A known number of bytes: stored as words, as byte by byte each waits for the one before. */
static inline void emit_bytes(struct emit *e, const uint8_t *bytes, size_t n)
{
	__builtin_memcpy(e->at, bytes, n);
	e->at += n;
}

/* At most 16 bytes, of which as many are read as there are. */
void emit_few(struct emit *e, const uint8_t *bytes, size_t n);

/* Bytes of the program, whose code is followed by nothing yet: 16 are copied where they are in one
 * page, so that no branch goes by how many there are. */
static inline void emit_program(struct emit *e, const uint8_t *bytes, size_t n)
{
	uint8_t *at = e->at;

	if ((uint64_t)bytes % PAGE > PAGE - 16) {
		emit_few(e, bytes, n);
		return;
	}
	e->at = at + n;
	__builtin_memcpy(at, bytes, 8);
	__builtin_memcpy(at + 8, bytes + 8, 8);
}

/*
 * NOPs, so that a branch at the end of the next n bytes does not touch the boundary of a line of
 * the cache of decoded instructions.  One that does is decoded each time it runs on Skylake and its
 * successors (Intel, "Mitigations for Jump Conditional Code Erratum").
 */
void emit_clear_of_line(struct emit *e, unsigned n);
/* NOPs up to such a boundary. */
void emit_line(struct emit *e);

static inline void emit16(struct emit *e, unsigned value)
{
	uint16_t low = (uint16_t)value;

	emit_bytes(e, (const uint8_t *)&low, sizeof(low));
}

static inline void emit32(struct emit *e, uint64_t value)
{
	uint32_t low = (uint32_t)value;

	emit_bytes(e, (const uint8_t *)&low, sizeof(low));
}

static inline void emit64(struct emit *e, uint64_t value)
{
	emit_bytes(e, (const uint8_t *)&value, sizeof(value));
}

/*
 * Words of the context: at this address, which all code has in reach; 0: code finds the context of
 * each thread in GS.  It changes while no code is there.
 */
extern uint64_t emit_context;

/* The first thread's context is there: which form pays on this processor?  0: it is not near. */
void emit_start(uint64_t context);

/* MOV between a register (0-7) and a word: the bytes that it takes in the two forms. */
#define WORD_GS_BYTES	9u
#define WORD_NEAR_BYTES 7u
static inline unsigned emit_word_bytes(void)
{
	return emit_context ? WORD_NEAR_BYTES : WORD_GS_BYTES;
}

void emit_save(struct emit *e, unsigned reg, unsigned offset);
void emit_load(struct emit *e, unsigned reg, unsigned offset);
/* Is that an emit_save(), and of which register? */
bool emit_is_save(const uint8_t *code, unsigned *reg);

/* SUB and ADD QWORD, n: change the flags. */
void emit_charge(struct emit *e, unsigned offset, unsigned n);
void emit_refund(struct emit *e, unsigned offset, unsigned n);

/* MOV DWORD, value */
void emit_set_word(struct emit *e, unsigned offset, uint32_t value);

/* The six arithmetic flags into AX and back; RAX waits in the context meanwhile. */
void emit_flags_save(struct emit *e);
void emit_flags_restore(struct emit *e);

/* JMP rel32, Jcc rel32; the result is the address of the rel32. */
uint8_t *emit_jmp(struct emit *e, uint64_t target);
uint8_t *emit_jcc(struct emit *e, unsigned condition, uint64_t target);
/*
 * The check of a meter: JS rel32 among NOPs; emit_move_check() gives it another place there.  A
 * Zen keeps no record of a branch that has never been taken, so such a branch costs next to
 * nothing; once taken, it takes part in branch prediction each time.  At another place it is a
 * new branch.  On other processors moving gained nothing (measured on Cascade Lake), and costs
 * what it costs to change code that is about to run: there the check stays.
 */
uint8_t *emit_check(struct emit *e, uint64_t target);
void emit_check_target(uint64_t check, uint64_t target);
void emit_move_check(uint64_t check);

void emit_patch(uint8_t *rel32, uint64_t target);

/* JMP through an absolute address that stands behind it. */
void emit_jmp_far(struct emit *e, uint64_t target);

/* A taken branch into the log: {from, to, kind}, or no kind when `kind` is LOG_NO_KIND.  `to` of
 * an indirect branch is in RCX. */
#define LOG_NO_KIND UINT32_MAX
void emit_log(struct emit *e, uint64_t from, uint64_t to, uint32_t kind);
void emit_log_indirect(struct emit *e, uint64_t from, uint32_t kind);

/* Leave translated code: store the site, go to the reason's gate. */
void emit_leave(struct emit *e, unsigned reason, uint32_t site);

/* The program's return address onto its stack. */
void emit_push_address(struct emit *e, uint64_t address);

/* RCX = the operand of an indirect branch (register or memory) at program address pc. */
void emit_branch_operand(struct emit *e, const struct insn *insn, const uint8_t *bytes,
			 uint64_t pc);

/* JCXZ and LOOP have 8-bit displacements only: the result is where the distance of the taken
 * way goes. */
uint8_t *emit_jcxz(struct emit *e, const struct insn *insn, const uint8_t *bytes);

/* RCX = where the indirect branch at pc goes; the program's RCX is spilled, its stack adjusted. */
void emit_indirect_target(struct emit *e, const struct insn *insn, uint64_t pc);

/* Returns whether a copy at `at` reaches its RIP-relative operand without borrowing a register. */
bool emit_reaches(uint64_t at, const struct insn *insn, uint64_t pc);

/* The program's own instruction, its RIP-relative operand moved. */
void emit_copy(struct emit *e, const struct insn *insn, const uint8_t *bytes, uint64_t pc);

/*
 * The end of an indirect branch: through a table by the low 16 bits of the target, which are in
 * RCX then.  The whole target is in the context (emit_through_table()), or for a RET still where
 * it was popped from: below the program's stack pointer, where handlers leave 128 bytes alone.
 */
void emit_through_table(struct emit *e, uint64_t table);
void emit_return(struct emit *e, uint64_t table);

/* What the table leads to: when the target is pc, on behind the thunk with the program's RCX; else
 * to `next`. */
void emit_thunk(struct emit *e, uint64_t pc, uint64_t next, bool of_return);
/* A thunk of an address below 2 GiB ends at `end`: it leads to this `next` from now on.  Where it
 * begins. */
uint64_t emit_chain_thunk(uint64_t end, uint64_t next, bool of_return);

/*
 * Go on behind this when RCX, which is borrowed, is pc, with the program's own; else behind the
 * result, which is the address of a rel32, with RCX as it was.  No flag changes.
 */
uint8_t *emit_expect(struct emit *e, uint64_t pc);

#endif
