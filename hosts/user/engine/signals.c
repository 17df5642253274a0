/* SPDX-License-Identifier: MIT */
/*
 * signals.c: signals as the program would meet them.
 *
 * All signals for which the program has a handler, and those that would end it, come to
 * the engine first.  A fault is put where the program's own instruction is and delivered
 * there.  Any other signal is kept until the next boundary between two instructions
 * of the program; meanwhile the kernel keeps back what comes after it.  In translated
 * code that boundary is where the signal found it, or a few machine instructions on,
 * which are run one by one with RFLAGS.TF.
 *
 * What the program wants done is in actions.c, what instructions raise in faults.c.
 */
#include <asm/errno.h>
#include <asm/unistd.h>

#include "actions.h"
#include "engine.h"
#include "faults.h"
#include "filters.h"
#include "keys.h"
#include "one.h"
#include "settle.h"
#include "sys.h"
#include "threads.h"

#define TRAP_TRACE 2

static struct signals *mine(void)
{
	return &current->signals;
}

/* --- masks --- */

uint64_t signals_kernel_mask(int how, uint64_t set)
{
	uint64_t old = 0;

	syscall4(__NR_rt_sigprocmask, how, (long)&set, (long)&old, 8);
	return old;
}

/* The program's mask, kept for when the kernel gets it back. */
static void set_mask(uint64_t mask)
{
	mine()->blocked_faults = mask & FAULT_SIGNALS;
	mine()->mask = mask & ~FAULT_SIGNALS;
}

/* --- the end --- */

/* Not while the handler of the engine runs: the signal has to come through. */
void signals_end_finished(int sig)
{
	action_default(sig);
	syscall3(__NR_tgkill, current->pid, current->tid, sig);
	signals_kernel_mask(SIG_UNBLOCK, BIT_OF(sig));
	for (;;)
		syscall1(__NR_exit_group, 128 + sig);
}

static _Noreturn void die(int sig)
{
	engine_finish();
	signals_end_finished(sig);
}

void signals_end(int sig, enum fatal what)
{
	if (what == FATAL_THREAD && !current->borrowed)
		thread_end(sig);
	die(sig);
}

/* --- arrival --- */

/* From here on the kernel keeps back what is not a fault. */
static void hold_back(struct ucontext *uc)
{
	if (!current->pending && !mine()->steps_held)
		mine()->mask = uc->uc_sigmask;
	uc->uc_sigmask = ~FAULT_SIGNALS;
	current->pending = 1;
}

void signals_note(const siginfo_t *info, struct ucontext *uc, bool fault)
{
	struct arrival *a = mine()->arrived + mine()->arrivals;
	int sig = info->si_signo;

	if (!fault && is_fault_signal(sig) &&
	    (mine()->checking || mine()->blocked_faults & BIT_OF(sig))) {
		signals_hold(info);
		return;
	}
	if (mine()->arrivals == ARRIVALS_MAX)
		return; /* sent again and again: more fault signals than instructions */
	if (fault) {
		a = mine()->arrived;
		memmove(a + 1, a, mine()->arrivals * sizeof(*a));
	}
	frame_note(a, info, uc);
	a->fault = fault;
	mine()->arrivals++;
	hold_back(uc);
}

/* enter() was about to load these. */
static void complete_entry(struct sigcontext *regs)
{
	frame_registers(regs);
	regs->rip = current->resume;
}

/* Translated code goes back to the engine as soon as it is between two instructions. */
static void leave_soon(struct sigcontext *regs)
{
	uint64_t rip = regs->rip;

	if (current->run.one)
		return; /* comes back after one instruction */
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
		return; /* comes back by itself */
	else if (settle_possible(rip)) {
		settle(regs, 0);
		regs->rip = (uint64_t)exit_step_jump;
	} else {
		regs->eflags |= FLAG_TF;
	}
}

/* A filter's SECCOMP_RET_TRAP: delivered behind the SYSCALL. */
static void trapped(siginfo_t *info, struct ucontext *uc)
{
	struct sigcontext *regs = &uc->uc_mcontext;
	bool delivered = action_has_handler(SIGSYS) && !(mine()->blocked_faults & BIT_OF(SIGSYS));
	enum fatal fatal = filters_fatal(info);

	regs->rax = (uint64_t)SYSCALL_TRAPPED;
	info->si_call_addr = (void *)current->pc;
	signals_note(info, uc, true);
	mine()->arrived->fatal = fatal || delivered ? fatal : FATAL_PROCESS;
}

/* Another thread wants this one to stand still.  A system call that has just begun is made later.
 */
static void stand_soon(struct ucontext *uc)
{
	struct sigcontext *regs = &uc->uc_mcontext;

	if (regs->rip == (uint64_t)syscall_after && regs->rax == (uint64_t)-EINTR)
		regs->rip = (uint64_t)syscall_interrupted;
	hold_back(uc);
	leave_soon(regs);
}

