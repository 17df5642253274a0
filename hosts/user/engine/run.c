/* SPDX-License-Identifier: MIT */
/*
 * run.c: the dispatcher.  Runs blocks in bulk while every meter has room, steps of a few
 * instructions while one has not, and keeps the books when either leaves.
 *
 * current->pc is the program address at which execution goes on whenever engine
 * code runs; what was retired before it has been charged or reported, nothing behind it
 * has.
 */
#include "emit.h"
#include "far.h"
#include "keys.h"
#include "one.h"
#include "path.h"
#include "signals.h"
#include "sys.h"
#include "threads.h"

#define SEEN	      16384
#define RDTSC_OPCODE  0x31 /* RDTSCP ends in another byte */
#define XBEGIN_OPCODE 0xc7 /* XABORT ends in another byte */
#define CAREFUL_TIMES 2	   /* what making it costs, in moves of room */

static uint64_t key_of(uint64_t pc)
{
	return current->run.careful ? pc | CAREFUL_KEY : pc;
}

/*
 * Is careful code for pc there, or worth making?  What seldom comes up at the end of a period
 * is not: it runs as it is, with the room spread over the lanes.
 */
static bool careful_pays(uint64_t pc)
{
	static struct { /* of all threads: what gets lost between two of them does not matter */
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

/* Careful or bulk code for current->pc, and headroom where that takes it from.  False: there is
 * too little for either. */
static bool choose_code(void)
{
	struct dispatch *run = &current->run;

	if (run->trap_flag || memory_is_volatile(current->pc))
		return false;
	if (run->careful && !run->careful_for_once && !careful_pays(current->pc))
		run->careful = false;
	run->careful_for_once = false;
	if (run->careful)
		blocks_start_careful();
	counting_mode(run->careful ? COUNTING_CAREFUL : COUNTING_BULK);
	return counting_bulk_possible();
}

/* The code to run at current->pc, 0: it cannot be executed.  Behind a step it is mostly known: a
 * look into the table would find it in no cache. */
static uint64_t code_here(void)
{
	uint32_t *known = current->run.careful ? NULL : step_code_behind(current->pc);
	uint64_t key = key_of(current->pc), code = known && *known ? *known : blocks_lookup(key);

	if (!code) {
		engine_lock();
		code = blocks_lookup(key);
		if (!code)
			code = translate_block(key);
		engine_unlock();
		known = NULL; /* may have been forgotten */
	}
	if (known)
		*known = (uint32_t)code;
	return code;
}

/* The lock is held.  The code that is linked, 0: none. */
static uint64_t link_slot(uint32_t number, struct exit_slot slot)
{
	uint64_t flushes = blocks_flushes, code;

	code = blocks_lookup(slot.target);
	if (!code && (code = block_append(slot.patch, slot.target))) {
		exit_slot_free(number);
		return code;
	}
	if (!code)
		code = translate_block(slot.target);
	if (!code || blocks_flushes != flushes)
		return 0; /* cannot run, or the cache was emptied and the slot with it */
	exit_slot_link(number, code);
	exit_slot_free(number);
	return code;
}

/* Straight on, unless something is to be done at this boundary between two instructions. */
static void resume_linked(uint64_t code)
{
	if (!current->pending && !current->stop && !current->signals.unwatches &&
	    !current->run.trap_flag)
		current->run.resume_at = code;
}

static void link_exit(uint32_t number)
{
	const struct exit_slot *slot = exit_slot_at(number);
	uint64_t flushes = blocks_flushes;

	current->pc = pc_of_key(slot->target);
	if (current->run.careful && !careful_pays(current->pc)) {
		current->run.careful = false;
		return;
	}
	current->run.steps_due = stable_soon(current->pc);
	if (current->run.steps_due)
		return;
	engine_lock();
	/* Meanwhile it may have gone, or have been linked. */
	if (blocks_flushes == flushes && slot->patch)
		resume_linked(link_slot(number, *slot));
	engine_unlock();
}

static void indirect_exit(bool of_return)
{
	if (current->run.careful && !careful_pays(current->pc)) {
		current->run.careful = false;
		return;
	}
	engine_lock();
	target_find(key_of(current->pc), of_return);
	engine_unlock();
}

/* The same from the block's charge on, noted in the block itself: most code is there once, and a
 * look into the table for that finds its memory in no cache. */
static bool low_pays(struct block *b, uint64_t pc)
{
	uint32_t low = __atomic_load_n(&b->low, __ATOMIC_RELAXED);
	uint64_t code;

	if (low > CAREFUL_TIMES)
		return true;
	code = low % CAREFUL_TIMES ? 0 : blocks_lookup(pc | CAREFUL_KEY);
	if (code)
		b->low = (uint32_t)code;
	else if (low < CAREFUL_TIMES)
		b->low = low + 1;
	return code || low == CAREFUL_TIMES;
}

/*
 * A meter had no room for the block: its charges up to that one are taken back.  While there is
 * much, share it out anew; then go on with careful code, where that pays, or in the lanes with
 * what is left; when there is not enough for the block go on with single steps, or with careful
 * code if those would be many.
 */
static void headroom_exit(struct block *b, unsigned index)
{
	struct dispatch *run = &current->run;
	struct block_charge charge = block_take_back(b, index);
	uint64_t pc = b->pc + b->check_bytes;
	bool pays = false;

	if (!b->careful) {
		emit_move_check(charge.check);
		run->steps_due = !counting_low() && counting_portion_over() ? hot_sample(b) : 0;
		if (run->steps_due) {
			block_leave_at_check(b);
			current->pc = pc;
			return;
		}
		pays = counting_low() && low_pays(b, pc);
		if (!pays && counting_rebalance(charge.meter, lane_of(block_number(b)), charge.n)) {
			run->resume_at = block_check_code(b);
			return;
		}
		block_leave_at_check(b);
	}
	current->pc = pc;
	if (pays || (!b->careful && !meter_is_distant(charge.meter) &&
		     b->insns - b->check_at > CAREFUL_INSNS_MAX && !counting_few(charge.meter)))
		run->careful = run->careful_for_once = true;
	else
		run->steps_due = 1;
	if (!pays || b->low <= CAREFUL_TIMES)
		return;
	blocks_start_careful();
	counting_mode(COUNTING_CAREFUL);
	if (!counting_bulk_possible())
		return;
	run->careful_for_once = false;
	run->resume_at = b->low;
}

static void run_bulk(void)
{
	struct dispatch *run = &current->run;
	uint64_t code = run->resume_at ? run->resume_at : code_here();
	struct block *b;
	uint32_t site;

	run->resume_at = 0;
	if (!code) {
		signals_bad_jump();
		return;
	}
	current->resume = code;
	enter();
	site = current->site;
	b = block_at(site & 0xffffff);
	switch (current->reason) {
	case EXIT_LINK:
		link_exit(site);
		break;
	case EXIT_INDIRECT:
	case EXIT_RETURN:
		indirect_exit(current->reason == EXIT_RETURN);
		break;
	case EXIT_HEADROOM:
		headroom_exit(b, site >> 24);
		break;
	case EXIT_HEADROOM_EDGE:
		current->pc = exit_slot_at(site)->target;
		run->steps_due = 1;
		break;
	case EXIT_SYSCALL:
		current->pc = block_pc_of(b, b->insns);
		syscall_registers();
		if (!syscall_run())
			for (unsigned m = 0; m < meters; m++)
				current->lane[m][0] += syscall_occurrences(m);
		break;
	case EXIT_LOG_FULL: /* the store is done again, at RAX */
		current->gpr[0] = current->log = branches_make_room();
		run->resume_at = run->log_store;
		break;
	case EXIT_STEP_ME:
		current->pc = b->pc;
		run->steps_due = 1;
		break;
	default: /* EXIT_STEP_JUMP: signals.c or faults.c left the block at current->pc */
		break;
	}
	/* The program may have taken the area's memory away. */
	if (current->sequence && probe_read((uint64_t)current->sequence) && *current->sequence)
		engine_unsupported("the program uses restartable sequences (rseq), which cannot be "
				   "run; GLIBC_TUNABLES=glibc.pthread.rseq=0 may spare them");
}

/* The instruction at current->pc, alone in its step. */
static void decode_alone(const struct step *s, struct insn *insn)
{
	READING_CODE;

	if (!insn_decode((const uint8_t *)s->pc, s->insn[0].bytes, s->pc, insn))
		*insn = (struct insn){.kind = INSN_UNDEFINED, .length = s->insn[0].bytes};
}

static struct insn_addresses addresses_of(const struct step *s, const struct insn *insn)
{
	READING_CODE;

	return insn_addresses(insn, (const uint8_t *)s->pc, s->pc, current->gpr, read_fs_base(),
			      current->program_gs);
}

/* XBEGIN, XABORT (Vol. 2): a transaction may abort at once, with no status, at its fallback.
 * Without a transaction XABORT does nothing.  Processors without transactions know neither. */
static void step_transaction(const struct step *s, const struct insn *insn)
{
	if (!self_has_transactions()) {
		unknown_run(s);
		return;
	}
	current->pc = s->pc + insn->length;
	if (insn->opcode == XBEGIN_OPCODE) {
		current->gpr[0] &= ~UINT64_C(0xffffffff);
		current->pc = insn->target;
	}
	counting_retire(s->pc, current->pc, insn->signals, NULL);
	current->run.traps = current->run.trap_flag;
}

/* JMP and CALL through memory in GS.  False: it faults. */
static bool step_branch_in_gs(const struct step *s, const struct insn *insn,
			      const struct insn_addresses *at)
{
	uint64_t operand =
		insn_data_address(insn, s->pc, current->gpr, read_fs_base(), current->program_gs);
	uint64_t behind = s->pc + insn->length, sp = current->gpr[4] - sizeof(behind), target;
	bool call = insn->kind == INSN_CALL_IND;

	if (!memory_readable(operand, sizeof(target)) ||
	    (call && !memory_writable(sp, sizeof(behind))))
		return false;
	memcpy(&target, (const void *)operand, sizeof(target));
	if (!is_canonical(target))
		return false;
	if (call) {
		memcpy((void *)sp, &behind, sizeof(behind));
		current->gpr[4] = sp;
	}
	current->pc = target;
	counting_retire(s->pc, target, insn->signals, at);
	current->run.traps = current->run.trap_flag;
	return true;
}

static bool step_far(const struct step *s, const struct insn *insn, const struct insn_addresses *at)
{
	bool traps = current->run.trap_flag;

	if (!far_run(s, insn, at))
		return false;
	/* An instruction that has faulted does not trap. */
	current->run.traps |= traps && current->run.one_bytes;
	return true;
}

/* What the engine does in place of running it.  False: it runs as it is. */
static bool step_special(const struct step *s, const struct insn *insn,
			 const struct insn_addresses *at)
{
	switch (insn->kind) {
	case INSN_FAR:
		return step_far(s, insn, at);
	case INSN_XBEGIN:
		step_transaction(s, insn);
		return true;
	case INSN_JMP_IND:
	case INSN_CALL_IND:
		return step_branch_in_gs(s, insn, at);
	default:
		engine_unsupported("the program addresses the GS segment by RIP from code above "
				   "2 GiB, which cannot be run yet");
	}
}

/* Where the program continues; registers are those after the step.  What the outcome of its last
 * instruction adds goes to *signals. */
static uint64_t run_alone(const struct step *s, uint64_t behind, uint64_t *signals)
{
	bool conditional = s->kind == INSN_JCC || s->kind == INSN_JCXZ;

	current->resume = s->code;
	if (current->run.trap_flag)
		one_run(ONE_OF_PROGRAM);
	else
		enter();
	switch (current->reason) {
	case EXIT_STEP_TAKEN:
		if (conditional)
			*signals |= SPMU_SIGBIT(COND_TAKEN);
		return s->target;
	case EXIT_STEP_JUMP:
		return current->pc;
	default:
		if (conditional)
			*signals |= SPMU_SIGBIT(COND_NTAKEN);
		return behind;
	}
}

/* Retires first: the call may not come back.  It does not trap by RFLAGS.TF. */
static void step_syscall(const struct step *s)
{
	struct dispatch *run = &current->run;
	uint64_t pc = s->pc; /* the call may take the step away */
	bool made;

	signals_before_call();
	if (current->pending)
		return;
	current->pc = pc + s->insn[0].bytes;
	if (s->kind == INSN_SYSCALL)
		syscall_registers();
	if (run->retired_at != pc || run->retired_rsp != current->gpr[4])
		counting_retire(pc, current->pc, s->insn[0].signals, NULL);
	run->retired_at = 0;
	if (s->kind == INSN_SYSCALL || !call_run(&made))
		made = syscall_run();
	if (!made) {
		run->retired_at = pc;
		run->retired_rsp = current->gpr[4];
	}
}

/* What it reads does not hold itself. */
static void step_rdpmc(const struct step *s)
{
	enum spmu_outcome outcome = self_rdpmc();

	if (outcome != SPMU_DONE) {
		current->resume = s->code + (outcome == SPMU_UD ? STEP_UD : STEP_GP);
		enter();
		return;
	}
	current->pc = s->pc + s->insn[0].bytes;
	counting_retire(s->pc, current->pc, s->insn[0].signals, NULL);
	current->run.traps = current->run.trap_flag;
}

/* It has run, and told the machine's time. */
static void step_rdtsc(const struct step *s)
{
	READING_CODE;

	clocks_tsc(((const uint8_t *)s->pc)[s->insn[0].bytes - 1] != RDTSC_OPCODE);
}

/* Run it, then report its instructions: none but the last makes the units look at anything. */
static void step_plain(const struct step *s, const struct insn_addresses *at)
{
	unsigned last = s->insns - 1u;
	uint64_t signals = s->insn[last].signals, ip, behind = s->pc, next;
	uint32_t leaf = (uint32_t)current->gpr[0], subleaf = (uint32_t)current->gpr[1];

	if (s->rep && !(s->address32 ? (uint32_t)current->gpr[1] : current->gpr[1]))
		signals &= ~(SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES));
	for (unsigned i = 0; i <= last; i++)
		behind += s->insn[i].bytes;
	next = run_alone(s, behind, &signals);
	if (current->run.step_left || current->run.again)
		return;
	current->pc = next;
	if (s->kind == INSN_CPUID)
		self_cpuid(leaf, subleaf);
	else if (s->kind == INSN_RDTSC && clocks_wanted())
		step_rdtsc(s);
	ip = s->pc;
	for (unsigned i = 0; i < last; i++) {
		counting_retire_plain(ip, ip + s->insn[i].bytes, s->insn[i].signals);
		ip += s->insn[i].bytes;
	}
	counting_retire(ip, next, signals, at);
}

static bool is_call(const struct step *s, const struct insn *insn)
{
	return s->kind == INSN_SYSCALL || (s->special && far_is_call(insn) && !call_is_plain());
}

static void run_step_of(const struct step *s)
{
	struct insn_addresses at = {0, 0};
	struct insn insn = {.kind = INSN_PLAIN};

	if (s->insns == 1 && (s->special || s->addressed)) {
		decode_alone(s, &insn);
		if (s->addressed)
			at = addresses_of(s, &insn);
	}
	if (is_call(s, &insn)) {
		hot_end(); /* it may not come back */
		step_syscall(s);
		return;
	}
	if (s->special && step_special(s, &insn, &at))
		return;
	if (s->kind == INSN_UNDEFINED)
		unknown_run(s);
	else if (s->kind == INSN_RDPMC)
		step_rdpmc(s);
	else
		step_plain(s, &at);
}

static void run_step(void)
{
	const struct step *s = translate_step(current->pc);
	struct dispatch *run = &current->run;

	if (!s) {
		signals_bad_jump();
		return;
	}
	run->step_left = run->traps = run->again = false;
	if (run->recording)
		hot_note(s->pc);
	run_step_of(s);
	if (run->traps && !run->step_left)
		one_raise();
}

void run_program(void)
{
	struct dispatch *run = &current->run;

	for (;;) {
		if (!run->resume_at) /* else it is in the middle of a block */
			signals_check();
		if (run->resume_at || (!run->steps_due && choose_code())) {
			run_bulk();
			continue;
		}
		counting_mode(COUNTING_PRECISE);
		do {
			run_step();
			run->unwatched = false;
			if (run->steps_due)
				run->steps_due--;
			signals_check();
		} while (run->steps_due || run->trap_flag || !counting_bulk_possible() ||
			 memory_is_volatile(current->pc));
		hot_end();
		counting_mode(COUNTING_BULK);
		run->careful = run->careful_for_once = counting_low() && careful_pays(current->pc);
	}
}
