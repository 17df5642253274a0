/* SPDX-License-Identifier: MIT */
/*
 * unknown.c: instructions that the decoder does not know.
 *
 * Only the processor knows whether such bytes are an instruction, and how long it is.  So the
 * engine copies as many bytes as an instruction can have, and the processor runs one instruction
 * there.  Usually it raises #UD, which is delivered at the program's instruction.  Where fewer
 * bytes are executable, the copy ends at a page without rights.  If the processor asks for more
 * bytes, the program gets a fetch fault at the page after its own bytes.  If there is a GS prefix,
 * a few instructions in front of the copy, which also run one by one, load the program's GS base.
 *
 * An instruction that the processor accepts retires.  Some processors ignore fields that an
 * instruction does not use, where others raise #UD.  Such a form counts as the instruction
 * without these fields.  What an instruction of a newer processor counts is not known.  If the
 * run counts more than instructions and branches, such an instruction ends it with one line.
 */
#include "engine/count/accesses.h"
#include "engine/count/count.h"
#include "engine/count/flow.h"
#include "engine/count/meter_list.h"
#include "engine/memory/access.h"
#include "engine/memory/regions.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/run_state.h"
#include "engine/rt/sys.h"
#include "engine/signal/one.h"
#include "engine/signal/signals.h"
#include "engine/translate/translate.h"
#include "engine/x86/emit.h"
#include "engine/x86/keys.h"
#include "engine/x86/opcodes.h"
#include "engine/x86/recognise.h"

#define COUNTED_FOR_CERTAIN                                                                        \
	(SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(COND_TAKEN) | SPMU_SIGBIT(COND_NTAKEN) |          \
	 SPMU_SIGSET_TAKEN | SPMU_SIGBIT(FAR))
#define ROOM 16 /* for the copy, before step_guard(); more than INSN_BYTES_MAX */

/* The instruction's bytes, and what its copy needs. */
struct bytes {
	uint8_t at[INSN_BYTES_MAX];
	unsigned n;
	bool gs; /* the program's GS base */
	bool out_of_reach;
	unsigned scratch; /* the register that holds the operand's address; INSN_NO_REG: none */
	uint64_t address;
};

/* What the instruction counts if the processor accepts it, as far as the decoder knows. */
struct guess {
	struct insn insn;
	struct accesses list;
	bool known;
};

static void read_bytes(uint64_t pc, struct bytes *b)
{
	uint64_t end = region_code_end(pc), next = (pc & -PAGE) + PAGE;
	READING_CODE;

	if (next < end && pc + INSN_BYTES_MAX > next && !access_readable(next, 1))
		end = next;
	b->n = end - pc > INSN_BYTES_MAX ? INSN_BYTES_MAX : (unsigned)(end - pc);
	memcpy(b->at, (const uint8_t *)pc, b->n);
}

/* Returns where the displacement of a RIP-relative operand is; 0: there is none. */
static unsigned rip_offset(const struct bytes *b, const struct guess *guess, unsigned prefixes)
{
	unsigned modrm = recognise_modrm(b->at, b->n, prefixes);

	if (guess->known)
		return guess->insn.rip_offset;
	return modrm + 5 <= b->n && is_modrm_rip(b->at[modrm]) ? modrm + 1 : 0;
}

/* Adapts a RIP-relative operand to the place of the copy.  Out of reach, it is at the address in a
 * register.  That needs the length of the instruction: if it is not known, the operand is in the
 * page without rights. */
static void adapt_operand(struct bytes *b, const struct guess *guess, uint64_t pc, uint64_t at,
			  unsigned offset)
{
	int32_t displacement;
	int64_t moved;

	memcpy(&displacement, b->at + offset, sizeof(displacement));
	moved = displacement + (int64_t)(pc - at);
	b->out_of_reach = moved != (int32_t)moved;
	if (b->out_of_reach && guess->known) {
		b->scratch = emit_through_register(&guess->insn, b->at);
		b->address = emit_rip_target(&guess->insn, pc);
		b->out_of_reach = false;
		return;
	}
	displacement = b->out_of_reach ? (int32_t)(PAGE / 2) : (int32_t)moved;
	memcpy(b->at + offset, &displacement, sizeof(displacement));
}

