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
 * A write to a page that holds translated code comes here too: the translations are
 * thrown away.
 */
#include <asm/errno.h>
#include <asm/unistd.h>

#include "engine.h"
#include "settle.h"
#include "signals.h"
#include "sys.h"

#define ALTSTACK_BYTES (64u << 10)
#define FLAG_TF	       UINT64_C(0x100)
#define TRAP_TRACE     2
#define IGNORE	       1 /* SIG_IGN */

extern const char signal_return[];
extern const char __executable_start[], etext[]; /* the linker's: the engine's code */

bool step_left;
uint64_t log_store;
struct signals signals;

static siginfo_t held[SIGNALS]; /* of fault signals that were sent while blocked */
static uint64_t held_set;
static bool checking; /* arrivals are being looked through */
/* A system call that waits with a mask of its own, and a signal that ended it. */
static uint64_t wait_mask;
static bool waiting, came_waiting;
static bool flush_due;
static bool bad_jump;

static long kernel_action(long sig, const struct kernel_action *new, struct kernel_action *old)
{
	return syscall4(__NR_rt_sigaction, sig, (long)new, (long)old, 8);
}

static bool ends_by_default(long sig)
{
	return sig != SIGCHLD && sig != SIGCONT && sig != SIGURG && sig != SIGWINCH &&
	       sig != SIGKILL && sig != SIGSTOP && sig != SIGTSTP && sig != SIGTTIN &&
	       sig != SIGTTOU;
}

static bool faults(long sig)
{
	return FAULT_SIGNALS & BIT_OF(sig);
}

static bool is_fault(int sig, const siginfo_t *info)
{
	return info->si_code > 0 && faults(sig);
}

static bool has_handler(long sig)
{
	return signals.action[sig].handler > IGNORE;
}

static void default_action(long sig)
{
	struct kernel_action def = {0};

	kernel_action(sig, &def, NULL);
}

static bool in_engine(uint64_t rip)
{
	return rip >= (uint64_t)__executable_start && rip < (uint64_t)etext;
}

/* --- masks --- */

static uint64_t kernel_mask(int how, uint64_t set)
{
	uint64_t old = 0;

	syscall4(__NR_rt_sigprocmask, how, (long)&set, (long)&old, 8);
	return old;
}

/* Fault signals that were kept back come now, if they are not blocked any more. */
static void send_held(void)
{
	uint64_t now = held_set & ~signals.blocked_faults;

	held_set &= ~now;
	for (int sig = 1; now; sig++)
		if (now & BIT_OF(sig)) {
			now &= ~BIT_OF(sig);
			syscall4(__NR_rt_tgsigqueueinfo, engine_pid, engine_pid, sig,
				 (long)&held[sig]);
		}
}

/* The program's mask, kept for when the kernel gets it back. */
static void set_mask(uint64_t mask)
{
	signals.blocked_faults = mask & FAULT_SIGNALS;
	signals.mask = mask & ~FAULT_SIGNALS;
}

/* --- the end --- */

/* Not while the handler of the engine runs: the signal has to come through. */
static _Noreturn void die(int sig)
{
	engine_finish();
	default_action(sig);
	syscall3(__NR_tgkill, engine_pid, engine_pid, sig);
	kernel_mask(SIG_UNBLOCK, BIT_OF(sig));
	for (;;)
		syscall1(__NR_exit_group, 128 + sig);
}

/* --- arrival --- */

/* From here on the kernel keeps back what is not a fault. */
static void note(const siginfo_t *info, struct ucontext *uc, bool fault)
{
	struct arrival *a = signals.arrived + signals.arrivals;
	int sig = info->si_signo;

	if (!fault && faults(sig) && (checking || signals.blocked_faults & BIT_OF(sig))) {
		memcpy(&held[sig], info, sizeof(*info));
		held_set |= BIT_OF(sig);
		return;
	}
	if (signals.arrivals == ARRIVALS_MAX)
		return; /* sent again and again: more fault signals than instructions */
	if (fault) {
		a = signals.arrived;
		memmove(a + 1, a, signals.arrivals * sizeof(*a));
	}
	frame_note(a, info, uc);
	a->fault = fault;
	signals.arrivals++;
	if (!context->pending)
		signals.mask = uc->uc_sigmask;
	uc->uc_sigmask = ~FAULT_SIGNALS;
	context->pending = 1;
}

