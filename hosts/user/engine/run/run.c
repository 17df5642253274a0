/* SPDX-License-Identifier: MIT */
/*
 * run.c: the dispatcher.  It runs bulk blocks while every meter has headroom, and precise
 * steps while one has not.  It accounts for what ran when either returns.
 *
 * current->pc is the program address at which execution continues whenever engine code runs.
 * Everything before it has been charged or reported, nothing after it.
 */
#include "engine/cache/cache.h"
#include "engine/count/activity.h"
#include "engine/count/count.h"
#include "engine/count/follow.h"
#include "engine/count/meter_list.h"
#include "engine/linux/clocks.h"
#include "engine/linux/int80.h"
#include "engine/linux/syscalls.h"
#include "engine/linux/vsyscall.h"
#include "engine/memory/access.h"
#include "engine/memory/regions.h"
#include "engine/rt/context.h"
#include "engine/rt/context_words.h"
#include "engine/rt/engine.h"
#include "engine/rt/lock.h"
#include "engine/rt/run_state.h"
#include "engine/rt/segments.h"
#include "engine/rt/sys.h"
#include "engine/run/far.h"
#include "engine/run/run.h"
#include "engine/signal/one.h"
#include "engine/signal/rseq.h"
#include "engine/signal/signals.h"
#include "engine/translate/lessons.h"
#include "engine/translate/path.h"
#include "engine/translate/sections.h"
#include "engine/translate/translate.h"
#include "engine/x86/emit.h"
#include "engine/x86/enter.h"
#include "engine/x86/keys.h"
#include "engine/x86/opcodes.h"

#define SEEN		   16384
#define LOW_HEADROOM_TIMES 2 /* the cost of making it, in moves of headroom */

static uint64_t key_of(uint64_t pc)
{
	return current->run.low_headroom ? pc | LOW_HEADROOM_KEY : pc;
}

/*
 * Returns whether low-headroom code for pc exists or is worth making.  It is not for code that
 * is rarely reached at the end of a period: that runs as it is, with the headroom spread over
 * the shards.
 */
static bool low_headroom_pays(uint64_t pc)
{
	static struct { /* shared by all threads; a lost update does not matter */
		uint32_t pc;
		uint32_t times;
	} seen[SEEN];
	uint32_t i = (uint32_t)pc % SEEN;

	if (lookup_code(pc | LOW_HEADROOM_KEY))
		return true;
	if (seen[i].pc != (uint32_t)pc) {
		seen[i].pc = (uint32_t)pc;
		seen[i].times = 0;
	}
	return ++seen[i].times > LOW_HEADROOM_TIMES;
}

/* Code that is not translated in blocks. */
static bool runs_in_steps(uint64_t pc)
{
	return region_is_volatile(pc) || sections_hold(pc);
}

/* Chooses bulk or low-headroom code for current->pc, and moves headroom to where that code
 * uses it.  Returns false if there is too little for either. */
static bool choose_code(void)
{
	struct dispatch *run = &current->run;

	if (run->trap_flag || runs_in_steps(current->pc))
		return false;
	if (run->low_headroom && !run->low_headroom_for_once && !low_headroom_pays(current->pc))
		run->low_headroom = false;
	run->low_headroom_for_once = false;
	shards_set_mode(run->low_headroom ? COUNTING_LOW_HEADROOM : COUNTING_BULK);
	if (!shards_bulk_possible() || !variant_take())
		return false;
	return !run->low_headroom || lookup_start_low();
}

/* Returns the code to run at current->pc.  0: it cannot be executed, or the cache was emptied
 * before the thread got the lock, and the list may have lost its variant.  After a step the code
 * is mostly known.  A lookup in the table would miss all caches. */
static uint64_t code_here(bool after_step)
{
	uint32_t *known =
		after_step && !current->run.low_headroom ? step_code_after(current->pc) : NULL;
	uint64_t key = key_of(current->pc), code = known && *known ? *known : lookup_code(key);
	uint64_t flushes = cache_flushes;

	if (!code) {
		lessons_note_code(key);
		lock_take();
		code = lookup_code(key);
		if (!code && cache_flushes == flushes)
			code = translate_block(key);
		lock_release();
		known = NULL; /* it may have been dropped */
	}
	if (known)
		*known = (uint32_t)code;
	return code;
}

