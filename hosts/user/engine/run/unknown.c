/* SPDX-License-Identifier: MIT */
/*
 * unknown.c: instructions that the decoder does not know.
 *
 * Only the processor knows whether such bytes are an instruction, and how long it is.  So the
 * engine copies as many bytes as an instruction can have, and the processor runs one instruction
 * there.  Usually it raises #UD, which is delivered at the program's instruction.  Where fewer
 * bytes are executable, the copy ends at a page without rights.  If the processor asks for more
 * bytes, the program gets a fetch fault at the page after its own bytes.
 *
 * An instruction that the processor accepts retires.  Some processors ignore fields that an
 * instruction does not use, where others raise #UD.  Such a form counts as the instruction
 * without these fields.  What an instruction of a newer processor counts is not known.  If the
 * run counts more than instructions and branches, such an instruction ends it with one line.
 */
#include "engine/count/count.h"
#include "engine/count/meter_list.h"
#include "engine/memory/access.h"
#include "engine/memory/regions.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/run_state.h"
#include "engine/rt/segments.h"
#include "engine/rt/sys.h"
#include "engine/signal/one.h"
#include "engine/signal/signals.h"
#include "engine/translate/translate.h"
#include "engine/x86/keys.h"
#include "engine/x86/opcodes.h"
#include "engine/x86/recognise.h"

#define COUNTED_FOR_CERTAIN                                                                        \
	(SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(COND_TAKEN) | SPMU_SIGBIT(COND_NTAKEN) |          \
	 SPMU_SIGSET_TAKEN | SPMU_SIGBIT(FAR))
#define ROOM 32 /* before step_guard(); more than INSN_BYTES_MAX, and a multiple of STEP_ALIGN */

struct bytes {
	uint8_t at[INSN_BYTES_MAX];
	unsigned n;
	bool gs, out_of_reach;
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

/* Adapts the copy: a RIP-relative operand stays at its address, or, out of reach, is in the page
 * without rights.  GS is the engine's. */
static void adapt(struct bytes *b, uint64_t pc, uint64_t at)
{
	unsigned n = 0, modrm;
	int32_t displacement;
	int64_t moved;

	for (; n < b->n && recognise_prefix(b->at[n]); n++)
		if (b->at[n] == PREFIX_GS) {
			b->gs = true;
			b->at[n] = PREFIX_DS;
		}
	modrm = recognise_modrm(b->at, b->n, n);
	if (modrm + 5 > b->n || !is_modrm_rip(b->at[modrm]))
		return;
	memcpy(&displacement, b->at + modrm + 1, sizeof(displacement));
	moved = displacement + (int64_t)(pc - at);
	b->out_of_reach = moved != (int32_t)moved;
	displacement = b->out_of_reach ? (int32_t)(PAGE / 2) : (int32_t)moved;
	memcpy(b->at + modrm + 1, &displacement, sizeof(displacement));
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
		if (current->list->signals[m] & ~COUNTED_FOR_CERTAIN)
			return false;
	return true;
}

/* What the instruction counts if the processor accepts it, as far as the decoder knows. */
struct guess {
	struct insn insn;
	struct insn_addresses at;
	bool known;
};

static void make_guess(struct guess *g, const struct bytes *b, uint64_t pc)
{
	READING_CODE;

	g->known = insn_decode_leniently(b->at, b->n, pc, &g->insn) && g->insn.kind == INSN_PLAIN &&
		   !g->insn.rep;
	g->at = (struct insn_addresses){0, 0};
	if (g->known && units_want_address(g->insn.signals))
		g->at = insn_addresses(&g->insn, b->at, pc, current->gpr, read_fs_base(),
				       current->program_gs);
}

/* Retires the instruction, which has run. */
static void retire(const struct guess *g, const struct bytes *b, uint64_t pc)
{
	struct dispatch *run = &current->run;
	bool known = g->known && g->insn.length == run->one_bytes;

	if (run->one_bytes > b->n || b->gs || b->out_of_reach || (!known && !is_all_counted()))
		cannot_follow(b, pc);
	current->pc = pc + run->one_bytes;
	counting_retire(pc, current->pc, known ? g->insn.signals : SPMU_SIGBIT(INSTRUCTIONS),
			known ? &g->at : NULL);
	run->traps = run->trap_flag;
}

void unknown_run(const struct step *s)
{
	struct dispatch *run = &current->run;
	uint8_t *guard = step_guard(), *at;
	uint64_t pc = s->pc;
	struct bytes b = {.gs = false};
	struct guess guess;

	read_bytes(pc, &b);
	make_guess(&guess, &b, pc);
	at = guard - (b.n < INSN_BYTES_MAX ? b.n : ROOM);
	adapt(&b, pc, (uint64_t)at);
	memcpy(at, b.at, b.n);
	current->resume = (uint64_t)at;
	run->one_bytes = 0;
	run->fetch_failed = false;
	one_run(ONE_UNKNOWN);
	if (run->fetch_failed && b.out_of_reach)
		cannot_follow(&b, pc);
	if (run->fetch_failed) {
		faults_bad_fetch(pc + b.n);
		return;
	}
	if (run->one_bytes)
		retire(&guess, &b, pc);
}
