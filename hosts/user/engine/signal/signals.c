/* SPDX-License-Identifier: MIT */
/*
 * signals.c: delivers signals as natively.
 *
 * The engine receives all signals for which the program has a handler, and those that would end
 * it.  A fault gets the address of the program's own instruction and is delivered there.  Any
 * other signal waits for the next boundary between two instructions of the program, and the
 * kernel holds back later ones meanwhile.  In translated code that boundary is where the signal
 * arrived, or a few machine instructions later; these run one by one with RFLAGS.TF.
 *
 * actions.c has the program's dispositions, faults.c the signals that instructions raise.
 */
#include <asm/errno.h>
#include <asm/unistd.h>

#include "engine/count/activity.h"
#include "engine/memory/access.h"
#include "engine/rt/context.h"
#include "engine/rt/context_words.h"
#include "engine/rt/contexts.h"
#include "engine/rt/dispositions.h"
#include "engine/rt/lock.h"
#include "engine/rt/segments.h"
#include "engine/rt/signal_state.h"
#include "engine/rt/sys.h"
#include "engine/signal/actions.h"
#include "engine/signal/faults.h"
#include "engine/signal/filtered.h"
#include "engine/signal/frames.h"
#include "engine/signal/one.h"
#include "engine/signal/recover.h"
#include "engine/signal/rseq.h"
#include "engine/signal/signals.h"
#include "engine/translate/translate.h"
#include "engine/x86/enter.h"
#include "engine/x86/keys.h"
#include "engine/x86/opcodes.h"

#define INT80_BYTES 2

static struct signals *mine(void)
{
	return &current->signals;
}

/* --- masks --- */

/* Sets the program's mask, for the time when the kernel gets it back. */
static void set_mask(uint64_t mask)
{
	mine()->blocked_faults = mask & FAULT_SIGNALS;
	mine()->mask = mask & ~FAULT_SIGNALS;
}

/* --- arrival --- */

/* enter() was about to load these. */
static void complete_entry(struct sigcontext *regs)
{
	frame_registers(regs);
	regs->rip = current->resume;
}

/* Makes translated code return to the engine at the next boundary between two instructions. */
static void leave_soon(struct sigcontext *regs)
{
	uint64_t rip = regs->rip;

	if (current->run.one)
		return; /* returns after one instruction */
	if (rip >= (uint64_t)enter_check && rip < (uint64_t)enter_end)
		complete_entry(regs);
	rip = regs->rip;
	regs->eflags &= ~FLAG_TF;
	if (rip >= (uint64_t)syscall_check && rip <= (uint64_t)syscall_at)
		regs->rip = rip == (uint64_t)syscall_at && regs->rcx == (uint64_t)syscall_after
				    ? (uint64_t)syscall_again
				    : (uint64_t)syscall_interrupted;
	else if (in_engine(rip))
		return;
	else if (step_of_code(rip) && !step_waits(rip))
		return; /* returns by itself */
	else if (recover_is_possible(rip)) {
		recover(regs, 0);
		regs->rip = (uint64_t)exit_step_jump;
	} else {
		regs->eflags |= FLAG_TF;
	}
}

/* A filter's SECCOMP_RET_TRAP, delivered after the SYSCALL. */
static void trapped(siginfo_t *info, struct ucontext *uc)
{
	struct sigcontext *regs = &uc->uc_mcontext;
	bool delivered = action_has_handler(SIGSYS) && !(mine()->blocked_faults & BIT_OF(SIGSYS));

	filtered_note(info, regs);
	if (in_engine(regs->rip)) {
		current->call = CALL_TRAPPED;
		regs->rax = (uint64_t)CALL_NO_RESULT;
		info->si_call_addr = (void *)current->pc;
	} else {
		info->si_call_addr = (void *)(current->pc + INT80_BYTES);
	}
	arrivals_note(info, uc, true);
	mine()->arrived->filtered = true;
	mine()->arrived->fatal = delivered ? NOT_FATAL : FATAL_PROCESS;
}

/* Stops this thread, because another one wants that.  A system call that has just begun is made
 * later. */
static void stand_soon(struct ucontext *uc)
{
	struct sigcontext *regs = &uc->uc_mcontext;

	if (regs->rip == (uint64_t)syscall_after && regs->rax == (uint64_t)-EINTR)
		regs->rip = (uint64_t)syscall_interrupted;
	arrivals_hold_back(uc);
	leave_soon(regs);
}

/*
 * Returns whether RFLAGS.TF has raised this signal.  Some hypervisors lose DR6.BS once in many
 * thousand times.  Then the kernel takes the trap for INT1 and says TRAP_BRKPT.
 */
static bool is_single_step(int sig, const siginfo_t *info, const struct sigcontext *regs)
{
	if (sig != SIGTRAP)
		return false;
	return info->si_code == TRAP_TRACE ||
	       (info->si_code == TRAP_BRKPT && regs->eflags & FLAG_TF &&
		((const uint8_t *)regs->rip)[-1] != OPCODE_INT1);
}