/* Continues, unless something must be done at this boundary between two instructions. */
static void resume_linked(uint64_t code)
{
	if (!current->pending && !current->stop && !current->signals.unwatches &&
	    !current->run.trap_flag)
		current->run.resume_at = code;
}

static void link_exit(uint32_t number)
{
	const struct exit_stub *stub = exit_stub_at(number);
	uint64_t flushes = cache_flushes, reclaims = exit_stubs_reclaimed, key = stub->target;

	current->pc = pc_of_key(key);
	if (sections_hold(current->pc))
		return;
	if (current->run.low_headroom && !low_headroom_pays(current->pc)) {
		current->run.low_headroom = false;
		return;
	}
	current->run.steps_due = plt_cache_soon(current->pc);
	if (current->run.steps_due) {
		lessons_note_wait(number, key);
		return;
	}
	lessons_note_jump(number, key);
	lock_take();
	/* Meanwhile the stub may be gone or linked. */
	if (cache_flushes == flushes && exit_stubs_reclaimed == reclaims && !stub->linked)
		resume_linked(translate_link(number, *stub));
	lock_release();
}

static void indirect_exit(bool of_return)
{
	uint64_t flushes = cache_flushes;

	if (current->run.low_headroom && !low_headroom_pays(current->pc)) {
		current->run.low_headroom = false;
		return;
	}
	lessons_note_target(key_of(current->pc), of_return);
	lock_take();
	if (cache_flushes == flushes)
		translate_target(key_of(current->pc), of_return);
	lock_release();
}

/* The same from the block's charge on, noted in the block itself.  Most code is there once, and
 * a lookup in the table would miss all caches. */
static bool low_pays(struct block *b, uint64_t pc)
{
	uint8_t misses = __atomic_load_n(&b->low_misses, __ATOMIC_RELAXED);
	uint64_t code;

	if (__atomic_load_n(&b->low_code, __ATOMIC_RELAXED))
		return true;
	code = misses % LOW_HEADROOM_TIMES ? 0 : lookup_code(pc | LOW_HEADROOM_KEY);
	if (code)
		b->low_code = (uint32_t)code;
	else if (misses < LOW_HEADROOM_TIMES)
		b->low_misses = misses + 1;
	return code || misses == LOW_HEADROOM_TIMES;
}

/*
 * Handles a block for which a meter had no headroom.  Its charges up to that one are taken
 * back.  While much is left, it is shared out again.  Then execution continues with low-headroom
 * code, where that pays, or with what is left in the shards.  If there is not enough for the
 * block, it continues with precise steps, or with low-headroom code if those would be many.
 */
static void headroom_exit(struct block *b, unsigned index)
{
	struct dispatch *run = &current->run;
	struct block_charge charge = side_table_take_back(b, index);
	uint64_t pc = b->pc + b->check_bytes;
	bool pays = false;

	if (!b->low_headroom) {
		emit_move_check(charge.check);
		run->steps_due = !shards_low() && shards_quantum_over() ? hot_sample(b) : 0;
		if (run->steps_due) {
			side_table_leave_at_check(b);
			current->pc = pc;
			return;
		}
		pays = shards_low() && low_pays(b, pc);
		if (!pays && shards_rebalance(charge.meter, shard_of(block_number(b)), charge.n)) {
			run->resume_at = side_table_check_code(b);
			return;
		}
		side_table_leave_at_check(b);
	}
	current->pc = pc;
	if (pays || (!b->low_headroom && !shards_is_unchecked(charge.meter) &&
		     b->insns - b->check_at > LOW_HEADROOM_INSNS_MAX && !shards_few(charge.meter)))
		run->low_headroom = run->low_headroom_for_once = true;
	else
		run->steps_due = 1;
	if (!pays || !b->low_code)
		return;
	if (!lookup_start_low())
		return;
	shards_set_mode(COUNTING_LOW_HEADROOM);
	if (!shards_bulk_possible())
		return;
	run->low_headroom_for_once = false;
	run->resume_at = b->low_code;
}

/* Handles a jump to current->pc where no code is: a call to the vsyscall page, or a fault as
 * natively. */
static void bad_jump(void)
{
	if (!vsyscall_run())
		faults_bad_fetch(current->pc);
}