/* Translated code goes back to the engine as soon as it is between two instructions. */
static void leave_soon(struct sigcontext *regs)
{
	uint64_t rip = regs->rip;

	regs->eflags &= ~FLAG_TF;
	if (rip >= (uint64_t)syscall_check && rip <= (uint64_t)syscall_at)
		regs->rip = rip == (uint64_t)syscall_at && regs->rcx == (uint64_t)syscall_after
				    ? (uint64_t)syscall_again
				    : (uint64_t)syscall_interrupted;
	else if (rip >= (uint64_t)enter_check && rip < (uint64_t)enter_end)
		regs->eflags |= FLAG_TF;
	else if (in_engine(rip))
		return;
	else if (step_of_code(rip))
		return; /* comes back by itself */
	else if (settle_possible(rip)) {
		settle(regs, 0);
		regs->rip = (uint64_t)exit_step_jump;
	} else {
		regs->eflags |= FLAG_TF;
	}
}

static void internal_error(int sig, uint64_t rip)
{
	char message[96];
	struct text t;

	text_start(&t, message, sizeof(message));
	text_add(&t, "internal error: signal ");
	text_add_number(&t, (uint64_t)sig);
	text_add(&t, " in the engine at ");
	text_add_hex(&t, rip);
	engine_unsupported(message);
}

/* Faults that the engine brings about on purpose; true when it was one. */
static bool own_fault(int sig, const siginfo_t *info, struct sigcontext *regs)
{
	uint64_t rip = regs->rip, address = (uint64_t)info->si_addr;
	bool probe = rip == (uint64_t)probe_read_at || rip == (uint64_t)probe_write_at;

	if (sig == SIGSEGV && regs->err & 2 && branches_full_at(address)) {
		log_store = rip;
		regs->rip = (uint64_t)exit_log_full;
		return true;
	}
	if (sig == SIGSEGV && regs->err & 2 && memory_unwatch(address)) {
		flush_due = true;
		if (!in_engine(rip)) {
			settle(regs, 0);
			regs->rip = (uint64_t)exit_step_jump;
		}
		return true;
	}
	if (probe)
		regs->rip = (uint64_t)probe_failed;
	return probe;
}

static bool is_breakpoint(int sig, uint64_t rip)
{
	return sig == SIGTRAP && (block_of_code(rip - 1) || step_of_code(rip - 1)) &&
	       *(const uint8_t *)(rip - 1) == 0xcc;
}

/* The handler is entered from signals_check(), with the registers that leaving puts away. */
static void deliver_fault(siginfo_t *info, struct ucontext *uc, uint64_t rip)
{
	/* Where it stands natively; SIGSEGV and SIGBUS tell the address of data. */
	if ((uint64_t)info->si_addr == rip)
		info->si_addr = (void *)context->pc;
	if (rip == uc->uc_mcontext.cr2)
		uc->uc_mcontext.cr2 = context->pc;
	note(info, uc, true);
	uc->uc_mcontext.rip = (uint64_t)exit_step_jump;
	uc->uc_mcontext.eflags &= ~FLAG_TF;
}

static void fault(int sig, siginfo_t *info, struct ucontext *uc)
{
	struct sigcontext *regs = &uc->uc_mcontext;
	uint64_t rip = regs->rip;
	struct sigcontext settled;
	bool trap = is_breakpoint(sig, rip);
	bool delivered = has_handler(sig) && !(signals.blocked_faults & BIT_OF(sig));
	const struct step *s = step_of_code(rip);
	bool with_gs = s && s->insn.uses_gs && s->insn.kind == INSN_PLAIN;

	if (with_gs) /* in a step with the program's; what it leaves for has the engine's */
		write_gs_base((uint64_t)context);

	if (own_fault(sig, info, regs))
		return;
	if (rip == (uint64_t)frame_resume_after)
		die(SIGSEGV); /* what the program's frame says is refused */
	if (in_engine(rip) && !bad_jump)
		internal_error(sig, rip);
	memcpy(&settled, regs, sizeof(settled));
	settled.rip -= trap;
	settle(&settled, trap);
	if (delivered) {
		memcpy(regs, &settled, sizeof(settled));
		deliver_fault(info, uc, rip);
		return;
	}
	if (trap) /* INT3 has retired and does not fault again */
		syscall2(__NR_kill, engine_pid, sig);
	if (with_gs)
		die(sig);
	engine_finish();
	default_action(sig); /* a fault: the instruction does it again and ends the program */
}

