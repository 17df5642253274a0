/* SPDX-License-Identifier: MIT */
/*
 * step.c: a few instructions in a form that returns to the engine: a precise step.
 *
 * The engine must act after some instructions, so a step ends there.  Before that instruction
 * are others, up to a branch, for which the meters have headroom.  How much headroom that is, is
 * part of the key by which a step is found.
 *
 * A step is needed once in many thousands of instructions, when neither caches nor TLBs hold it
 * any more.  So its description and its code are side by side, and steps are one after the
 * other.
 */
#include <linux/mman.h>

#include "engine/cache/cache.h"
#include "engine/count/count.h"
#include "engine/count/meter_list.h"
#include "engine/count/points.h"
#include "engine/memory/access.h"
#include "engine/memory/places.h"
#include "engine/memory/regions.h"
#include "engine/rt/context.h"
#include "engine/rt/context_words.h"
#include "engine/rt/engine.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"
#include "engine/translate/path.h"
#include "engine/translate/sections.h"
#include "engine/translate/step_path.h"
#include "engine/translate/translate.h"
#include "engine/watch/watch.h"
#include "engine/x86/emit.h"
#include "engine/x86/keys.h"
#include "hosts/user/hash.h"

#define FIRST_STEPS 1024  /* places in a table: few, as each touches another page */
#define MOST_STEPS  32768 /* in that of the first thread, once there are many steps */
#define FIRST_BYTES (4u << 20)
#define OTHER_BYTES (128u << 10)
#define CHUNK_BYTES (16 * OTHER_BYTES)
#define LEAST_BYTES (8u << 10)
#define STEP_BYTES  1024 /* more than any step needs */
#define STEP_ALIGN  64	 /* a cache line; a place is a number of them */

/* The steps of a thread. */
struct steps {
	uint32_t count, most; /* places */
	uint8_t *room, *at, *code_end, *end;
	uint64_t changes; /* number of code changes when these were made */
	struct step *last;
	bool guarded;
	struct context *owner;
	struct steps *next; /* list of all */
	uint16_t place[];   /* entry of a step; 0: none */
};

static struct steps *made; /* all of them */

/* Under the lock: the instructions of the step being made. */
static struct path d;

static struct steps *make(uint32_t most, uint64_t room, uint64_t bytes)
{
	struct steps *steps = heap_allocate(sizeof(*steps) + most * sizeof(*steps->place));

	steps->count = FIRST_STEPS;
	steps->most = most;
	steps->room = (uint8_t *)room;
	steps->at = steps->room + STEP_ALIGN;
	steps->end = steps->room + bytes;
	steps->code_end = steps->end - PAGE - STEP_GUARD_ROOM;
	steps->owner = current;
	steps->next = made;
	made = current->steps = steps;
	return steps;
}

/* Returns a place for code; 0: there is none. */
static uint64_t place(uint64_t bytes)
{
	uint64_t at = place_low(bytes, (uint64_t)cache_base, (uint64_t)cache_end);

	if (at && is_error(sys_map(at, bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0)))
		return 0;
	return at;
}

/* Used when a program leaves little space. */
static struct steps *make_least(void)
{
	uint64_t room = place(LEAST_BYTES);

	if (room)
		return make(FIRST_STEPS, room, LEAST_BYTES);
	engine_unsupported("no room for single steps below 2 GiB");
}

void step_start(void)
{
	uint64_t room = place(FIRST_BYTES);

	if (room)
		make(MOST_STEPS, room, FIRST_BYTES);
	else
		make_least();
}

static uint64_t chunk, chunk_end; /* for threads that have not made a step yet */

/* Makes those of another thread.  The memory of several threads is mapped at a time.  The lock
 * is held. */
static struct steps *make_others(void)
{
	if (chunk == chunk_end) {
		chunk = place(CHUNK_BYTES);
		chunk_end = chunk ? chunk + CHUNK_BYTES : 0;
	}
	if (!chunk)
		return make_least();
	chunk += OTHER_BYTES;
	return make(FIRST_STEPS, chunk - OTHER_BYTES, OTHER_BYTES);
}

static bool is_in(uint64_t room, uint64_t room_end, uint64_t start, uint64_t end)
{
	return room < end && room_end > start;
}

void step_leave(uint64_t start, uint64_t end)
{
	if (is_in(chunk, chunk_end, start, end)) {
		sys_unmap(chunk, chunk_end - chunk);
		chunk = chunk_end = 0;
	}
	for (struct steps **at = &made, *s; (s = *at);) {
		if (!is_in((uint64_t)s->room, (uint64_t)s->end, start, end)) {
			at = &s->next;
			continue;
		}
		lock_stop_others();
		*at = s->next;
		s->owner->steps = NULL;
		sys_unmap((uint64_t)s->room, (size_t)(s->end - s->room));
		lock_resume_others();
	}
}

