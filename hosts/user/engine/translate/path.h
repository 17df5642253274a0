/* SPDX-License-Identifier: MIT */
/*
 * path.h: a piece of program code that is translated as one block: the instructions in the order
 * in which they run if every branch except the last goes the way that was followed.
 */
#ifndef SOFTPMU_ENGINE_PATH_H
#define SOFTPMU_ENGINE_PATH_H

#include <softpmu/unit.h>

#include "engine/count/count.h"
#include "engine/memory/regions.h"
#include "engine/rt/engine.h"
#include "engine/translate/translate.h"
#include "engine/x86/opcodes.h"
#include "engine/x86/recognise.h"

struct path {
	struct insn insn[BLOCK_INSNS_MAX];
	uint64_t pc
		[BLOCK_INSNS_MAX +
		 /* Pc[n]: the address after the last instruction, not the target of its branch. */
		 1];
	unsigned n;
	uint16_t clocks[BLOCK_INSNS_MAX]; /* static clocks of each, in parts, if they count */
	uint64_t constants; /* of a simple block: a bit for each that may load a constant */
};

/* How many bytes the decoder may look at. */
static inline size_t path_available(uint64_t pc, uint64_t end)
{
	return end - pc > INSN_BYTES_MAX + 1 ? INSN_BYTES_MAX + 1 : end - pc;
}

/* Returns whether the instruction, an XCHG, is a client request of valgrind. */
static inline bool path_is_valgrind(uint64_t pc)
{
	return recognise_valgrind_exchange((const uint8_t *)pc) &&
	       region_code_end(pc - VALGRIND_PREAMBLE_BYTES) &&
	       recognise_valgrind_request((const uint8_t *)pc);
}

/* Finds requests to softpmu, which are instructions like others for the decoder. */
static inline void path_note_request(struct insn *insn, uint64_t pc)
{
	if (insn->opcode == OPCODE_NOP_OPERAND && insn->length == REQUEST_BYTES &&
	    recognise_request((const uint8_t *)pc))
		insn->kind = INSN_REQUEST;
	if (insn->opcode == OPCODE_XCHG && insn->length == VALGRIND_EXCHANGE_BYTES &&
	    engine_wants(LINK_WANT_VALGRIND) && path_is_valgrind(pc))
		insn->kind = INSN_REQUEST;
}

/* Decodes one instruction.  Returns false if it does not end before `end`. */
static inline bool path_decode(uint64_t pc, uint64_t end, struct insn *insn)
{
	if (!insn_decode((const uint8_t *)pc, path_available(pc, end), pc, insn))
		return false;
	path_note_request(insn, pc);
	return true;
}

/* Lets a new process decode its first instructions without the decoder's memo.  The kernel copies
 * each page of the memo that the process writes to, and many processes end after a few blocks. */
void path_begin_process(void);

/* Makes the path of a simple block: up to the first control transfer, at most `limit`
 * instructions.  `locked`: the caller has the lock. */
void path_of_block(struct path *p, uint64_t pc, uint64_t end, unsigned limit, bool locked);

/* Makes the path that a thread has taken, from pcs[0], as far as one block may go. */
bool path_of_record(struct path *p, const uint64_t *pcs, unsigned n);

/* Makes the path of an existing block (side_tables.c). */
void side_table_path(struct path *p, const struct block *block);

/* Returns whether the engine must handle this instruction each time it runs. */
bool path_needs_engine(const struct insn *insn);

/* path_clocks.c: Finds the static clocks of a path. */
void path_clocks(struct path *p);
/* Shortens a path that may end anywhere to whole pieces, if a meter counts static clocks. */
void path_clocks_cut(struct path *p);

static inline bool path_is_conditional(const struct insn *insn)
{
	return insn->kind == INSN_JCC || insn->kind == INSN_JCXZ;
}

static inline bool path_is_indirect(const struct insn *insn)
{
	return insn->kind == INSN_JMP_IND || insn->kind == INSN_CALL_IND || insn->kind == INSN_RET;
}

/* Returns whether the instruction does not run unchanged: the engine refuses it or replaces it. */
bool path_is_special(const struct insn *insn);

/* Returns which way branch i of the path, which is not the last, was followed. */
bool path_taken(const struct path *p, unsigned i);

/* Returns where the path is left when branch i does not go the way that was followed. */
uint64_t path_side(const struct path *p, unsigned i);

/* Returns what instruction i produces on meter m.  For the last instruction, that is without the
 * outcome of a conditional branch, unless the meter counts both outcomes. */
unsigned path_occurrences(const struct path *p, unsigned i, unsigned m);

/*
 * Returns whether the program certainly continues at a higher address after the path, in the
 * same FORWARD_SPAN aligned bytes.  So at most that many instructions run until a path that does
 * not.
 */
bool path_goes_forward(const struct path *p);

/* Returns how many instructions may run before the path is charged. */
unsigned path_charge_limit(const struct path *p);

/*
 * Returns the first point, at most `limit` instructions in, at which the arithmetic flags are
 * certainly overwritten before anything reads them.  -1: there is none.
 */
int path_dead_flags(const struct path *p, unsigned limit);

/* Returns whether the flags are certainly overwritten before anything at pc reads them.  Results
 * are for the block being translated; path_forget_flags() begins another one. */
bool path_flags_dead_at(uint64_t pc);
void path_forget_flags(void);

/* plt_cache.c */
/* Returns where an indirect branch is expected to go each time; 0: no particular place. */
uint64_t plt_cache_target(const struct insn *insn, uint64_t pc);
/* Returns how many instructions run until the indirect jump at pc has such a target; 0: it is no
 * such jump. */
unsigned plt_cache_soon(uint64_t pc);

#endif
