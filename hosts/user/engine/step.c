/* SPDX-License-Identifier: MIT */
/*
 * step.c: one instruction in a form that comes back to the engine: the precise form.
 * Steps stand in a small table by program address, each with room for its code.
 */
#include <linux/mman.h>

#include "emit.h"
#include "frames.h"
#include "path.h"
#include "sys.h"
#include "threads.h"

#define FIRST_STEPS 16384 /* of the first thread */
#define OTHER_STEPS 1024
#define STEP_BYTES  128
#define CHUNK_BYTES (16 * OTHER_STEPS * STEP_BYTES)

/* A thread's. */
struct steps {
	uint32_t count;
	uint8_t *code;
	uint64_t changes; /* of code until these were made */
	struct step step[];
};

static struct steps *make(uint32_t count, uint64_t code)
{
	struct steps *steps = engine_memory(sizeof(*steps) + count * sizeof(*steps->step));

	if (!code)
		engine_fail(126, "no room for single steps below 2 GiB");
	steps->count = count;
	steps->code = (uint8_t *)code;
	current->steps = steps;
	return steps;
}

static uint64_t place(uint64_t bytes)
{
	uint64_t at = memory_place_first(bytes);

	if (!at ||
	    is_error(map_memory(at, bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0)))
		return 0;
	return at;
}

void steps_start(void)
{
	make(FIRST_STEPS, place(FIRST_STEPS * STEP_BYTES));
}

/* Of another thread: several at a time have their code mapped.  The lock is held. */
static struct steps *make_others(void)
{
	static uint64_t chunk, end;
	uint64_t code;

	if (chunk == end) {
		chunk = place(CHUNK_BYTES);
		end = chunk ? chunk + CHUNK_BYTES : 0;
	}
	code = chunk;
	chunk += chunk ? OTHER_STEPS * STEP_BYTES : 0;
	return make(OTHER_STEPS, code);
}

/* MOV between RAX and a word at a 64-bit address. */
static void emit_rax(struct emit *e, unsigned opcode, const void *word)
{
	emit_bytes(e, (const uint8_t[]){0x48, (uint8_t)opcode}, 2);
	emit_bytes(e, (const uint8_t *)&word, 8);
}

/* The program's GS base for one instruction; no flag changes and the stack is not touched. */
static void emit_with_gs(struct emit *e, const struct insn *insn, uint64_t pc)
{
	static const uint8_t wrgsbase[] = {0xf3, 0x48, 0x0f, 0xae, 0xd8}; /* of RAX */

	emit_save(e, RAX, CTX_SPILL_FLAGS);
	emit_rax(e, 0xa1, &current->program_gs);
	emit_bytes(e, wrgsbase, sizeof(wrgsbase));
	emit_rax(e, 0xa1, &current->spill_flags);
	emit_copy(e, insn, (const uint8_t *)pc, pc);
	emit_rax(e, 0xa3, &current->spill_flags);
	emit_rax(e, 0xb8, current); /* MOV RAX, imm64 */
	emit_bytes(e, wrgsbase, sizeof(wrgsbase));
	emit_load(e, RAX, CTX_SPILL_FLAGS);
}

static void emit_step(struct emit *e, const struct insn *insn, uint64_t pc)
{
	uint8_t *taken;

	switch (insn->kind) {
	case INSN_JCC:
		taken = emit_jcc(e, insn->opcode & 15, 0);
		emit_jmp(e, (uint64_t)blocks_gate(EXIT_STEP_NEXT));
		emit_patch(taken, (uint64_t)blocks_gate(EXIT_STEP_TAKEN));
		break;
	case INSN_JCXZ:
		*emit_jcxz(e, insn, (const uint8_t *)pc) = 5;
		emit_jmp(e, (uint64_t)blocks_gate(EXIT_STEP_NEXT));
		emit_jmp(e, (uint64_t)blocks_gate(EXIT_STEP_TAKEN));
		break;
	case INSN_CALL_REL:
		emit_push_address(e, pc + insn->length);
		emit_jmp(e, (uint64_t)blocks_gate(EXIT_STEP_TAKEN));
		break;
	case INSN_JMP_REL:
		emit_jmp(e, (uint64_t)blocks_gate(EXIT_STEP_TAKEN));
		break;
	case INSN_JMP_IND:
	case INSN_CALL_IND:
	case INSN_RET:
		emit_indirect_target(e, insn, pc);
		emit_save(e, RCX, CTX_PC);
		emit_load(e, RCX, CTX_SPILL_RCX);
		emit_jmp(e, (uint64_t)blocks_gate(EXIT_STEP_JUMP));
		break;
	case INSN_RDPMC: /* is run by the engine, but for its faults: HLT at STEP_GP, UD2 at STEP_UD
			  */
		emit_bytes(e, (const uint8_t[]){0xf4, 0x0f, 0x0b}, 3);
		break;
	default:
		if (insn->uses_gs)
			emit_with_gs(e, insn, pc);
		else
			emit_copy(e, insn, (const uint8_t *)pc, pc);
		emit_jmp(e, (uint64_t)blocks_gate(EXIT_STEP_NEXT));
	}
}

/* False: there is no instruction. */
static bool decode(struct step *s, uint64_t pc, bool changes)
{
	uint64_t end = memory_code_end(pc);

	if (!end || (changes && !memory_readable(pc, 1)))
		return false; /* a stack has not grown so far yet */
	if (!path_decode(pc, end, &s->insn)) {
		s->insn.kind = INSN_UNDEFINED;
		s->insn.length = (uint8_t)(end - pc);
	}
	return true;
}

/* In its place, or as it was there already; NULL: cannot be executed.  The lock is held. */
static struct step *make_step(struct steps *steps, uint32_t slot, uint64_t pc)
{
	bool changes = memory_is_volatile(pc), again = !changes;
	struct step *s = steps->step + slot;
	struct emit e;

	s->code = 0;
	if (!decode(s, pc, changes))
		return NULL;
	while (again) {
		again = memory_watch_page(pc);
		again |= memory_watch_page(pc + s->insn.length - 1);
		if (again)
			decode(s, pc, changes);
	}
	s->pc = pc;
	s->code = (uint64_t)(steps->code + slot * STEP_BYTES);
	e.at = (uint8_t *)s->code;
	emit_step(&e, &s->insn, pc);
	return s;
}

static uint32_t slot_of(const struct steps *steps, uint64_t pc)
{
	return (uint32_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 40) % steps->count;
}

static struct step *find(struct steps *steps, uint64_t pc)
{
	struct step *s = steps->step + slot_of(steps, pc);

	if (steps->changes != blocks_changes) {
		memset(steps->step, 0, steps->count * sizeof(*s));
		steps->changes = blocks_changes;
	}
	return s->pc == pc && s->code && !memory_is_volatile(pc) ? s : NULL;
}

struct step *translate_step(uint64_t pc)
{
	struct steps *steps = current->steps;
	struct step *s = steps ? find(steps, pc) : NULL;

	if (s)
		return s;
	engine_lock();
	if (!steps)
		steps = make_others();
	s = find(steps, pc); /* what was there may have been forgotten meanwhile */
	if (!s)
		s = make_step(steps, slot_of(steps, pc), pc);
	engine_unlock();
	return s;
}

struct step *step_of_code(uint64_t address)
{
	struct steps *steps = current->steps;
	uint64_t slot;

	if (!steps || address < (uint64_t)steps->code)
		return NULL;
	slot = (address - (uint64_t)steps->code) / STEP_BYTES;
	return slot < steps->count ? steps->step + slot : NULL;
}
