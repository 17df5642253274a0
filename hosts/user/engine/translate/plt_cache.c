/* SPDX-License-Identifier: MIT */
/*
 * plt_cache.c: indirect branches that almost always go to one place, through a word of memory
 * that is written once.  An entry of a procedure linkage table jumps in this way through the
 * global offset table (System V ABI, AMD64 supplement, 5.2).
 *
 * The word's value at translation is expected each time the branch runs.  Before the dynamic
 * linker has found a symbol, the word leads to the code that asks for it.
 */
#include "engine/memory/access.h"
#include "engine/memory/regions.h"
#include "engine/rt/sys.h"
#include "engine/translate/path.h"
#include "engine/x86/keys.h"
#include "engine/x86/recognise.h"

#define WAITING	  1024 /* entries that are remembered */
#define WAITS_MAX 2

/* Is that an entry that asks the dynamic linker? */
static bool asks(uint64_t pc)
{
	return region_code_end(pc) >= pc + PLT_REQUEST_BYTES &&
	       recognise_plt_request((const uint8_t *)pc);
}

/* Returns the value of the branch's word; 0: it has none, or that is no code below 2 GiB. */
static uint64_t word_of(const struct insn *insn, uint64_t pc)
{
	uint64_t at = pc + insn->length + (uint64_t)insn->displacement, target;

	if (!insn->rip_offset || insn->rip_address32 || insn->segment || at & 7 ||
	    !access_readable(at, sizeof(target)))
		return 0;
	target = __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
	return target <= INT32_MAX && region_code_end(target) ? target : 0;
}

uint64_t plt_cache_target(const struct insn *insn, uint64_t pc)
{
	uint64_t target =
		insn->kind == INSN_JMP_IND || insn->kind == INSN_CALL_IND ? word_of(insn, pc) : 0;

	return target && !asks(target) ? target : 0;
}

/* Returns whether pc has waited too often.  A branch that never becomes stable is translated as
 * it is. */
static bool waits_too_long(uint64_t pc)
{
	static struct {
		uint32_t pc;
		uint32_t times;
	} waiting[WAITING];
	uint32_t i = (uint32_t)(pc / 8) % WAITING;

	if (waiting[i].pc != (uint32_t)pc) {
		waiting[i].pc = (uint32_t)pc;
		waiting[i].times = 0;
	}
	return ++waiting[i].times > WAITS_MAX;
}

unsigned plt_cache_soon(uint64_t pc)
{
	unsigned before;
	struct insn insn;
	uint64_t target;
	READING_CODE;

	if (region_code_end(pc) < pc + PLT_JUMP_BYTES ||
	    !recognise_plt_jump((const uint8_t *)pc, &before))
		return 0;
	pc += before;
	if (!path_decode(pc, region_code_end(pc), &insn) || insn.kind != INSN_JMP_IND)
		return 0;
	target = word_of(&insn, pc);
	return target && asks(target) && !waits_too_long(pc) ? 1 + (before != 0) : 0;
}
