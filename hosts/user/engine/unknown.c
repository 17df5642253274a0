/* SPDX-License-Identifier: MIT */
/*
 * unknown.c: instructions that the decoder does not know.
 *
 * Nobody but the processor knows whether such bytes are an instruction and how long it is.  So as
 * many bytes as an instruction can have are copied, and the processor runs one instruction there.
 * Mostly it raises #UD, which is delivered where the program's instruction is.  Where fewer bytes
 * can be executed, the copy ends at a page without rights: if the processor asks for more, the
 * program gets the fault of a fetch from the page after its own bytes.
 *
 * What the processor accepts retires.  Some processors ignore fields that an instruction does not
 * use, where others raise #UD: it counts as the instruction without them.  What a newer processor's
 * instruction counts is not known: if anybody counts more than instructions and branches, the run
 * ends with one line.
 */
#include "one.h"

#include "emit.h"
#include "faults.h"
#include "keys.h"
#include "sys.h"

#define COUNTED_FOR_CERTAIN                                                                        \
	(SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(COND_TAKEN) | SPMU_SIGBIT(COND_NTAKEN) |          \
	 SPMU_SIGSET_TAKEN | SPMU_SIGBIT(FAR))
#define ROOM                                                                                       \
	32 /* in front of step_guard(); more than INSN_BYTES_MAX, and STEP_ALIGN has room for it */

struct bytes {
	uint8_t at[INSN_BYTES_MAX];
	unsigned n;
	bool gs, out_of_reach;
};

static void read_bytes(uint64_t pc, struct bytes *b)
{
	uint64_t end = memory_code_end(pc), next = (pc & -PAGE) + PAGE;
	READING_CODE;

	if (next < end && pc + INSN_BYTES_MAX > next && !memory_readable(next, 1))
		end = next;
	b->n = end - pc > INSN_BYTES_MAX ? INSN_BYTES_MAX : (unsigned)(end - pc);
	memcpy(b->at, (const uint8_t *)pc, b->n);
}

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return (byte & 0xf0) == 0x40;
	}
}

/* Where ModRM is, if the instruction has one. */
static unsigned modrm_offset(const struct bytes *b, unsigned prefixes)
{
	static const uint8_t none[2];
	const uint8_t *at = prefixes + 2 <= b->n ? b->at + prefixes : none;

	switch (at[0]) {
	case 0x0f:
		return prefixes + (at[1] == 0x38 || at[1] == 0x3a ? 3 : 2);
	case 0xc5:
		return prefixes + 3;
	case 0xc4:
	case 0x8f:
		return prefixes + 4;
	case 0x62:
		return prefixes + 5;
	default:
		return prefixes + 1;
	}
}

/* A RIP-relative operand is where it was, or, out of reach, in the page without rights.  GS is the
 * engine's. */
static void adapt(struct bytes *b, uint64_t pc, uint64_t at)
{
	unsigned n = 0, modrm;
	int32_t displacement;
	int64_t moved;

	for (; n < b->n && is_prefix(b->at[n]); n++)
		if (b->at[n] == 0x65) {
			b->gs = true;
			b->at[n] = 0x3e;
		}
	modrm = modrm_offset(b, n);
	if (modrm + 5 > b->n || (b->at[modrm] & 0xc7) != 5)
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
	for (unsigned m = 0; m < meters; m++)
		if (meter_signals[m] & ~COUNTED_FOR_CERTAIN)
			return false;
	return true;
}

/* What it counts if the processor accepts it, as far as the decoder can tell. */
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
	if (g->known && counting_wants_address(g->insn.signals))
		g->at = insn_addresses(&g->insn, b->at, pc, current->gpr, read_fs_base(),
				       current->program_gs);
}

/* It has run. */
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

bool unknown_fetch_failed(int sig, const siginfo_t *info, struct sigcontext *regs)
{
	struct dispatch *run = &current->run;
	uint64_t guard = (current->resume & -PAGE) + PAGE;

	if (run->one != ONE_UNKNOWN || sig != SIGSEGV || (uint64_t)info->si_addr - guard >= PAGE)
		return false;
	run->fetch_failed = true;
	regs->rip = (uint64_t)exit_step_jump;
	regs->eflags &= ~FLAG_TF;
	return true;
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
		signals_bad_fetch(pc + b.n);
		return;
	}
	if (run->one_bytes)
		retire(&guess, &b, pc);
}
