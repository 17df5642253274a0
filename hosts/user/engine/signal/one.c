/* SPDX-License-Identifier: MIT */
/*
 * one.c: one instruction with RFLAGS.TF.
 *
 * A program that sets TF gets SIGTRAP after each of its instructions.  While its TF is set
 * (run.trap_flag), it runs in steps of one instruction.  TF is set in the register for that
 * instruction, so that the processor does what depends on it: PUSHF stores TF, a repeated string
 * instruction traps after each iteration, MOV to SS traps one instruction later.  The engine's
 * own code after the instruction runs without TF.  When the step is complete, the engine lets
 * the processor raise the trap once more, at a NOP of its own, and delivers that signal.
 *
 * A NOP follows POPF in translated code.  So the first trap comes there, before the program's
 * next instruction has begun.
 */
#include "engine/signal/one.h"

#include "engine/rt/context.h"
#include "engine/rt/run_state.h"
#include "engine/rt/signal_state.h"
#include "engine/rt/sys.h"
#include "engine/signal/actions.h"
#include "engine/signal/faults.h"
#include "engine/signal/signals.h"
#include "engine/translate/translate.h"
#include "engine/x86/enter.h"

extern const char trap_here[];

static void leave_at(struct sigcontext *regs, const char *exit)
{
	regs->rip = (uint64_t)exit;
}

/* The program's instruction, or one iteration of it, has run. */
static void program_trapped(struct sigcontext *regs)
{
	struct dispatch *run = &current->run;
	const struct step *s = step_of_code(current->resume);

	/* After MOV to SS the trap comes in an exit of the engine. */
	run->traps = s->kind != INSN_PLAIN || step_of_code(regs->rip);
	if (s->kind == INSN_POPF)
		run->trap_flag = regs->eflags & FLAG_TF;
	if (s->rep && regs->rip == s->code) {
		run->again = true;
		leave_at(regs, exit_step_jump);
	}
}

static void raised(siginfo_t *info, struct ucontext *uc)
{
	bool delivered =
		action_has_handler(SIGTRAP) && !(current->signals.blocked_faults & BIT_OF(SIGTRAP));

	info->si_addr = (void *)current->pc;
	arrivals_note(info, uc, true);
	current->signals.arrived->fatal = delivered ? NOT_FATAL : FATAL_PROCESS;
	leave_at(&uc->uc_mcontext, exit_step_jump);
}

void one_trapped(siginfo_t *info, struct ucontext *uc)
{
	struct sigcontext *regs = &uc->uc_mcontext;
	struct dispatch *run = &current->run;

	if (run->one == ONE_UNKNOWN && run->one_at) {
		if (regs->rip == run->one_at) {
			current->resume = run->one_at;
			run->one_at = 0;
		}
		return; /* with TF */
	}
	switch (run->one) {
	case ONE_OF_PROGRAM:
		program_trapped(regs);
		break;
	case ONE_UNKNOWN:
		run->one_bytes = regs->rip - current->resume;
		leave_at(regs, exit_step_next);
		break;
	default:
		raised(info, uc);
		break;
	}
	run->one = ONE_OFF;
	regs->eflags &= ~FLAG_TF;
}

void one_run(enum one_purpose purpose)
{
	current->run.one = purpose;
	enter_one();
	current->run.one = ONE_OFF;
}

void one_raise(void)
{
	current->resume = (uint64_t)trap_here;
	one_run(ONE_RAISES);
}

bool one_fetch_failed(int sig, const siginfo_t *info, struct sigcontext *regs)
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
