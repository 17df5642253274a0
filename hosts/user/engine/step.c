/* SPDX-License-Identifier: MIT */
/*
 * step.c: a few instructions in a form that comes back to the engine: the precise form.
 *
 * Behind one at which something has to be done the engine must look, so a step ends there; before
 * it stand those, up to a branch, that the meters have room for.  How much room they have is part
 * of what a step is found by.
 *
 * A step is needed once in many thousands of instructions, when neither caches nor translation
 * buffers know it any more: so what is known of it and its code stand side by side, and steps one
 * behind the other.
 */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "emit.h"
#include "frames.h"
#include "keys.h"
#include "path.h"
#include "places.h"
#include "sys.h"
#include "threads.h"

#define FIRST_STEPS 32768 /* places in the table of the first thread */
#define FIRST_BYTES (4u << 20)
#define OTHER_STEPS 1024
#define OTHER_BYTES (128u << 10)
#define CHUNK_BYTES (16 * OTHER_BYTES)
#define LEAST_BYTES (8u << 10)
#define STEP_BYTES  1024 /* more than any takes */
#define STEP_ALIGN  64	 /* a cache line; a place is a number of them */

/* A thread's. */
struct steps {
	uint32_t count;
	uint8_t *room, *at, *code_end, *end;
	uint64_t changes; /* of code until these were made */
	struct step *last;
	bool guarded;
	struct context *owner;
	struct steps *next; /* of all */
	uint16_t place[];   /* of a step in the room, 0: none */
};

static struct steps *made; /* all of them */

/* Under the lock: the instructions of the step in hand. */
static struct path d;

static struct steps *make(uint32_t count, uint64_t room, uint64_t bytes)
{
	struct steps *steps = engine_memory(sizeof(*steps) + count * sizeof(*steps->place));

	steps->count = count;
	steps->room = (uint8_t *)room;
	steps->at = steps->room + STEP_ALIGN;
	steps->end = steps->room + bytes;
	steps->code_end = steps->end - PAGE - STEP_ALIGN; /* step_guard() */
	steps->owner = current;
	steps->next = made;
	made = current->steps = steps;
	return steps;
}

/* Room for code; 0: there is none. */
static uint64_t place(uint64_t bytes)
{
	uint64_t at = place_low(bytes);

	if (at &&
	    is_error(map_memory(at, bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0)))
		return 0;
	return at;
}

/* Where a program leaves little room. */
static struct steps *make_least(void)
{
	uint64_t room = place(LEAST_BYTES);

	if (room)
		return make(OTHER_STEPS, room, LEAST_BYTES);
	engine_unsupported("no room for single steps below 2 GiB");
}

void steps_start(void)
{
	uint64_t room = place(FIRST_BYTES);

	if (room)
		make(FIRST_STEPS, room, FIRST_BYTES);
	else
		make_least();
}

static uint64_t chunk, chunk_end; /* for threads that have not made a step yet */

/* Of another thread: several at a time have their room mapped.  The lock is held. */
static struct steps *make_others(void)
{
	if (chunk == chunk_end) {
		chunk = place(CHUNK_BYTES);
		chunk_end = chunk ? chunk + CHUNK_BYTES : 0;
	}
	if (!chunk)
		return make_least();
	chunk += OTHER_BYTES;
	return make(OTHER_STEPS, chunk - OTHER_BYTES, OTHER_BYTES);
}

static bool is_in(uint64_t room, uint64_t room_end, uint64_t start, uint64_t end)
{
	return room < end && room_end > start;
}

void steps_leave(uint64_t start, uint64_t end)
{
	if (is_in(chunk, chunk_end, start, end)) {
		syscall2(__NR_munmap, (long)chunk, (long)(chunk_end - chunk));
		chunk = chunk_end = 0;
	}
	for (struct steps **at = &made, *s; (s = *at);) {
		if (!is_in((uint64_t)s->room, (uint64_t)s->end, start, end)) {
			at = &s->next;
			continue;
		}
		threads_stop();
		*at = s->next;
		s->owner->steps = NULL;
		syscall2(__NR_munmap, (long)s->room, s->end - s->room);
		threads_go();
	}
}

/* MOV between RAX and a word at a 64-bit address. */
static void emit_rax(struct emit *e, unsigned opcode, const void *word)
{
	emit_bytes(e, (const uint8_t[]){0x48, (uint8_t)opcode}, 2);
	emit_bytes(e, (const uint8_t *)&word, 8);
}

/* The program's GS base for one instruction, which may change it; no flag changes and the stack is
 * not touched. */
