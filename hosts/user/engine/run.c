/* SPDX-License-Identifier: MIT */
/*
 * run.c: the dispatcher.  Runs blocks in bulk while every meter has room, single
 * instructions while one has not, and keeps the books when either leaves.
 *
 * context->pc is the program address at which execution goes on whenever engine
 * code runs; what was retired before it has been charged or reported, nothing behind it
 * has.
 */
#include "emit.h"
#include "engine.h"
#include "sys.h"

/* Single steps that have to be done whatever the meters say: the rest of a block whose
 * charge did not fit, or an instruction that needs the engine. */
static unsigned steps_due;

/* Where bulk code goes on when that is not the beginning of a block; 0: it is. */
static uint64_t resume_at;

/* Little headroom is left: run careful code. */
static bool careful;

static uint64_t key_of(uint64_t pc)
{
	return careful ? pc | CAREFUL_KEY : pc;
}

static void link_exit(uint32_t number)
{
	struct exit_slot slot = *exit_slot_at(number);
	uint64_t flushes = blocks_flushes, code;

	context->pc = slot.target & ~CAREFUL_KEY;
	code = slot.closes_loop ? translate_trace(slot.target) : blocks_lookup(slot.target);
	if (!code && block_append(slot.patch, slot.target)) {
		exit_slot_free(number);
		return;
	}
	if (!code)
		code = translate_block(slot.target);
	if (!code || blocks_flushes != flushes)
		return; /* cannot run, or the cache was emptied and the slot with it */
	emit_patch((uint8_t *)(uint64_t)slot.patch, code);
	exit_slot_free(number);
}

static void indirect_exit(void)
{
	uint64_t key = key_of(context->pc), code = blocks_lookup(key);

	if (!code)
		code = translate_block(key);
	if (code)
		target_add(key, code);
}

/*
 * Meter `which` had no room for the block, which has taken back its charges.  Move room to its
 * lane; where that is no longer worth while go on with careful code, and from there with
 * single steps.
 */
static void headroom_exit(const struct block *b, unsigned which)
{
	if (!b->careful && counting_rebalance(which, block_number(b) % LANES, context->wanted)) {
		resume_at = block_check_code(b);
		return;
	}
	/* What ran before the check has not been charged. */
	for (unsigned m = 0; m < meters && b->check_at; m++)
		context->lane[m][0] -= block_occurrences(b, 0, b->check_at, m);
	context->pc = block_pc_of(b, b->check_at);
	if (b->careful)
		steps_due = b->insns - b->check_at;
	else
		careful = counting_careful();
}

static void run_bulk(void)
{
	uint64_t code = resume_at ? resume_at : blocks_lookup(key_of(context->pc));
	const struct block *b;
	uint32_t site;

	resume_at = 0;
	if (!code)
		code = translate_block(key_of(context->pc));
	if (!code) {
		signals_bad_jump();
		return;
	}
	context->resume = code;
	enter();
	site = context->site;
	b = block_at(site & 0xffffff);
	switch (context->reason) {
	case EXIT_LINK:
		link_exit(site);
		break;
	case EXIT_INDIRECT:
		indirect_exit();
		break;
	case EXIT_HEADROOM:
		headroom_exit(b, site >> 24);
		break;
	case EXIT_HEADROOM_EDGE:
		context->pc = exit_slot_at(site)->target;
		steps_due = 1;
		break;
	case EXIT_SYSCALL:
		context->pc = block_pc_of(b, b->insns);
		syscall_registers();
		syscall_run();
		break;
	case EXIT_STEP_ME:
		context->pc = b->pc;
		steps_due = 1;
		break;
	default: /* EXIT_STEP_JUMP: signals.c left the block at context->pc */
		break;
	}
}

/* An unsupported kind of instruction, or what stands for running it. */
static void step_special(const struct step *s)
{
	const struct insn *insn = &s->insn;

	if (insn->uses_gs || insn->kind == INSN_GSBASE)
		engine_unsupported("the program uses the GS segment, which cannot be run yet");
	if (insn->kind == INSN_FAR)
		engine_unsupported(
			"the program makes a far transfer (INT n, IRET, far CALL or JMP), "
			"which cannot be run yet");
	/* XBEGIN: a transaction may abort at once, with no status, at its fallback. */
	context->gpr[0] &= ~UINT64_C(0xffffffff);
	context->pc = insn->target;
	counting_retire(s->pc, context->pc, insn->signals, 0);
}

/* Where one instruction continues; registers are those after it. */
static uint64_t run_alone(const struct step *s, uint64_t *signals)
{
	const struct insn *insn = &s->insn;
	bool conditional = insn->kind == INSN_JCC || insn->kind == INSN_JCXZ;

	context->resume = s->code;
	enter();
	switch (context->reason) {
	case EXIT_STEP_TAKEN:
		if (conditional)
			*signals |= SPMU_SIGBIT(COND_TAKEN);
		return insn->target;
	case EXIT_STEP_JUMP:
		return context->pc;
	default:
		if (conditional)
			*signals |= SPMU_SIGBIT(COND_NTAKEN);
		return s->pc + insn->length;
	}
}

static void run_step(void)
{
	const struct step *s = translate_step(context->pc);
	uint64_t signals, data_address;

	if (!s) {
		signals_bad_jump();
		return;
	}
	if (s->insn.kind == INSN_FAR || s->insn.kind == INSN_GSBASE ||
	    s->insn.kind == INSN_XBEGIN || s->insn.uses_gs) {
		step_special(s);
		return;
	}
	signals = s->insn.signals;
	data_address =
		counting_wants_address(signals)
			? insn_data_address(&s->insn, s->pc, context->gpr, read_fs_base(), 0)
			: 0;
	if (s->insn.rep && !(s->insn.address32 ? (uint32_t)context->gpr[1] : context->gpr[1]))
		signals &= ~(SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES));
	if (s->insn.kind == INSN_SYSCALL) {
		context->pc = s->pc + s->insn.length;
		syscall_registers();
		counting_retire(s->pc, context->pc, signals, 0);
		syscall_run();
		return;
	}
	step_left = false;
	context->pc = run_alone(s, &signals);
	if (!step_left)
		counting_retire(s->pc, context->pc, signals, data_address);
}

void run_program(void)
{
	for (;;) {
		signals_check();
		if (resume_at || (!steps_due && counting_bulk_possible())) {
			run_bulk();
			continue;
		}
		counting_precise(true);
		do {
			run_step();
			if (steps_due)
				steps_due--;
			signals_check();
		} while (steps_due || !counting_bulk_possible());
		counting_precise(false);
		careful = counting_careful();
	}
}