static void adapt(struct bytes *b, const struct guess *guess, uint64_t pc, uint64_t at)
{
	unsigned n = 0, offset;

	for (; n < b->n && recognise_prefix(b->at[n]); n++)
		b->gs |= b->at[n] == PREFIX_GS;
	offset = rip_offset(b, guess, n);
	if (offset)
		adapt_operand(b, guess, pc, at, offset);
}

static _Noreturn void cannot_follow(const struct bytes *b, uint64_t pc)
{
	char message[160];
	struct text t;

	text_start(&t, message, sizeof(message));
	text_add(&t, "the processor runs an instruction that softpmu does not know, at ");
	text_add_hex(&t, pc);
	text_add(&t, ", bytes");
	for (unsigned i = 0; i < b->n; i++) {
		text_add(&t, " ");
		text_add_hex(&t, ((const uint8_t *)pc)[i]);
	}
	engine_unsupported(message);
}

static bool is_all_counted(void)
{
	for (unsigned m = 0; m < current->list->meters; m++)
		if (current->list->signals[m] & ~COUNTED_FOR_CERTAIN && !meter_counts_clocks(m))
			return false;
	return true;
}

static void make_guess(struct guess *g, const struct bytes *b, uint64_t pc)
{
	READING_CODE;

	g->known = insn_decode_leniently(b->at, b->n, pc, &g->insn) && g->insn.kind == INSN_PLAIN &&
		   !g->insn.rep;
	g->list.n = 0;
	if (g->known && units_want_address(g->insn.signals))
		accesses_list(&g->list, &g->insn, b->at, pc);
}

/* Retires the instruction, which has run. */
static void retire(const struct guess *g, const struct bytes *b, uint64_t pc)
{
	struct dispatch *run = &current->run;
	bool known = g->known && g->insn.length == run->one_bytes;

	if (run->one_bytes > b->n || b->out_of_reach || (!known && !is_all_counted()))
		cannot_follow(b, pc);
	current->pc = pc + run->one_bytes;
	counting_retire(pc, current->pc, known ? g->insn.signals : SPMU_SIGBIT(INSTRUCTIONS),
			known ? &g->list : NULL);
	flow_note(pc, current->pc, 0);
	run->traps = run->trap_flag;
}

/* Returns where to begin: code in front of the copy gives it the program's GS base. */
static uint64_t start_of(const struct bytes *b, uint8_t *at, uint8_t *guard)
{
	struct emit e = {guard - STEP_GUARD_ROOM};

	if (!b->gs)
		return (uint64_t)at;
	emit_program_gs(&e, current);
	emit_jmp(&e, (uint64_t)at);
	return (uint64_t)(guard - STEP_GUARD_ROOM);
}

/* Runs the copy at `at`. */
static void run_copy(const struct bytes *b, uint64_t start, uint64_t at)
{
	struct dispatch *run = &current->run;
	uint64_t *scratch = b->scratch == INSN_NO_REG ? NULL : &current->gpr[b->scratch];
	uint64_t kept = scratch ? *scratch : 0;

	if (scratch)
		*scratch = b->address;
	current->resume = start;
	run->one_at = start == at ? 0 : at;
	run->one_bytes = 0;
	run->fetch_failed = false;
	one_run(ONE_UNKNOWN);
	if (scratch)
		*scratch = kept;
}

void unknown_run(const struct step *s)
{
	struct dispatch *run = &current->run;
	uint8_t *guard = step_guard(), *at;
	uint64_t pc = s->pc;
	struct bytes b = {.scratch = INSN_NO_REG};
	struct guess guess;

	read_bytes(pc, &b);
	make_guess(&guess, &b, pc);
	at = guard - (b.n < INSN_BYTES_MAX ? b.n : ROOM);
	adapt(&b, &guess, pc, (uint64_t)at);
	memcpy(at, b.at, b.n);
	run_copy(&b, start_of(&b, at, guard), (uint64_t)at);
	if (run->fetch_failed && b.out_of_reach)
		cannot_follow(&b, pc);
	if (run->fetch_failed) {
		faults_bad_fetch(pc + b.n);
		return;
	}
	if (run->one_bytes)
		retire(&guess, &b, pc);
}