static void handler(int sig, siginfo_t *info, struct ucontext *uc)
{
	struct sigcontext *regs = &uc->uc_mcontext;

	if (sig == SIGTRAP && info->si_code == TRAP_TRACE && context->pending) {
		leave_soon(regs);
		return;
	}
	if (is_fault(sig, info)) {
		fault(sig, info, uc);
		return;
	}
	if (signals.action[sig].handler == IGNORE || (!has_handler(sig) && !ends_by_default(sig)))
		return;
	if (waiting && regs->rip == (uint64_t)syscall_after && regs->rax == (uint64_t)-EINTR)
		came_waiting = true;
	note(info, uc, false);
	if (context->pending)
		leave_soon(regs);
}

/* --- delivery, at a boundary --- */

static void catch (long sig)
{
	struct kernel_action ours = {
		.handler = (uint64_t)handler,
		.flags = SA_SIGINFO | SA_ONSTACK | SA_RESTORER,
		.restorer = (uint64_t)signal_return,
		.mask = ~UINT64_C(0),
	};
	uint64_t passed_on = SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT;

	ours.flags |= has_handler(sig) ? signals.action[sig].flags & passed_on : SA_RESTART;
	kernel_action(sig, &ours, NULL);
}

/* Let the kernel do it where the engine has nothing to do. */
static void install(long sig)
{
	const struct kernel_action *wanted = &signals.action[sig];

	/* Faults of ours are never ignored; a program's own end it even so. */
	if ((wanted->handler == IGNORE && !faults(sig)) ||
	    (wanted->handler == 0 && !ends_by_default(sig)))
		kernel_action(sig, wanted, NULL);
	else
		catch (sig);
}

/* The mask of the call that waited, under which the handler begins. */
static uint64_t mask_now(void)
{
	uint64_t mask = signals.mask | signals.blocked_faults;

	if (came_waiting)
		mask = wait_mask;
	came_waiting = false;
	return mask;
}

static void deliver(const struct arrival *a)
{
	int sig = a->info.si_signo;
	struct kernel_action action = signals.action[sig];
	uint64_t saved = signals.mask | signals.blocked_faults, now = mask_now();

	if (!a->fault && now & BIT_OF(sig)) {
		/* An earlier one's handler blocks it: back to the kernel, which holds it. */
		if (faults(sig)) {
			memcpy(&held[sig], &a->info, sizeof(a->info));
			held_set |= BIT_OF(sig);
		} else {
			syscall4(__NR_rt_tgsigqueueinfo, engine_pid, engine_pid, sig,
				 (long)&a->info);
		}
		return;
	}
	if (action.handler == IGNORE && !a->fault)
		return;
	if (action.handler <= IGNORE) {
		if (a->fault || ends_by_default(sig))
			die(sig);
		return;
	}
	if (action.flags & SA_RESETHAND) {
		signals.action[sig].handler = 0;
		install(sig);
	}
	if (!frame_push(a, &action, saved))
		die(SIGSEGV);
	now |= action.mask;
	if (!(action.flags & SA_NODEFER))
		now |= BIT_OF(sig);
	set_mask(now & ~(BIT_OF(SIGKILL) | BIT_OF(SIGSTOP)));
}

void signals_check(void)
{
	if (flush_due) {
		flush_due = false;
		blocks_flush();
	}
	if (!context->pending)
		return;
	checking = true;
	while (signals.arrivals) {
		static struct arrival a;

		memcpy(&a, signals.arrived, sizeof(a));
		signals.arrivals--;
		memmove(signals.arrived, signals.arrived + 1, signals.arrivals * sizeof(a));
		deliver(&a);
	}
	checking = false;
	context->pending = 0;
	kernel_mask(SIG_SETMASK, signals.mask);
	send_held();
}

