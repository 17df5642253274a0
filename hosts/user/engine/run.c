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
#include "path.h"
#include "sys.h"

/* Single steps that have to be done whatever the meters say: the rest of a block whose
 * charge did not fit, or an instruction that needs the engine. */
static unsigned steps_due;

/* Where bulk code goes on when that is not the beginning of a block; 0: it is. */
static uint64_t resume_at;

#define SEEN	      16384
#define CAREFUL_TIMES 8 /* what making it costs, in moves of room */

/* Little headroom is left: run careful code (the next block whether that pays or not). */
static bool careful, careful_for_once;

static uint64_t key_of(uint64_t pc)
{
	return careful ? pc | CAREFUL_KEY : pc;
}

/*
 * Is careful code for pc there, or worth making?  What seldom comes up at the end of a period
 * is not: it runs as it is, with the room spread over the lanes.
 */
static bool careful_pays(uint64_t pc)
{
	static struct {
		uint32_t pc;
		uint32_t times;
	} seen[SEEN];
	uint32_t i = (uint32_t)pc % SEEN;

	if (blocks_lookup(pc | CAREFUL_KEY))
		return true;
	if (seen[i].pc != (uint32_t)pc) {
		seen[i].pc = (uint32_t)pc;
		seen[i].times = 0;
	}
	return ++seen[i].times > CAREFUL_TIMES;
}

/* Careful or bulk code for context->pc, and headroom where that takes it from.  False: there is
 * too little for either. */
static bool choose_code(void)
{
	if (memory_is_volatile(context->pc))
		return false;
	if (careful && !careful_for_once && !careful_pays(context->pc))
		careful = false;
	careful_for_once = false;
	if (careful)
		blocks_start_careful();
	counting_mode(careful ? COUNTING_CAREFUL : COUNTING_BULK);
	return counting_bulk_possible();
}

/* The code to run at context->pc, 0: it cannot be executed. */
static uint64_t code_here(void)
{
	uint64_t code = blocks_lookup(key_of(context->pc));

	return code ? code : translate_block(key_of(context->pc));
}

static void link_exit(uint32_t number)
{
	struct exit_slot slot = *exit_slot_at(number);
	uint64_t flushes = blocks_flushes, code;

	context->pc = slot.target & ~CAREFUL_KEY;
	if (careful && !careful_pays(context->pc)) {
		careful = false;
		return;
	}
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
	uint64_t code;

	if (blocks_full()) {
		blocks_flush();
		return;
	}
	if (careful && !careful_pays(context->pc)) {
		careful = false;
		return;
	}
	code = code_here();
	if (code)
		target_add(key_of(context->pc), code);
}

/*
 * Meter `which` had no room for the block, which has taken back its charges.  While there is
 * much, share it out anew; then go on with careful code, where that pays, or in the lanes with
 * what is left; when there is not enough for the block go on with single steps, or with careful
 * code if those would be many.
 */
static void headroom_exit(const struct block *b, unsigned which)
{
	unsigned lane = block_number(b) % LANES, n = context->wanted;
	uint64_t pc = b->pc + b->check_bytes;
	bool pays = false;

	if (!b->careful) {
		emit_move_check(context->check);
		pays = counting_low() && careful_pays(pc);
		if (!pays && counting_rebalance(which, lane, n)) {
			resume_at = block_check_code(b);
			return;
		}
		block_leave_at_check(b);
	}
	context->pc = pc;
	if (pays || (!b->careful && b->insns - b->check_at > CAREFUL_INSNS_MAX))
		careful = careful_for_once = true;
	else
		steps_due = 1;
}

static void run_bulk(void)
{
	uint64_t code = resume_at ? resume_at : code_here();
	const struct block *b;
	uint32_t site;

	resume_at = 0;
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
		if (!syscall_run())
			for (unsigned m = 0; m < meters; m++)
				context->lane[m][0] +=
					block_occurrences(b, b->insns - 1u, b->insns, m);
		break;
	case EXIT_LOG_FULL: /* the store is done again, at RAX */
		context->gpr[0] = context->log = branches_make_room();
		resume_at = log_store;
		break;
	case EXIT_STEP_ME:
		context->pc = b->pc;
		steps_due = 1;
		break;
	default: /* EXIT_STEP_JUMP: signals.c left the block at context->pc */
		break;
	}
}

/* Run in place with the program's GS base (step.c). */
static bool can_have_gs(const struct insn *insn)
{
	return insn->uses_gs && insn->kind == INSN_PLAIN && !insn->rip_offset;
}

/* RDGSBASE, WRGSBASE (Vol. 2): of a register, 32 or 64 bits. */
static void step_gs_base(const struct step *s)
{
	const uint8_t *bytes = (const uint8_t *)s->pc;
	unsigned modrm = bytes[s->insn.modrm_offset], rex = bytes[s->insn.opcode_offset - 2];
	uint64_t *reg, mask = UINT32_MAX;

	rex = (rex & 0xf0) == 0x40 ? rex : 0;
	reg = &context->gpr[(modrm & 7) | (rex & 1) << 3];
	if (rex & 8)
		mask = UINT64_MAX;
	if ((modrm >> 3 & 7) == 1)
		*reg = program_gs & mask;
	else if (((int64_t)(*reg & mask) << 16) >> 16 == (int64_t)(*reg & mask))
		program_gs = *reg & mask;
	else
		engine_unsupported("the program loads a GS base that is not canonical");
	context->pc = s->pc + s->insn.length;
	counting_retire(s->pc, context->pc, s->insn.signals, 0);
}

/* An unsupported kind of instruction, or what stands for running it. */
static void step_special(const struct step *s)
{
	const struct insn *insn = &s->insn;

	if (insn->kind == INSN_GSBASE) {
		step_gs_base(s);
		return;
	}
	if (insn->uses_gs)
		engine_unsupported(
			"the program branches through the GS segment, or addresses it by "
			"RIP, which cannot be run yet");
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
	bool conditional = is_conditional(insn);

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

/* Retires first: the call may not come back. */
static void step_syscall(const struct step *s, uint64_t signals)
{
	static uint64_t retired_at, retired_rsp; /* a signal came between that and the call */

	if (context->pending)
		return;
	context->pc = s->pc + s->insn.length;
	syscall_registers();
	if (retired_at != s->pc || retired_rsp != context->gpr[4])
		counting_retire(s->pc, context->pc, signals, 0);
	retired_at = 0;
	if (!syscall_run()) {
		retired_at = s->pc;
		retired_rsp = context->gpr[4];
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
	if (is_special(&s->insn) && !can_have_gs(&s->insn)) {
		step_special(s);
		return;
	}
	signals = s->insn.signals;
	data_address = counting_wants_address(signals)
			       ? insn_data_address(&s->insn, s->pc, context->gpr, read_fs_base(),
						   program_gs)
			       : 0;
	if (s->insn.rep && !(s->insn.address32 ? (uint32_t)context->gpr[1] : context->gpr[1]))
		signals &= ~(SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES));
	if (s->insn.kind == INSN_SYSCALL) {
		step_syscall(s, signals);
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
		if (!resume_at) /* else it is in the middle of a block */
			signals_check();
		if (resume_at || (!steps_due && choose_code())) {
			run_bulk();
			continue;
		}
		counting_mode(COUNTING_PRECISE);
		do {
			run_step();
			if (steps_due)
				steps_due--;
			signals_check();
		} while (steps_due || !counting_bulk_possible() || memory_is_volatile(context->pc));
		counting_mode(COUNTING_BULK);
		careful = careful_for_once = counting_low() && careful_pays(context->pc);
	}
}