static __attribute__((noinline)) void handle(int sig, siginfo_t *info, struct ucontext *uc)
{
	struct sigcontext *regs = &uc->uc_mcontext;

	/* Translated code has set it: a POPF of the program. */
	if (regs->eflags & FLAG_TF && !current->pending && !current->run.one)
		current->run.trap_flag = true;
	if (lock_is_stop(info)) {
		stand_soon(uc);
		return;
	}
	if (is_single_step(sig, info, regs) && current->run.one) {
		info->si_code = TRAP_TRACE;
		one_trapped(info, uc);
		return;
	}
	if (is_single_step(sig, info, regs) ||
	    (sig == SIGTRAP && current->pending && info->si_code > 0 &&
	     regs->rip == (uint64_t)enter_trap + 1)) {
		leave_soon(regs);
		return;
	}
	if (info->si_code > 0 && is_fault_signal(sig) &&
	    (mine()->forcing || regs->rip == (uint64_t)frame_back)) {
		arrivals_note(info, uc, true);
		if (!mine()->forcing)
			frame_refused(regs);
		mine()->forcing = false;
		return;
	}
	if (sig == SIGSYS && info->si_code == SYS_SECCOMP) {
		trapped(info, uc);
		return;
	}
	if (sig == SIGSEGV && info->si_code == SI_KERNEL && rseq_is_refused()) {
		arrivals_note(info, uc, true);
		leave_soon(regs);
		return;
	}
	if (info->si_code > 0 && is_fault_signal(sig)) {
		fault_arrived(sig, info, uc);
		return;
	}
	if (!(mine()->blocked_faults & BIT_OF(sig)) &&
	    (action_of(sig)->handler == IGNORE || (!action_has_handler(sig) && !action_ends(sig))))
		return;
	if (mine()->waiting && regs->rip == (uint64_t)syscall_after &&
	    regs->rax == (uint64_t)-EINTR)
		mine()->came_waiting = true;
	arrivals_note(info, uc, false);
	if (current->pending)
		leave_soon(regs);
	else if (regs->rip == (uint64_t)syscall_after && regs->rax == (uint64_t)-EINTR)
		regs->rip = (uint64_t)
			syscall_interrupted; /* the signal is blocked: no call ends by it */
}

/* Gives the engine its rights.  The kernel's rights for a handler are smaller. */
static void take_rights(void)
{
	uint64_t rights = keys_open();

	if (rights != RIGHTS_UNTOUCHED)
		mine()->handlers_rights = (uint32_t)rights;
}

/* GS may be the program's (step.c), or another thread's (threads.c).  Code that continues there
 * gets it back; code that leaves gets the engine's. */
void signals_handler(int sig, siginfo_t *info, struct ucontext *uc)
{
	uint64_t gs = read_gs_base(), rip = uc->uc_mcontext.rip;
	uint64_t own = (uint64_t)context_of_stack(__builtin_frame_address(0));

	if (gs != own)
		keep_gs_base(own);
	take_rights();
	handle(sig, info, uc);
	if (gs == own || uc->uc_mcontext.rip != rip)
		return;
	if (current->stands_in)
		keep_gs_base(gs);
	else
		write_gs_base(gs);
}

/* --- delivery, at a boundary --- */

/* Returns the mask of the call that waited, which is valid when the handler begins. */
static uint64_t mask_now(void)
{
	uint64_t mask = mine()->mask | mine()->blocked_faults;

	if (mine()->came_waiting)
		mask = mine()->wait_mask;
	mine()->came_waiting = false;
	return mask;
}

/* Sends SIGSEGV instead, because the stack cannot hold the frame.  SIGSEGV then needs a stack of
 * its own. */
static void no_room(const struct arrival *a)
{
	struct arrival *first = mine()->arrived;

	if (a->info.si_signo == SIGSEGV)
		finish_by_signal(SIGSEGV, FATAL_PROCESS);
	if (mine()->arrivals == ARRIVALS_MAX)
		mine()->arrivals--;
	memmove(first + 1, first, mine()->arrivals * sizeof(*first));
	mine()->arrivals++;
	memcpy(first, a, sizeof(*first));
	first->info = (siginfo_t){.si_signo = SIGSEGV, .si_code = SI_KERNEL};
	first->fault = true;
	first->filtered = false;
}

/* The decision of the filters has priority over the program's disposition. */
static enum fatal fatal_of(struct arrival *a)
{
	enum fatal decided = a->filtered ? filtered_decide(&a->info) : NOT_FATAL;

	return decided ? decided : a->fatal;
}