static bool needs_gs(const struct insn *insn)
{
	return insn->uses_gs || insn->kind == INSN_GSBASE;
}

static void emit_step(struct emit *e, const struct insn *insn, uint64_t pc)
{
	uint8_t *taken;

	if (needs_gs(insn) || insn->near_16) { /* a branch only faults here (near.c) */
		if (needs_gs(insn))
			emit_with_gs(e, insn, pc, current);
		else
			emit_copy(e, insn, (const uint8_t *)pc, pc);
		emit_jmp(e, (uint64_t)emit_trampoline(EXIT_STEP_NEXT));
		return;
	}
	switch (insn->kind) {
	case INSN_JCC:
		taken = emit_jcc(e, insn->opcode & 15, 0);
		emit_jmp(e, (uint64_t)emit_trampoline(EXIT_STEP_NEXT));
		emit_patch(taken, (uint64_t)emit_trampoline(EXIT_STEP_TAKEN));
		break;
	case INSN_JCXZ:
		*emit_jcxz(e, insn, (const uint8_t *)pc) = 5;
		emit_jmp(e, (uint64_t)emit_trampoline(EXIT_STEP_NEXT));
		emit_jmp(e, (uint64_t)emit_trampoline(EXIT_STEP_TAKEN));
		break;
	case INSN_CALL_REL:
		emit_push_address(e, pc + insn->length);
		emit_jmp(e, (uint64_t)emit_trampoline(EXIT_STEP_TAKEN));
		break;
	case INSN_JMP_REL:
		emit_jmp(e, (uint64_t)emit_trampoline(EXIT_STEP_TAKEN));
		break;
	case INSN_JMP_IND:
	case INSN_CALL_IND:
	case INSN_RET:
		emit_indirect_target(e, insn, pc);
		emit_save(e, RCX, CTX_PC);
		emit_load(e, RCX, CTX_SPILL_RCX);
		emit_jmp(e, (uint64_t)emit_trampoline(EXIT_STEP_JUMP));
		break;
	case INSN_RDPMC: /* is run by the engine, but for its faults: emit_faults() */
		emit_faults(e);
		break;
	case INSN_UNDEFINED: /* runs elsewhere (unknown.c) */
		break;
	default:
		emit_copy(e, insn, (const uint8_t *)pc, pc);
		emit_jmp(e, (uint64_t)emit_trampoline(EXIT_STEP_NEXT));
	}
}

/* --- making --- */

static void forget(struct steps *steps)
{
	if (steps->at != steps->room + STEP_ALIGN) /* unused memory is not touched */
		memset(steps->place, 0, steps->count * sizeof(*steps->place));
	steps->at = steps->room + STEP_ALIGN;
	steps->last = NULL;
}

void step_forget_all(void)
{
	if (current->steps)
		forget(current->steps);
}

/* Returns whether the engine runs the instruction itself (run.c). */
static bool is_emulated(const struct insn *insn)
{
	return insn->kind == INSN_FAR || insn->kind == INSN_XBEGIN || insn->near_16 ||
	       (insn->uses_gs && path_is_indirect(insn));
}

struct guarded_code step_guarded_code(const struct step *s)
{
	/* A JMP follows the instruction.  There the instruction has run, and may not be aborted. */
	return emit_guard_of(s->code, s->code_end - JMP_BYTES);
}

/* Is it copied as one instruction, which has run completely or not at all? */
static bool can_be_guarded(const struct steps *steps, const struct insn *insn, uint64_t pc)
{
	return current->sequence && step_path_goes_on(insn) && sections_will_hold(pc) &&
	       emit_reaches((uint64_t)steps->room, insn, pc) &&
	       emit_reaches((uint64_t)steps->end, insn, pc);
}

static uint64_t in_lines(uint64_t bytes)
{
	return (bytes + STEP_ALIGN - 1) & -(uint64_t)STEP_ALIGN;
}

/* Writes the step.  Its code follows its description. */
static struct step *write(struct steps *steps, uint32_t headroom)
{
	const struct insn *last = &d.insn[d.n - 1];
	struct step *s;
	struct emit e;

