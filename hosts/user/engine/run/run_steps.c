/* SPDX-License-Identifier: MIT */
/*
 * run_steps.c: runs precise steps, and what an instruction that is alone in its step needs: system
 * calls, far branches, RDPMC, RDTSC, transactions.  Reports to the units what each instruction did.
 */
#include "engine/cache/cache.h"
#include "engine/count/accesses.h"
#include "engine/count/activity.h"
#include "engine/count/client.h"
#include "engine/count/count.h"
#include "engine/count/flow.h"
#include "engine/count/meter_list.h"
#include "engine/count/points.h"
#include "engine/count/units.h"
#include "engine/linux/clocks.h"
#include "engine/linux/int80.h"
#include "engine/linux/syscalls.h"
#include "engine/linux/vsyscall.h"
#include "engine/memory/access.h"
#include "engine/memory/regions.h"
#include "engine/rt/context.h"
#include "engine/rt/context_words.h"
#include "engine/rt/engine.h"
#include "engine/rt/run_state.h"
#include "engine/rt/sys.h"
#include "engine/run/far.h"
#include "engine/run/functions.h"
#include "engine/run/near.h"
#include "engine/run/run.h"
#include "engine/run/valgrind.h"
#include "engine/signal/one.h"
#include "engine/signal/rseq.h"
#include "engine/signal/signals.h"
#include "engine/translate/path.h"
#include "engine/translate/pieces.h"
#include "engine/translate/translate.h"
#include "engine/x86/emit.h"
#include "engine/x86/enter.h"
#include "engine/x86/keys.h"
#include "engine/x86/opcodes.h"
#include "engine/x86/recognise.h"

#define FLAG_DF UINT64_C(0x400)

void run_bad_jump(void)
{
	if (!vsyscall_run())
		faults_bad_fetch(current->pc);
}

/* Decodes the instruction at current->pc, which is alone in its step. */
static void decode_alone(const struct step *s, struct insn *insn)
{
	READING_CODE;

	if (!insn_decode((const uint8_t *)s->pc, s->insn[0].bytes, s->pc, insn))
		*insn = (struct insn){.kind = INSN_UNDEFINED, .length = s->insn[0].bytes};
}

/* Lists the accesses of the instruction, which is alone in its step. */
static void list_accesses(const struct step *s, const struct insn *insn, struct accesses *list)
{
	READING_CODE;

	accesses_list(list, insn, (const uint8_t *)s->pc, s->pc);
}

/* Runs XBEGIN or XABORT (Vol.  2).  A transaction may abort at once, with no status, at its
 * fallback.  Without a transaction XABORT does nothing.  Processors without transactions know
 * neither. */
static void step_transaction(const struct step *s, const struct insn *insn)
{
	uint64_t next = s->pc + insn->length;

	if (!self_has_transactions()) {
		unknown_run(s);
		return;
	}
	current->pc = next;
	if (insn->opcode == OPCODE_XBEGIN) {
		current->gpr[0] &= ~UINT64_C(0xffffffff);
		next = insn->target;
	}
	counting_retire(s->pc, next, insn->signals, NULL);
	flow_break(next, 0);
	current->pc = next;
	current->run.traps = current->run.trap_flag;
}

static bool step_far(const struct step *s, const struct insn *insn, struct accesses *list)
{
	bool traps = current->run.trap_flag;

	if (!far_run(s, insn, list))
		return false;
	/* An instruction that has faulted does not trap. */
	current->run.traps |= traps && current->run.one_bytes;
	return true;
}

/* Handles an instruction that the engine runs itself.  Returns false if it must run unchanged. */
static bool step_special(const struct step *s, const struct insn *insn, struct accesses *list)
{
	switch (insn->kind) {
	case INSN_FAR:
		return step_far(s, insn, list);
	case INSN_XBEGIN:
		step_transaction(s, insn);
		return true;
	default:
		return near_run(s, insn, list);
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

/* Returns how many elements a repeated string instruction has done.  RCX was `before`. */
static uint64_t elements_done(const struct step *s, uint64_t before)
{
	uint64_t n = before - current->gpr[1];

	return s->address32 ? (uint32_t)n : n;
}

/* Runs a step, then reports its instructions.  Only the last can make a unit act. */
static void step_plain(const struct step *s, struct accesses *list)
{
	unsigned last = s->insns - 1u;
	uint64_t signals = s->insn[last].signals, ip, after = s->pc, next;
	uint32_t leaf = (uint32_t)current->gpr[0], subleaf = (uint32_t)current->gpr[1];
	uint64_t count = current->gpr[1];

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
	if (s->rep && list)
		accesses_repeat(list, elements_done(s, count), current->rflags & FLAG_DF);
	if (s->addressed && !list) /* of several, whose headroom is known */
		counting_retire_plain(ip, next, signals);
	else
		counting_retire(ip, next, signals, list);
	if (s->rep && signals != s->insn[last].signals)
		flow_note(ip, next, LINK_FLOW_IDLE);
}

/* Runs a request to softpmu.  It counts in no region that it starts or stops. */
static void step_request(const struct step *s, struct accesses *list)
{
	unsigned operation;
	READING_CODE;

	operation = recognise_request((const uint8_t *)s->pc);
	client_before();
	step_plain(s, list);
	if (current->run.step_left || current->run.again)
		return;
	if (operation)
		client_request(operation);
	else
		valgrind_request();
}

static bool is_call(const struct step *s, const struct insn *insn)
{
	return s->kind == INSN_SYSCALL || (s->special && far_is_call(insn) && !int80_is_plain());
}

static void run_step_of(const struct step *s)
{
	struct accesses room, *list = NULL;
	struct insn insn = {.kind = INSN_PLAIN};

	if (s->addressed && s->insns == 1)
		list = &room;
	if (s->insns == 1 && (s->special || s->addressed || current->list->activity)) {
		decode_alone(s, &insn);
		if (list)
			list_accesses(s, &insn, list);
	}
	if (current->list->activity)
		activity_before_step(&insn, s->pc);
	if (is_call(s, &insn)) {
		hot_end(); /* it may not return */
		step_syscall(s);
		return;
	}
	if (s->special && step_special(s, &insn, list))
		return;
	if (current->sequence && rseq_arm(s, list))
		return;
	if (s->kind == INSN_UNDEFINED)
		unknown_run(s);
	else if (s->kind == INSN_RDPMC)
		step_rdpmc(s);
	else if (s->kind == INSN_REQUEST)
		step_request(s, list);
	else
		step_plain(s, list);
	if (current->list->activity && insn.rep)
		activity_leave_step();
}

void run_step(void)
{
	struct dispatch *run = &current->run;
	const struct step *s;

	if (current->sequence)
		rseq_before_step();
	if (points_hold(current->pc))
		functions_at_point();
	s = step_translate(current->pc);
	if (!s) {
		run_bad_jump();
		return;
	}
	run->step_left = run->traps = run->again = false;
	if (engine_link->static_clocks)
		current->counting->step_parts = pieces_clocks(s);
	if (run->recording)
		hot_note(s->pc);
	run_step_of(s);
	if (current->sequence)
		rseq_after_step();
	if (run->traps && !run->step_left)
		one_raise();
}