void signals_bad_jump(void)
{
	bad_jump = true;
	context->resume = context->pc;
	enter();
	bad_jump = false;
	if (!context->pending)
		engine_unsupported("the program jumped to memory that it may not execute");
}

void signals_start(void)
{
	stack_t stack = {
		.ss_sp = engine_memory(ALTSTACK_BYTES),
		.ss_size = ALTSTACK_BYTES,
	};
	uint64_t mask = kernel_mask(SIG_UNBLOCK, FAULT_SIGNALS);

	frame_own_stack(&stack);
	syscall2(__NR_sigaltstack, (long)&stack, 0);
	signals.blocked_faults = mask & FAULT_SIGNALS;
	for (long sig = 1; sig < SIGNALS; sig++) {
		kernel_action(sig, NULL, &signals.action[sig]);
		install(sig);
	}
}

/* --- system calls of the program --- */

long signals_action(long sig, uint64_t action, uint64_t old, uint64_t set_bytes)
{
	struct kernel_action before;

	if (sig < 1 || sig >= SIGNALS || set_bytes != 8 ||
	    ((sig == SIGKILL || sig == SIGSTOP) && action))
		return -EINVAL;
	before = signals.action[sig];
	if (action) {
		if (!memory_readable(action, sizeof(before)))
			return -EFAULT;
		memcpy(&signals.action[sig], (const void *)action, sizeof(before));
		install(sig);
	}
	if (old) {
		if (!memory_writable(old, sizeof(before)))
			return -EFAULT;
		memcpy((void *)old, &before, sizeof(before));
	}
	return 0;
}

static void block_faults(long how, uint64_t set)
{
	set &= FAULT_SIGNALS;
	if (how == SIG_BLOCK)
		signals.blocked_faults |= set;
	else if (how == SIG_UNBLOCK)
		signals.blocked_faults &= ~set;
	else
		signals.blocked_faults = set;
}

long signals_procmask(long how, uint64_t set, uint64_t old, uint64_t set_bytes)
{
	static uint64_t wanted, before;
	uint64_t faults_before = signals.blocked_faults;
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
		signals.blocked_faults = faults_before;
		return result;
	}
	if (old) {
		if (!memory_writable(old, sizeof(before)))
			return -EFAULT;
		before |= faults_before;
		memcpy((void *)old, &before, sizeof(before));
	}
	send_held();
	return 0;
}

/* The kernel sets a mask under which nothing comes; the program's follows at once. */
void signals_return(void)
{
	uint64_t mask;

	kernel_mask(SIG_BLOCK, ~FAULT_SIGNALS);
	if (!frame_return(~FAULT_SIGNALS, &mask))
		die(SIGSEGV);
	set_mask(mask & ~(BIT_OF(SIGKILL) | BIT_OF(SIGSTOP)));
	context->pending = 1; /* signals_check() hands out the mask */
}

void signals_waits_with(uint64_t mask_address)
{
	waiting = mask_address && memory_readable(mask_address, sizeof(wait_mask));
	if (!waiting)
		return;
	came_waiting = false;
	memcpy(&wait_mask, (const void *)mask_address, sizeof(wait_mask));
}

/* --- other processes and programs --- */

void signals_forget_held(void)
{
	held_set = 0;
}

void signals_clear_handlers(void)
{
	for (long sig = 1; sig < SIGNALS; sig++)
		if (has_handler(sig)) {
			signals.action[sig] = (struct kernel_action){0};
			install(sig);
		}
}

void signals_hand_over(void)
{
	for (int sig = 1; sig < SIGNALS; sig++)
		if (faults(sig) && signals.action[sig].handler == IGNORE)
			kernel_action(sig, &signals.action[sig], NULL);
	kernel_mask(SIG_BLOCK, signals.blocked_faults);
}

void signals_take_over(void)
{
	kernel_mask(SIG_UNBLOCK, FAULT_SIGNALS);
	for (int sig = 1; sig < SIGNALS; sig++)
		if (faults(sig))
			install(sig);
}
