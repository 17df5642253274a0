/* SPDX-License-Identifier: MIT */
/*
 * stable.c: indirect branches that as good as always go to one place: through a word of memory
 * that is written once, as an entry of a procedure linkage table jumps through the global offset
 * table (System V ABI, AMD64 supplement, 5.2).  What the word holds when the branch is translated
 * is expected each time it runs.
 *
 * Before the dynamic linker has found a symbol the word leads to the code that asks for it.
 */
#include "keys.h"
#include "path.h"
#include "sys.h"

#define WAITING	  1024 /* entries that are remembered */
#define WAITS_MAX 2
#define JMP_BYTES 6 /* FF /4 with a displacement of 32 bits */

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

/* PUSH n; JMP to the code that asks, both perhaps with a prefix. */
static bool asks(uint64_t pc)
{
	const uint8_t *code = (const uint8_t *)pc;

	if (memory_code_end(pc) < pc + 16)
		return false;
	if (!memcmp(code, endbr64, sizeof(endbr64)))
		code += sizeof(endbr64);
	return code[0] == 0x68 && (code[5] == 0xe9 || (code[5] == 0xf2 && code[6] == 0xe9));
}

/* What the branch's word holds, 0: it has none, or that is no code below 2 GiB. */
static uint64_t word_of(const struct insn *insn, uint64_t pc)
{
	uint64_t at = pc + insn->length + (uint64_t)insn->displacement, target;

	if (!insn->rip_offset || insn->rip_address32 || insn->segment || at & 7 ||
	    !memory_readable(at, sizeof(target)))
		return 0;
	target = __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
	return target <= INT32_MAX && memory_code_end(target) ? target : 0;
}

uint64_t stable_target(const struct insn *insn, uint64_t pc)
{
	uint64_t target =
		insn->kind == INSN_JMP_IND || insn->kind == INSN_CALL_IND ? word_of(insn, pc) : 0;

	return target && !asks(target) ? target : 0;
}

/* How often that has been said of pc: what never becomes stable is translated as it is. */
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

unsigned stable_soon(uint64_t pc)
{
	const uint8_t *code = (const uint8_t *)pc;
	unsigned before = 0;
	struct insn insn;
	uint64_t target;
	READING_CODE;

	if (memory_code_end(pc) < pc + sizeof(endbr64) + 1 + JMP_BYTES)
		return 0;
	if (!memcmp(code, endbr64, sizeof(endbr64)))
		before = sizeof(endbr64);
	if (code[before + (code[before] == 0xf2)] != 0xff)
		return 0;
	pc += before;
	if (!path_decode(pc, memory_code_end(pc), &insn) || insn.kind != INSN_JMP_IND)
		return 0;
	target = word_of(&insn, pc);
	return target && asks(target) && !waits_too_long(pc) ? 1 + (before != 0) : 0;
}