static void run_bulk(bool after_step)
{
	struct dispatch *run = &current->run;
	uint64_t flushes = cache_flushes;
	uint64_t code = run->resume_at ? run->resume_at : code_here(after_step);
	struct block *b;
	uint32_t site;

	run->resume_at = 0;
	if (!code && runs_in_steps(current->pc)) { /* as has become known meanwhile */
		run->steps_due = 1;
		return;
	}
	if (!code) {
		if (cache_flushes == flushes)
			bad_jump();
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
		current->pc = exit_stub_at(site)->target;
		run->steps_due = 1;
		break;
	case EXIT_SYSCALL:
		current->pc = side_table_pc_of(b, b->insns);
		syscall_registers();
		if (!syscall_run())
			for (unsigned m = 0; m < current->list->meters; m++)
				current->shard[m][0] += side_table_syscall_occurrences(m);
		break;
	case EXIT_LOG_FULL: /* the store is repeated, at RAX */
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
	if (current->sequence)
		rseq_after_bulk();
}

/* Decodes the instruction at current->pc, which is alone in its step. */
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

/* Runs XBEGIN or XABORT (Vol.  2).  A transaction may abort at once, with no status, at its
 * fallback.  Without a transaction XABORT does nothing.  Processors without transactions know
 * neither. */
static void step_transaction(const struct step *s, const struct insn *insn)
{
	if (!self_has_transactions()) {
		unknown_run(s);
		return;
	}
	current->pc = s->pc + insn->length;
	if (insn->opcode == OPCODE_XBEGIN) {
		current->gpr[0] &= ~UINT64_C(0xffffffff);
		current->pc = insn->target;
	}
	counting_retire(s->pc, current->pc, insn->signals, NULL);
	current->run.traps = current->run.trap_flag;
}

/* Runs JMP or CALL through memory in GS.  Returns false if it faults. */
static bool step_branch_in_gs(const struct step *s, const struct insn *insn,
			      const struct insn_addresses *at)
{
	uint64_t operand =
		insn_data_address(insn, s->pc, current->gpr, read_fs_base(), current->program_gs);
	uint64_t after = s->pc + insn->length, sp = current->gpr[4] - sizeof(after), target;
	bool call = insn->kind == INSN_CALL_IND;

	if (!access_readable(operand, sizeof(target)) ||
	    (call && !access_writable(sp, sizeof(after))))
		return false;
	memcpy(&target, (const void *)operand, sizeof(target));
	if (!is_canonical(target))
		return false;
	if (call) {
		memcpy((void *)sp, &after, sizeof(after));
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

/* Handles an instruction that the engine runs itself.  Returns false if it must run unchanged. */
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

/* Runs the step.  Returns where the program continues.  Registers are those after the step.  The
 * signals of the outcome of its last instruction are added to *signals. */
static uint64_t run_alone(const struct step *s, uint64_t after, uint64_t *signals)
{
	bool conditional = s->kind == INSN_JCC || s->kind == INSN_JCXZ;

	current->resume = rseq_guard(s);
	if (current->run.trap_flag)
		one_run(ONE_OF_PROGRAM);
	else
		enter();
	switch (current->reason) {
	case EXIT_STEP_ABORTED:
		current->run.step_left = true;
		rseq_abort();
		return current->pc;
	case EXIT_STEP_TAKEN:
		if (conditional)
			*signals |= SPMU_SIGBIT(COND_TAKEN);
		return s->target;
	case EXIT_STEP_JUMP:
		return current->pc;
	default:
		if (conditional)
			*signals |= SPMU_SIGBIT(COND_NTAKEN);
		return after;
	}
}

/* Runs a system call.  The instruction retires first, because the call may not return.  It does
 * not trap by RFLAGS.TF. */
static void step_syscall(const struct step *s)
{
	struct dispatch *run = &current->run;
	uint64_t pc = s->pc; /* the call may discard the step */
	bool made;

	storm_before_call();
	if (current->pending)
		return;
	current->pc = pc + s->insn[0].bytes;
	if (s->kind == INSN_SYSCALL)
		syscall_registers();
	if (run->retired_at != pc || run->retired_rsp != current->gpr[4])
		counting_retire(pc, current->pc, s->insn[0].signals, NULL);
	run->retired_at = 0;
	if (s->kind == INSN_SYSCALL || !int80_run(&made))
		made = syscall_run();
	if (!made) {
		run->retired_at = pc;
		run->retired_rsp = current->gpr[4];
	}
}

/* Runs RDPMC.  The counter that it reads does not include it. */
static void step_rdpmc(const struct step *s)
{
	enum spmu_outcome outcome = self_rdpmc();

	if (outcome != SPMU_DONE) {
		current->resume = s->code + (outcome == SPMU_UD ? FAULT_UD : FAULT_GP);
		enter();
		return;
	}
	current->pc = s->pc + s->insn[0].bytes;
	counting_retire(s->pc, current->pc, s->insn[0].signals, NULL);
	current->run.traps = current->run.trap_flag;
}

/* Replaces the machine's time, which the instruction has read. */
static void step_rdtsc(const struct step *s)
{
	READING_CODE;

	clocks_tsc(((const uint8_t *)s->pc)[s->insn[0].bytes - 1] != OPCODE_RDTSC);
}

/* Runs a step, then reports its instructions.  Only the last can make a unit act. */
static void step_plain(const struct step *s, const struct insn_addresses *at)
{
	unsigned last = s->insns - 1u;
	uint64_t signals = s->insn[last].signals, ip, after = s->pc, next;
	uint32_t leaf = (uint32_t)current->gpr[0], subleaf = (uint32_t)current->gpr[1];

	if (s->rep && !(s->address32 ? (uint32_t)current->gpr[1] : current->gpr[1]))
		signals &= ~(SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES));
	for (unsigned i = 0; i <= last; i++)
		after += s->insn[i].bytes;
	next = run_alone(s, after, &signals);
	if (current->run.step_left || current->run.again)
		return;
	current->pc = next;
	if (s->kind == INSN_CPUID)
		self_cpuid(leaf, subleaf);
	else if (s->kind == INSN_RDTSC && engine_wants(LINK_WANT_TIME))
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
	return s->kind == INSN_SYSCALL || (s->special && far_is_call(insn) && !int80_is_plain());
}

static void run_step_of(const struct step *s)
{
	struct insn_addresses at = {0, 0};
	struct insn insn = {.kind = INSN_PLAIN};

	if (s->insns == 1 && (s->special || s->addressed || current->list->activity)) {
		decode_alone(s, &insn);
		if (s->addressed)
			at = addresses_of(s, &insn);
	}
	if (current->list->activity)
		activity_before_step(&insn, s->pc);
	if (is_call(s, &insn)) {
		if (current->list->activity)
			activity_after_step(s->pc + s->insn[0].bytes);
		hot_end(); /* it may not return */
		step_syscall(s);
		return;
	}
	if (s->special && step_special(s, &insn, &at))
		return;
	if (current->sequence && rseq_arm(s, &at))
		return;
	if (s->kind == INSN_UNDEFINED)
		unknown_run(s);
	else if (s->kind == INSN_RDPMC)
		step_rdpmc(s);
	else
		step_plain(s, &at);
	if (current->list->activity && (!current->run.step_left || insn.rep))
		activity_after_step(current->pc);
}

static void run_step(void)
{
	struct dispatch *run = &current->run;
	const struct step *s;

	if (current->sequence)
		rseq_before_step();
	s = step_translate(current->pc);
	if (!s) {
		bad_jump();
		return;
	}
	run->step_left = run->traps = run->again = false;
	if (run->recording)
		hot_note(s->pc);
	run_step_of(s);
	if (current->sequence)
		rseq_after_step();
	if (run->traps && !run->step_left)
		one_raise();
}

/* The thread is between two instructions of the program. */
static void at_boundary(void)
{
	signals_check();
	if (!changes_are_due())
		return;
	hot_end();
	changes_follow();
}

void run_program(void)
{
	struct dispatch *run = &current->run;
	bool after_step = false;

	for (;;) {
		if (!run->resume_at) /* otherwise it is in the middle of a block */
			at_boundary();
		if (run->resume_at || (!run->steps_due && choose_code())) {
			run_bulk(after_step);
			after_step = false;
			continue;
		}
		shards_set_mode(COUNTING_PRECISE);
		do {
			run_step();
			run->unwatched = false;
			if (run->steps_due)
				run->steps_due--;
			at_boundary();
		} while (run->steps_due || run->trap_flag || !shards_bulk_possible() ||
			 runs_in_steps(current->pc));
		after_step = true;
		hot_end();
		shards_set_mode(COUNTING_BULK);
		run->low_headroom = run->low_headroom_for_once =
			shards_low() && low_headroom_pays(current->pc);
	}
}
