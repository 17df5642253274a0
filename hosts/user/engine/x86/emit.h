/* SPDX-License-Identifier: MIT */
/*
 * emit.h: emits the machine code that the translator adds to the program's own.
 */
#ifndef SOFTPMU_ENGINE_EMIT_H
#define SOFTPMU_ENGINE_EMIT_H

#include <hosts/user/decode/decode.h>
#include <hosts/user/link.h>

#include "engine/rt/context_words.h"
#include "engine/rt/flow_words.h"
#include "engine/rt/sys.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

struct emit {
	uint8_t *at;
};

static inline void emit8(struct emit *e, unsigned byte)
{
	*e->at++ = (uint8_t)byte;
}

/* Emits a constant number of bytes, as words.  Single bytes would each wait for the previous
 * store. */
static inline void emit_bytes(struct emit *e, const uint8_t *bytes, size_t n)
{
	__builtin_memcpy(e->at, bytes, n);
	e->at += n;
}

/* Emits at most 16 bytes, and reads no more than n. */
void emit_few(struct emit *e, const uint8_t *bytes, size_t n);

/* Emits MOV reg, value. */
void emit_movabs(struct emit *e, unsigned reg, uint64_t value);

/* Emits bytes of the program.  Nothing follows them in the cache yet, so 16 bytes are copied at
 * once if they are in one page.  This avoids branches that depend on n. */
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
 * Emits NOPs so that a branch at the end of the next n bytes does not touch a boundary.  The
 * boundary is that of a line of the decoded instruction cache.  Skylake and its successors decode a
 * branch that touches one each time it runs (Intel, "Mitigations for Jump Conditional Code
 * Erratum").
 */
void emit_clear_of_line(struct emit *e, unsigned n);
/* Emits NOPs up to such a boundary. */
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
 * The address of the context, which all code can reach by a displacement.  0: code finds the
 * context of each thread in GS.  It changes only while the code cache is empty.
 */
extern uint64_t emit_context;

/* Sets the address of the first thread's context, if it is near and if this form is faster on
 * this processor.  0: the context is not near. */
void emit_start(uint64_t context);

/* MOV between a register (0-7) and a word of the context.  The lengths of the two forms in
 * bytes. */
#define WORD_GS_BYTES	9u
#define WORD_NEAR_BYTES 7u
static inline unsigned emit_word_bytes(void)
{
	return emit_context ? WORD_NEAR_BYTES : WORD_GS_BYTES;
}

void emit_save(struct emit *e, unsigned reg, unsigned offset);
void emit_load(struct emit *e, unsigned reg, unsigned offset);
/* Returns whether the code is an emit_save().  Sets *reg to its register. */
bool emit_is_save(const uint8_t *code, unsigned *reg);

/* ADD and SUB reg, word.  They change the flags. */
void emit_add(struct emit *e, unsigned reg, unsigned offset);
void emit_subtract(struct emit *e, unsigned reg, unsigned offset);

/* SUB and ADD QWORD, n.  They change the flags. */
void emit_charge(struct emit *e, unsigned offset, unsigned n);
void emit_refund(struct emit *e, unsigned offset, unsigned n);

/* MOV DWORD, value */
void emit_set_word(struct emit *e, unsigned offset, uint32_t value);

/* Moves the six arithmetic flags into AX, and back.  The context holds RAX meanwhile. */
void emit_flags_save(struct emit *e);
void emit_flags_restore(struct emit *e);

/* JMP rel32 and Jcc rel32.  The functions return the address of the rel32. */
#define JMP_BYTES 5
#define JCC_BYTES 6
uint8_t *emit_jmp(struct emit *e, uint64_t target);
uint8_t *emit_jcc(struct emit *e, unsigned condition, uint64_t target);
/*
 * Emits the check of a meter: JS rel32 among NOPs.  emit_move_check() moves it to another place
 * among them.
 *
 * A Zen processor keeps no history of a branch that was never taken, so such a branch costs
 * almost nothing.  Once it has been taken, it takes part in branch prediction each time.  At
 * another place it is a new branch.  On other processors a move gained nothing (measured on
 * Cascade Lake), and changing code that is about to run is expensive.  So the check stays in
 * place there.
 */
uint8_t *emit_check(struct emit *e, uint64_t target);
void emit_check_target(uint64_t check, uint64_t target);
void emit_move_check(uint64_t check);

void emit_patch(uint8_t *rel32, uint64_t target);
/* Returns whether this is the rel32 of a JMP. */
bool emit_is_jmp(uint64_t rel32);

/* Emits a JMP through an absolute address that is stored after it. */
void emit_jmp_far(struct emit *e, uint64_t target);

/* Emits the log entry of a taken branch: {from, to, kind}, or without a kind if `kind` is
 * LOG_NO_KIND.  RCX holds `to` of an indirect branch. */
#define LOG_RECORD_BYTES 24 /* like a BTS record: from, to, and the kind in place of the flags */
#define LOG_NO_KIND	 UINT32_MAX
void emit_log(struct emit *e, uint64_t from, uint64_t to, uint32_t kind);
/* MOV QWORD [RAX+at], value */
void emit_log_word(struct emit *e, unsigned at, uint64_t value);
void emit_log_indirect(struct emit *e, uint64_t from, uint32_t kind);

/*
 * Instructions with the operand [base+distance] (emit_memory.c).  The base is one of RAX to RDI,
 * but not RSP.  `opcode` is a byte, and `operation` what ModRM has in place of a register.
 */
/* opcode reg, of 64 bits and of 32. */
void emit_memory(struct emit *e, unsigned opcode, unsigned reg, unsigned base, int32_t distance);
void emit_memory32(struct emit *e, unsigned opcode, unsigned reg, unsigned base, int32_t distance);
/* An operation with a byte n, of 64 bits; with a value, of 32 bits. */
void emit_memory_n(struct emit *e, unsigned operation, unsigned base, int32_t distance, int n);
void emit_memory32_value(struct emit *e, unsigned opcode, unsigned operation, unsigned base,
			 int32_t distance, uint32_t value);

/*
 * The code that logs control flow (emit_flow.c).
 *
 * A branch has a record in the log (hosts/user/link.h).  `shard`: the offset of the first word of
 * each meter's headroom, of which there are `shards`, 1 or 2.  `ahead`: what is charged already,
 * although it comes after the branch.
 */
struct emit_flow {
	uint64_t from, to;
	bool indirect; /* RCX holds `to` */
	unsigned bytes, meters, shards;
	unsigned shard[LINK_FLOW_METERS_MAX];
	int32_t ahead[LINK_FLOW_METERS_MAX];
	/* flow_words.h */
	enum flow_kind kind;
	uint64_t returns_to; /* of a call */
	uint32_t call;	     /* the place of its sums */
	uint32_t site;	     /* the id of an indirect branch */
	unsigned counter;    /* of the branches that are counted and have no sums */
	bool keep_flags;     /* the code at `to`, which is constant, needs them */
};
/* The record as it is.  A call, or a jump to a function, marks the function as active. */
void emit_flow(struct emit *e, const struct emit_flow *f);
/* A call that can be counted when it returns, to a constant function or to any. */
void emit_flow_call(struct emit *e, const struct emit_flow *f);
void emit_flow_call_indirect(struct emit *e, const struct emit_flow *f);
/* A return that perhaps ends the call of the newest record. */
void emit_flow_return(struct emit *e, const struct emit_flow *f);
/* A jump to another function, which ends with the return. */
void emit_flow_jump(struct emit *e, const struct emit_flow *f);
/* An indirect jump to a constant place that is not the first of a function. */
void emit_flow_jump_inside(struct emit *e, const struct emit_flow *f);
/* An indirect jump, to another function or not. */
void emit_flow_jump_indirect(struct emit *e, const struct emit_flow *f);
/* A jump out of a linkage table. */
void emit_flow_out_of_stub(struct emit *e, const struct emit_flow *f);

/* Returns whether code here can name that word of the context. */
bool emit_reaches_word(const struct emit *e, unsigned offset);

/* Emits an addition of 1 to a word of the context. */
void emit_count(struct emit *e, unsigned offset, bool keep_flags);

/*
 * The code that logs what a block accesses (emit_activity.c).  `log` and `other` are the registers
 * that it spills for the whole block, two of R8 to R15.  Word 0 of what it logs is the block's
 * number.
 */
/* Returns which of R8 to R15 the instruction may use, as a set of bits. */
unsigned emit_high_registers(const struct insn *insn, const uint8_t *code);
/* Chooses two registers that are not in the set.  Returns false if there are no two. */
bool emit_choose_registers(unsigned used, uint8_t *log, uint8_t *other);
void emit_activity_begin(struct emit *e, unsigned log, unsigned other, int32_t number);
/* Logs a register; the sum of an access's registers. */
void emit_activity_register(struct emit *e, unsigned log, unsigned word, unsigned reg);
void emit_activity_sum(struct emit *e, unsigned log, unsigned other, unsigned word,
		       const struct insn_access *access);
void emit_activity_end(struct emit *e, unsigned log, unsigned other, unsigned words);

/* Where translated code leaves: there is a trampoline for each reason (EXIT_ of context.h),
 * which continues in enter.S.  The trampolines are at the beginning of the code cache, within
 * reach. */
#define TRAMPOLINE_BYTES 16
extern uint8_t *emit_trampolines;
static inline const uint8_t *emit_trampoline(unsigned reason)
{
	return emit_trampolines + (size_t)reason * TRAMPOLINE_BYTES;
}

/* Emits an exit from translated code: stores the site and jumps to the reason's trampoline. */
void emit_leave(struct emit *e, unsigned reason, uint32_t site);

/* Emits a push of the program's return address. */
void emit_push_address(struct emit *e, uint64_t address);

/* Emits RCX = the operand of an indirect branch (register or memory) at program address pc. */
void emit_branch_operand(struct emit *e, const struct insn *insn, const uint8_t *bytes,
			 uint64_t pc);

/* Emits JCXZ or LOOP, which have only 8-bit displacements.  Returns the address of the
 * displacement of the taken path. */
uint8_t *emit_jcxz(struct emit *e, const struct insn *insn, const uint8_t *bytes);

/* Emits RCX = the target of the indirect branch at pc.  The program's RCX is saved, and its
 * stack is adjusted. */
void emit_indirect_target(struct emit *e, const struct insn *insn, uint64_t pc);

/* Returns whether a copy at `at` reaches its RIP-relative operand without spilling a register. */
bool emit_reaches(uint64_t at, const struct insn *insn, uint64_t pc);

/* Returns the address of its RIP-relative operand. */
uint64_t emit_rip_target(const struct insn *insn, uint64_t pc);

/* Replaces the RIP-relative operand of an instruction by that at the address in a register that the
 * instruction does not use: RBP, RSI or RDI.  Returns the register. */
unsigned emit_through_register(const struct insn *insn, uint8_t *copy);

/* Emits the program's own instruction with its RIP-relative operand adjusted. */
void emit_copy(struct emit *e, const struct insn *insn, const uint8_t *bytes, uint64_t pc);

/*
 * The same with the program's GS base, which the instruction may change; no flag changes and the
 * stack is not touched.  The code is this context's alone.  A RIP-relative operand is reached by
 * emit_through_register().  The program's register is in CTX_SPILL_RCX then.
 */
struct context;
void emit_with_gs(struct emit *e, const struct insn *insn, uint64_t pc, struct context *c);
/* Emits GS = the program's base.  No register changes. */
void emit_program_gs(struct emit *e, struct context *c);

/* Emits the code in front of an instruction of a restartable sequence.  Its area has this
 * signature. */
void emit_guard(struct emit *e, uint32_t signature);
/* The code in front of an instruction, and the range that ends with the instruction. */
struct guarded_code {
	uint64_t entry;	     /* where the code is entered */
	uint64_t start, end; /* of the range */
	uint64_t abort;	     /* where the kernel sends the thread when it aborts the range */
};
/* Returns these addresses for the instruction at `code`, whose code ends at `end`. */
struct guarded_code emit_guard_of(uint64_t code, uint64_t end);

/* An instruction that raises #GP, at FAULT_GP, and one that raises #UD, at FAULT_UD. */
#define FAULT_GP 0
#define FAULT_UD 1
void emit_faults(struct emit *e);

/*
 * Emits the end of an indirect branch: a jump through a table, by the low 16 bits of the target,
 * which RCX holds.  The whole target is in the context (emit_through_table()), or, for a RET,
 * still where it was popped from: below the program's stack pointer, where signal handlers leave
 * 128 bytes unchanged.
 */
void emit_through_table(struct emit *e, uint64_t table);
void emit_return(struct emit *e, uint64_t table);

/* Emits a thunk, to which the table leads.  If the target is pc, execution continues after the
 * thunk with the program's RCX, otherwise at `next`. */
void emit_thunk(struct emit *e, uint64_t pc, uint64_t next, bool of_return);
/* Makes the thunk that ends at `end`, of an address below 2 GiB, lead to `next`.  Returns the
 * thunk's start. */
uint64_t emit_chain_thunk(uint64_t end, uint64_t next, bool of_return);

/*
 * Emits code that continues after itself, with the program's RCX, if RCX, which is spilled, is pc.
 * Otherwise it goes to the returned rel32, with RCX unchanged.  No flag changes.
 */
uint8_t *emit_expect(struct emit *e, uint64_t pc);

#endif