	if (steps->code_end - steps->at < STEP_BYTES)
		forget(steps);
	s = (struct step *)steps->at;
	*s = (struct step){
		.pc = d.pc[0],
		.headroom = headroom,
		.insns = (uint8_t)d.n,
		.variant = current->list->variant,
		.kind = last->kind,
		.special = is_emulated(last),
		.uses_gs = needs_gs(last),
		.rep = last->rep,
		.addressed = units_want_address(last->signals),
		.address32 = last->address32,
		.guarded = d.n == 1 && can_be_guarded(steps, last, d.pc[0]),
		.target = last->target,
	};
	e.at = (uint8_t *)&s->insn[d.n];
	if (s->guarded)
		emit_guard(&e, current->restartable.signature);
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
	steps->at += in_lines((uint64_t)(e.at - steps->at));
	return s;
}

static uint16_t *place_of(struct steps *steps, uint64_t pc, uint32_t headroom, uint8_t variant)
{
	uint64_t key = pc + ((uint64_t)headroom << 32) + ((uint64_t)variant << 24);

	return steps->place + (uint32_t)(hash_of(key) >> 40) % steps->count;
}

static void enter_step(struct steps *steps, const struct step *s)
{
	*place_of(steps, s->pc, s->headroom, s->variant) =
		(uint16_t)(((const uint8_t *)s - steps->room) / STEP_ALIGN);
}

/* The table gets all its places.  Steps that are not to be found again are not in it. */
static void grow(struct steps *steps)
{
	memset(steps->place, 0, steps->count * sizeof(*steps->place));
	steps->count = steps->most;
	for (uint8_t *at = steps->room + STEP_ALIGN; at < steps->at;) {
		const struct step *s = (const struct step *)at;

		if (s->lasts)
			enter_step(steps, s);
		at += in_lines(s->code_end - (uint32_t)(uint64_t)at);
	}
}

/* Returns NULL if it cannot be executed.  The lock is held. */
static struct step *make_step(struct steps *steps, uint64_t pc, uint32_t headroom)
{
	bool changes = region_is_volatile(pc) || current->run.unwatched, again;
	struct step *s;
	READING_CODE;

	do {
		again = false;
		if (!step_path(&d, pc, headroom, changes))
			return NULL;
		for (unsigned i = 0; i < d.n && !changes; i++) {
			again |= watch_page(d.pc[i]);
			again |= watch_page(d.pc[i] + d.insn[i].length - 1);
		}
	} while (again);
	s = write(steps, headroom);
	/* An undefined one may be another when more can be read. */
	s->lasts = !changes && s->kind != INSN_UNDEFINED;
	if (s->lasts)
		enter_step(steps, s);
	if (steps->count < steps->most &&
	    (uint64_t)(steps->at - steps->room) > (uint64_t)steps->count * STEP_ALIGN)
		grow(steps);
	return s;
}

/* What becomes known of restartable sequences meanwhile changes the step. */
static struct step *make_step_again(struct steps *steps, uint64_t pc, uint32_t headroom)
{
	struct step *s;

	do {
		s = make_step(steps, pc, headroom);
	} while (sections_publish());
	return s;
}

static struct step *find(struct steps *steps, uint64_t pc, uint32_t headroom)
{
	uint32_t place;
	struct step *s;

	if (steps->changes != cache_changes) {
		forget(steps);
		steps->changes = cache_changes;
	}
	place = *place_of(steps, pc, headroom, current->list->variant);
	s = (struct step *)(steps->room + place * STEP_ALIGN);
	if (!place || current->run.unwatched || region_is_volatile(pc))
		return NULL;
	return s->pc == pc && s->headroom == headroom && s->variant == current->list->variant &&
			       s->variant != NO_VARIANT
		       ? s
		       : NULL;
}

struct step *step_translate(uint64_t pc)
{
	struct steps *steps = current->steps;
	uint32_t headroom =
		sections_hold(pc) || points_hold(pc) ? STEP_ALONE : shards_step_headroom();
	struct step *s = steps ? find(steps, pc, headroom) : NULL;

	if (!s) {
		lock_take();
		steps = current->steps; /* they may have been discarded while the thread waited */
		if (!steps)
			steps = make_others();
		s = find(steps, pc, headroom); /* its entry may have been dropped meanwhile */
		if (!s)
			s = make_step_again(steps, pc, headroom);
		lock_release();
	}
	steps->last = s;
	return s;
}

uint32_t *step_code_after(uint64_t pc)
{
	struct steps *steps = current->steps;
	struct step *s = steps ? steps->last : NULL;

	if (!s || steps->changes != cache_changes || s->variant != current->list->variant ||
	    region_is_volatile(pc))
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
		sys_protect((uint64_t)guard, PAGE, PROT_NONE);
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
	uint64_t start;

	if (!s)
		return NULL;
	start = s->guarded ? step_guarded_code(s).abort : s->code;
	return address >= start && address < s->code_end ? s : NULL;
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