static __attribute__((noinline)) void handle(int sig, siginfo_t *info, struct ucontext *uc)
{
	struct sigcontext *regs = &uc->uc_mcontext;

	/* Translated code has set it: POPF of the program. */
	if (regs->eflags & FLAG_TF && !current->pending && !current->run.one)
		current->run.trap_flag = true;
	if (threads_is_stop(info)) {
		stand_soon(uc);
		return;
	}
	if (sig == SIGTRAP && info->si_code == TRAP_TRACE && current->run.one) {
		one_trapped(info, uc);
		return;
	}
	if (sig == SIGTRAP &&
	    (info->si_code == TRAP_TRACE ||
	     (current->pending && info->si_code > 0 && regs->rip == (uint64_t)enter_trap + 1))) {
		leave_soon(regs);
		return;
	}
	if (info->si_code > 0 && is_fault_signal(sig) &&
	    (mine()->forcing || regs->rip == (uint64_t)frame_back)) {
		signals_note(info, uc, true);
		if (!mine()->forcing)
			frame_refused(regs);
		mine()->forcing = false;
		return;
	}
	if (sig == SIGSYS && info->si_code == SYS_SECCOMP) {
		trapped(info, uc);
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
	signals_note(info, uc, false);
	if (current->pending)
		leave_soon(regs);
	else if (regs->rip == (uint64_t)syscall_after && regs->rax == (uint64_t)-EINTR)
		regs->rip = (uint64_t)syscall_interrupted; /* it is blocked: no call ends by it */
}

/* The kernel gives a handler rights of its own, which are less than the engine's. */
static void take_rights(void)
{
	uint64_t rights = keys_open();

	if (rights != RIGHTS_UNTOUCHED)
		mine()->handlers_rights = (uint32_t)rights;
}

/* GS may be the program's (step.c), or another thread's (threads.c): what goes on there has it
 * again, what leaves from there has the engine's. */
void signals_handler(int sig, siginfo_t *info, struct ucontext *uc)
{
	uint64_t gs = read_gs_base(), rip = uc->uc_mcontext.rip;
	uint64_t own = (uint64_t)context_of_stack(__builtin_frame_address(0));

	if (gs != own)
		write_gs_base(own);
	take_rights();
	handle(sig, info, uc);
	if (gs != own && uc->uc_mcontext.rip == rip)
		write_gs_base(gs);
}

/* --- delivery, at a boundary --- */

/* The mask of the call that waited, under which the handler begins. */
static uint64_t mask_now(void)
{
	uint64_t mask = mine()->mask | mine()->blocked_faults;

	if (mine()->came_waiting)
		mask = mine()->wait_mask;
	mine()->came_waiting = false;
	return mask;
}

/* The stack cannot hold the frame: SIGSEGV in its place, which has to have a stack of its own. */
static void no_room(const struct arrival *a)
{
	struct arrival *first = mine()->arrived;

	if (a->info.si_signo == SIGSEGV)
		die(SIGSEGV);
	if (mine()->arrivals == ARRIVALS_MAX)
		mine()->arrivals--;
	memmove(first + 1, first, mine()->arrivals * sizeof(*first));
	mine()->arrivals++;
	memcpy(first, a, sizeof(*first));
	first->info = (siginfo_t){.si_signo = SIGSEGV, .si_code = SI_KERNEL};
	first->fault = true;
}

void signals_force(const siginfo_t *info)
{
	mine()->forcing = true;
	syscall4(__NR_rt_tgsigqueueinfo, current->pid, current->tid, info->si_signo, (long)info);
}

static void deliver(const struct arrival *a)
{
	int sig = a->info.si_signo;
	struct kernel_action action;
	uint64_t saved = mine()->mask | mine()->blocked_faults, now = mask_now();

	if (a->fatal)
		signals_end(sig, a->fatal);
	if (!a->fault && now & BIT_OF(sig)) {
		/* An earlier one's handler blocks it: back to the kernel, which holds it. */
		if (is_fault_signal(sig))
			signals_hold(&a->info);
		else
			syscall4(__NR_rt_tgsigqueueinfo, current->pid, current->tid, sig,
				 (long)&a->info);
		return;
	}
	if (a->fault && now & BIT_OF(sig))
		die(sig);
	action = action_take(sig);
	if (action.handler == IGNORE && !a->fault)
		return;
	if (action.handler <= IGNORE) {
		if (a->fault || action_ends(sig))
			die(sig);
		return;
	}
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
	thread_check();
	if (mine()->unwatches)
		faults_open_pages();
	if (mine()->steps_held && !--mine()->steps_held && !current->pending)
		signals_hand_out();
	while (current->pending) {
		deliver_arrivals();
		if (signals_hold_storm())
			break;
		signals_hand_out();
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

void signals_start(void)
{
	mine()->blocked_faults = signals_kernel_mask(SIG_BLOCK, 0) & FAULT_SIGNALS;
	signals_start_thread();
	mine()->process = engine_memory(sizeof(*mine()->process));
	mine()->process->users = 1;
	actions_start();
	signals_take_faults_back(); /* the program that executed this one may have left some */
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
		if (!memory_readable(set, sizeof(wanted)))
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
		if (!memory_writable(old, sizeof(before)))
			return -EFAULT;
		before |= faults_before;
		memcpy((void *)old, &before, sizeof(before));
	}
	signals_send_held();
	return 0;
}

/* The kernel sets a mask under which nothing comes; the program's follows at once. */
void signals_return(void)
{
	int sig = frame_signal();
	uint64_t mask = signals_kernel_mask(SIG_BLOCK, ~FAULT_SIGNALS);
	bool readable;

	if (current->pending)
		mask = mine()->mask;
	mask |= mine()->blocked_faults;
	mine()->recent |= sig ? BIT_OF(sig) : 0;
	current->pending = 1; /* signals_check() hands out the mask */
	readable = frame_return(~FAULT_SIGNALS, &mask);
	set_mask(mask & ~(BIT_OF(SIGKILL) | BIT_OF(SIGSTOP)));
	if (readable)
		return;
	current->gpr[0] = 0;
	signals_force(&(siginfo_t){.si_signo = SIGSEGV, .si_code = SI_KERNEL});
}

void signals_waits_with(uint64_t mask_address)
{
	struct signals *s = mine();

	s->waiting = false;
	if (!mask_address || !memory_readable(mask_address, sizeof(s->wait_mask)))
		return;
	s->came_waiting = false;
	memcpy(&s->wait_mask, (const void *)mask_address, sizeof(s->wait_mask));
	s->waiting = true;
}