static void emit_with_gs(struct emit *e, const struct insn *insn, uint64_t pc)
{
	static const uint8_t wrgsbase[] = {0xf3, 0x48, 0x0f, 0xae, 0xd8}; /* of RAX */
	static const uint8_t rdgsbase[] = {0xf3, 0x48, 0x0f, 0xae, 0xc8};

	emit_save(e, RAX, CTX_SPILL_FLAGS);
	emit_rax(e, 0xa1, &current->program_gs);
	emit_bytes(e, wrgsbase, sizeof(wrgsbase));
	emit_rax(e, 0xa1, &current->spill_flags);
	emit_copy(e, insn, (const uint8_t *)pc, pc);
	emit_rax(e, 0xa3, &current->spill_flags);
	if (insn->kind == INSN_GSBASE) {
		emit_bytes(e, rdgsbase, sizeof(rdgsbase));
		emit_rax(e, 0xa3, &current->program_gs);
	}
	emit_rax(e, 0xb8, current); /* MOV RAX, imm64 */
	emit_bytes(e, wrgsbase, sizeof(wrgsbase));
	emit_load(e, RAX, CTX_SPILL_FLAGS);
}

static bool needs_gs(const struct insn *insn)
{
	return insn->uses_gs || insn->kind == INSN_GSBASE;
}

static void emit_step(struct emit *e, const struct insn *insn, uint64_t pc)
{
	uint8_t *taken;

	if (needs_gs(insn)) { /* a branch only faults there (run.c) */
		emit_with_gs(e, insn, pc);
		emit_jmp(e, (uint64_t)blocks_gate(EXIT_STEP_NEXT));
		return;
	}
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
	case INSN_UNDEFINED: /* runs elsewhere (unknown.c) */
		break;
	default:
		emit_copy(e, insn, (const uint8_t *)pc, pc);
		emit_jmp(e, (uint64_t)blocks_gate(EXIT_STEP_NEXT));
	}
}

/* --- which instructions --- */

/* The step goes on behind it: it is copied as it is, and nothing has to be known of its run. */
static bool goes_on(const struct insn *insn)
{
	return insn->kind == INSN_PLAIN && !is_special(insn) && !insn->rep;
}

/* It may stand at the end of a step of several. */
static bool may_follow(const struct insn *insn)
{
	switch (insn->kind) {
	case INSN_JCC:
	case INSN_JCXZ:
	case INSN_JMP_REL:
	case INSN_CALL_REL:
	case INSN_JMP_IND:
	case INSN_CALL_IND:
	case INSN_RET:
		return !is_special(insn);
	default:
		return goes_on(insn);
	}
}

/* Take what the instruction produces; false: some meter does not have it. */
static bool take(uint32_t *budget, uint64_t signals)
{
	bool all = true;

	for (unsigned m = 0; m < meters; m++) {
		uint32_t shift = STEP_BUDGET_BITS * m, n = meter_occurrences(m, signals);

		if (n > (*budget >> shift & STEP_BUDGET_MOST))
			all = false;
		else
			*budget -= n << shift;
	}
	return all;
}

static bool decode_next(uint64_t pc, bool changes)
{
	struct insn *insn = &d.insn[d.n];
	uint64_t end = memory_code_end(pc);

	if (!end || (changes && !memory_readable(pc, 1)))
		return false; /* a stack has not grown so far yet */
	if (!path_decode(pc, end, insn)) {
		insn->kind = INSN_UNDEFINED;
		insn->length = (uint8_t)(end - pc);
	}
	return true;
}

/* The instructions from pc on that the budget has room for, and one more.  False: there is none. */
static bool decode(uint64_t pc, uint32_t budget, bool changes)
{
	bool alone = changes || budget & STEP_ALONE, room = true;

	for (d.n = 0; d.n < STEP_INSNS_MAX && room; d.n++) {
		struct insn *insn = &d.insn[d.n];

		if (!decode_next(pc, changes) || (d.n && !may_follow(insn)))
			break;
		room = !alone && take(&budget, insn->signals) && goes_on(insn);
		if (d.n && !room && counting_wants_address(insn->signals))
			break; /* it stands in registers before the instruction */
		d.pc[d.n] = pc;
		pc += insn->length;
	}
	return d.n;
}

/* --- making --- */

static void forget(struct steps *steps)
{
	if (steps->at != steps->room + STEP_ALIGN) /* memory that nobody has used is not touched */
		memset(steps->place, 0, steps->count * sizeof(*steps->place));
	steps->at = steps->room + STEP_ALIGN;
	steps->last = NULL;
}

/* No register but RAX is borrowed while GS is the program's. */
static bool runs_with_gs(const struct steps *steps, const struct insn *insn, uint64_t pc)
{
	return insn->kind != INSN_FAR && insn->kind != INSN_XBEGIN && !is_indirect(insn) &&
	       emit_reaches((uint64_t)steps->room, insn, pc) &&
	       emit_reaches((uint64_t)steps->end, insn, pc);
}

/* The code stands behind what is known of it. */
static struct step *write(struct steps *steps, uint32_t budget)
{
	const struct insn *last = &d.insn[d.n - 1];
	struct step *s;
	struct emit e;