static void deliver(struct arrival *a)
{
	int sig = a->info.si_signo;
	struct kernel_action action;
	uint64_t saved = mine()->mask | mine()->blocked_faults, now = mask_now();
	enum fatal fatal = fatal_of(a);

	if (fatal)
		finish_by_signal(sig, fatal);
	if (!a->fault && now & BIT_OF(sig)) {
		/* The handler of an earlier signal blocks it: back to the kernel, which keeps
		 * it. */
		if (is_fault_signal(sig))
			held_add(&a->info);
		else
			syscall4(__NR_rt_tgsigqueueinfo, current->pid, current->tid, sig,
				 (long)&a->info);
		return;
	}
	if (a->fault && now & BIT_OF(sig))
		finish_by_signal(sig, FATAL_PROCESS);
	action = action_take(sig);
	if (action.handler == IGNORE && !a->fault)
		return;
	if (action.handler <= IGNORE) {
		if (a->fault || action_ends(sig))
			finish_by_signal(sig, FATAL_PROCESS);
		return;
	}
	if (current->sequence)
		rseq_interrupted();
	activity_take();
	activity_reach(current->pc);
	if (!frame_push(a, &action, saved)) {
		no_room(a);
		return;
	}
	mine()->recent |= BIT_OF(sig);
	now |= action.mask;
	if (!(action.flags & SA_NODEFER))
		now |= BIT_OF(sig);
	set_mask(now & ~(BIT_OF(SIGKILL) | BIT_OF(SIGSTOP)));
}

static void deliver_arrivals(void)
{
	mine()->checking = true;
	while (mine()->arrivals) {
		struct arrival a;

		memcpy(&a, mine()->arrived, sizeof(a));
		mine()->arrivals--;
		memmove(mine()->arrived, mine()->arrived + 1, mine()->arrivals * sizeof(a));
		deliver(&a);
	}
	mine()->checking = false;
	current->pending = 0;
}

void signals_check(void)
{
	lock_check();
	if (mine()->unwatches)
		faults_open_pages();
	if (mine()->steps_held && !--mine()->steps_held && !current->pending)
		storm_hand_out();
	while (current->pending) {
		deliver_arrivals();
		if (storm_hold())
			break;
		storm_hand_out();
	}
}

void signals_start_thread(void)
{
	stack_t stack = {
		.ss_sp = context_altstack(current),
		.ss_size = ALTSTACK_BYTES,
	};

	frame_own_stack(&stack);
	syscall2(__NR_sigaltstack, (long)&stack, 0);
}

void signals_inherit(struct signals *to, bool own)
{
	memset(to, 0, sizeof(*to));
	to->process =
		own ? dispositions_copy(mine()->process) : dispositions_share(mine()->process);
	to->blocked_faults = mine()->blocked_faults;
}

void signals_start(const char *entry, const char *back)
{
	mine()->blocked_faults = sys_signal_mask(SIG_BLOCK, 0) & FAULT_SIGNALS;
	signals_start_thread();
	mine()->process = heap_allocate(sizeof(*mine()->process));
	mine()->process->users = 1;
	actions_start(entry, back);
	held_take_back(); /* the previous image of the process may have left some */
}

/* --- system calls of the program --- */

static void block_faults(long how, uint64_t set)
{
	set &= FAULT_SIGNALS;
	if (how == SIG_BLOCK)
		mine()->blocked_faults |= set;
	else if (how == SIG_UNBLOCK)
		mine()->blocked_faults &= ~set;
	else
		mine()->blocked_faults = set;
}

long signals_procmask(long how, uint64_t set, uint64_t old, uint64_t set_bytes)
{
	uint64_t wanted, before;
	uint64_t faults_before = mine()->blocked_faults;
	uint64_t a[6] = {(uint64_t)how, 0, (uint64_t)&before, set_bytes};
	long result;

	if (set_bytes == 8 && set) {
		if (!access_readable(set, sizeof(wanted)))
			return -EFAULT;
		memcpy(&wanted, (const void *)set, sizeof(wanted));
		a[1] = (uint64_t)&wanted;
		block_faults(how, wanted);
		if (how != SIG_UNBLOCK)
			wanted &= ~FAULT_SIGNALS;
	}
	result = syscall_program(__NR_rt_sigprocmask, a);
	if (result) {
		mine()->blocked_faults = faults_before;
		return result;
	}
	if (old) {
		if (!access_writable(old, sizeof(before)))
			return -EFAULT;
		before |= faults_before;
		memcpy((void *)old, &before, sizeof(before));
	}
	held_send();
	return 0;
}

/* The kernel sets a mask that blocks everything.  The program's mask follows at once. */
void signals_return(void)
{
	int sig = frame_signal();
	uint64_t mask = sys_signal_mask(SIG_BLOCK, ~FAULT_SIGNALS);
	bool readable;

	if (current->pending)
		mask = mine()->mask;
	mask |= mine()->blocked_faults;
	mine()->recent |= sig ? BIT_OF(sig) : 0;
	current->pending = 1; /* signals_check() sets the mask */
	readable = frame_return(~FAULT_SIGNALS, &mask);
	set_mask(mask & ~(BIT_OF(SIGKILL) | BIT_OF(SIGSTOP)));
	if (readable)
		return;
	current->gpr[0] = 0;
	arrivals_force(&(siginfo_t){.si_signo = SIGSEGV, .si_code = SI_KERNEL});
}

void signals_waits_with(uint64_t mask_address)
{
	struct signals *s = mine();

	s->waiting = false;
	if (!mask_address || !access_readable(mask_address, sizeof(s->wait_mask)))
		return;
	s->came_waiting = false;
	memcpy(&s->wait_mask, (const void *)mask_address, sizeof(s->wait_mask));
	s->waiting = true;
}