	if (steps->code_end - steps->at < STEP_BYTES)
		forget(steps);
	s = (struct step *)steps->at;
	*s = (struct step){
		.pc = d.pc[0],
		.budget = budget,
		.insns = (uint8_t)d.n,
		.kind = last->kind,
		.special = is_special(last) && !runs_with_gs(steps, last, d.pc[d.n - 1]),
		.uses_gs = needs_gs(last),
		.rep = last->rep,
		.addressed = counting_wants_address(last->signals),
		.address32 = last->address32,
		.target = last->target,
	};
	e.at = (uint8_t *)&s->insn[d.n];
	s->code = (uint32_t)(uint64_t)e.at;
	for (unsigned i = 0; i < d.n; i++) {
		uint8_t *start = e.at;

		if (i + 1 < d.n)
			emit_copy(&e, &d.insn[i], (const uint8_t *)d.pc[i], d.pc[i]);
		else
			emit_step(&e, &d.insn[i], d.pc[i]);
		s->insn[i].signals = d.insn[i].signals;
		s->insn[i].bytes = d.insn[i].length;
		s->insn[i].code_bytes = (uint8_t)(e.at - start);
	}
	s->code_end = (uint32_t)(uint64_t)e.at;
	steps->at += ((uint64_t)(e.at - steps->at) + STEP_ALIGN - 1) & ~(uint64_t)(STEP_ALIGN - 1);
	return s;
}

static uint16_t *place_of(struct steps *steps, uint64_t pc, uint32_t budget)
{
	uint64_t key = pc + ((uint64_t)budget << 32);

	return steps->place + (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) % steps->count;
}

/* NULL: cannot be executed.  The lock is held. */
static struct step *make_step(struct steps *steps, uint64_t pc, uint32_t budget)
{
	bool changes = memory_is_volatile(pc) || current->run.unwatched, again;
	struct step *s;
	READING_CODE;

	do {
		again = false;
		if (!decode(pc, budget, changes))
			return NULL;
		for (unsigned i = 0; i < d.n && !changes; i++) {
			again |= memory_watch_page(d.pc[i]);
			again |= memory_watch_page(d.pc[i] + d.insn[i].length - 1);
		}
	} while (again);
	s = write(steps, budget);
	if (!changes && s->kind != INSN_UNDEFINED) /* that may be another when more can be read */
		*place_of(steps, pc, budget) =
			(uint16_t)(((uint8_t *)s - steps->room) / STEP_ALIGN);
	return s;
}

static struct step *find(struct steps *steps, uint64_t pc, uint32_t budget)
{
	uint32_t place;
	struct step *s;

	if (steps->changes != blocks_changes) {
		forget(steps);
		steps->changes = blocks_changes;
	}
	place = *place_of(steps, pc, budget);
	s = (struct step *)(steps->room + place * STEP_ALIGN);
	if (!place || current->run.unwatched || memory_is_volatile(pc))
		return NULL;
	return s->pc == pc && s->budget == budget ? s : NULL;
}

struct step *translate_step(uint64_t pc)
{
	struct steps *steps = current->steps;
	uint32_t budget = counting_budget();
	struct step *s = steps ? find(steps, pc, budget) : NULL;

	if (!s) {
		engine_lock();
		steps = current->steps; /* while the thread waited they may have been taken away */
		if (!steps)
			steps = make_others();
		s = find(steps, pc, budget); /* what was there may have been forgotten meanwhile */
		if (!s)
			s = make_step(steps, pc, budget);
		engine_unlock();
	}
	steps->last = s;
	return s;
}

uint32_t *step_code_behind(uint64_t pc)
{
	struct steps *steps = current->steps;
	struct step *s = steps ? steps->last : NULL;

	if (!s || steps->changes != blocks_changes || memory_is_volatile(pc))
		return NULL;
	if (s->next != pc) {
		s->next = pc;
		s->next_code = 0;
	}
	return &s->next_code;
}

uint8_t *step_guard(void)
{
	struct steps *steps = current->steps;
	uint8_t *guard = steps->end - PAGE;

	if (!steps->guarded)
		syscall3(__NR_mprotect, (long)guard, (long)PAGE, PROT_NONE);
	steps->guarded = true;
	return guard;
}

bool step_waits(uint64_t address)
{
	const struct step *s = step_of_code(address);

	return s && s->kind == INSN_FAR && address == s->code;
}

struct step *step_of_code(uint64_t address)
{
	struct step *s = current->steps ? current->steps->last : NULL;

	return s && address >= s->code && address < s->code_end ? s : NULL;
}

unsigned step_index(const struct step *s, uint64_t address, bool *exact)
{
	uint64_t at = s->code;
	unsigned i = 0;

	while (i + 1 < s->insns && address >= at + s->insn[i].code_bytes)
		at += s->insn[i++].code_bytes;
	*exact = address == at;
	return i;
}
