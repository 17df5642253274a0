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
 * A write to a page that holds translated code comes here too: at the next boundary the
 * translations are thrown away, and the page can be written.
 */
#include <asm/errno.h>
#include <asm/unistd.h>

#include "engine.h"
#include "filters.h"
#include "settle.h"
#include "signals.h"
#include "sys.h"
#include "threads.h"

#define FLAG_TF	   UINT64_C(0x100)
#define TRAP_TRACE 2
#define IGNORE	   1 /* SIG_IGN */
#define STACK_NEAR UINT64_C(16384)

extern const char signal_return[];
extern const char __executable_start[], etext[]; /* the linker's: the engine's code */

static struct signals *mine(void)
{
	return &current->signals;
}

/* What the program asked for. */
static struct kernel_action *action_of(long sig)
{
	return &mine()->process->action[sig];
}

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
	return action_of(sig)->handler > IGNORE;
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
	uint64_t now = mine()->held_set & ~mine()->blocked_faults;

	mine()->held_set &= ~now;
	for (int sig = 1; now; sig++)
		if (now & BIT_OF(sig)) {
			now &= ~BIT_OF(sig);
			syscall4(__NR_rt_tgsigqueueinfo, current->pid, current->tid, sig,
				 (long)&mine()->held[sig]);
		}
}

/* The program's mask, kept for when the kernel gets it back. */
static void set_mask(uint64_t mask)
{
	mine()->blocked_faults = mask & FAULT_SIGNALS;
	mine()->mask = mask & ~FAULT_SIGNALS;
}

/* --- the end --- */

/* Not while the handler of the engine runs: the signal has to come through. */
static _Noreturn void die_finished(int sig)
{
	default_action(sig);
	syscall3(__NR_tgkill, current->pid, current->tid, sig);
	kernel_mask(SIG_UNBLOCK, BIT_OF(sig));
	for (;;)
		syscall1(__NR_exit_group, 128 + sig);
}

static _Noreturn void die(int sig)
{
	engine_finish();
	die_finished(sig);
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
	if (!current->pending)
		mine()->mask = uc->uc_sigmask;
	uc->uc_sigmask = ~FAULT_SIGNALS;
	current->pending = 1;
}

static void note(const siginfo_t *info, struct ucontext *uc, bool fault)
{
	struct arrival *a = mine()->arrived + mine()->arrivals;
	int sig = info->si_signo;

	if (!fault && faults(sig) && (mine()->checking || mine()->blocked_faults & BIT_OF(sig))) {
		memcpy(&mine()->held[sig], info, sizeof(*info));
		mine()->held_set |= BIT_OF(sig);
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

/* The thread has written to code; it may be on its own stack. */
static void open_soon(uint64_t address, uint64_t rsp)
{
	bool stack = address - rsp + STACK_NEAR < 2 * STACK_NEAR;

	if (mine()->unwatches < UNWATCH_MAX)
		mine()->unwatch[mine()->unwatches] = (address & ~UINT64_C(1)) | stack;
	mine()->unwatches++;
}

/* Faults that the engine brings about on purpose; true when it was one. */
static bool own_fault(int sig, const siginfo_t *info, struct sigcontext *regs)
{
	uint64_t rip = regs->rip, address = (uint64_t)info->si_addr;
	bool probe = rip == (uint64_t)probe_read_at || rip == (uint64_t)probe_write_at;

	if (sig == SIGSEGV && regs->err & 2 && branches_full_at(address)) {
		current->run.log_store = rip;
		regs->rip = (uint64_t)exit_log_full;
		return true;
	}
	if (sig == SIGSEGV && regs->err & 2 && memory_is_watched(address)) {
		open_soon(address, in_engine(rip) ? current->gpr[4] : regs->rsp);
		if (in_engine(rip)) {
			memory_open(address);
		} else {
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
		info->si_addr = (void *)current->pc;
	if (rip == uc->uc_mcontext.cr2)
		uc->uc_mcontext.cr2 = current->pc;
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
	bool delivered = has_handler(sig) && !(mine()->blocked_faults & BIT_OF(sig));
	const struct step *s = step_of_code(rip);
	bool with_gs = s && s->uses_gs && s->kind == INSN_PLAIN;
	uint64_t flushes = blocks_flushes;

	if (own_fault(sig, info, regs))
		return;
	if (rip == (uint64_t)frame_resume_after)
		die(SIGSEGV); /* what the program's frame says is refused */
	if (in_engine(rip) && !mine()->bad_jump)
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
		syscall2(__NR_kill, current->pid, sig);
	if (with_gs)
		die(sig);
	engine_finish();
	if (blocks_flushes != flushes)
		die_finished(sig); /* the instruction is not there any more */
	default_action(sig);	   /* a fault: the instruction does it again and ends the program */
}

/* A filter's SECCOMP_RET_TRAP: delivered behind the SYSCALL. */
static void trapped(siginfo_t *info, struct ucontext *uc)
{
	struct sigcontext *regs = &uc->uc_mcontext;
	bool delivered = has_handler(SIGSYS) && !(mine()->blocked_faults & BIT_OF(SIGSYS));
	enum fatal fatal = filters_fatal(info);

	regs->rax = (uint64_t)SYSCALL_TRAPPED;
	info->si_call_addr = (void *)current->pc;
	note(info, uc, true);
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

	if (threads_is_stop(info)) {
		stand_soon(uc);
		return;
	}
	if (sig == SIGTRAP && info->si_code == TRAP_TRACE && current->pending) {
		leave_soon(regs);
		return;
	}
	if (sig == SIGSYS && info->si_code == SYS_SECCOMP) {
		trapped(info, uc);
		return;
	}
	if (is_fault(sig, info)) {
		fault(sig, info, uc);
		return;
	}
	if (action_of(sig)->handler == IGNORE || (!has_handler(sig) && !ends_by_default(sig)))
		return;
	if (mine()->waiting && regs->rip == (uint64_t)syscall_after &&
	    regs->rax == (uint64_t)-EINTR)
		mine()->came_waiting = true;
	note(info, uc, false);
	if (current->pending)
		leave_soon(regs);
}

/* GS may be the program's (step.c), or another thread's (threads.c): what goes on there has it
 * again, what leaves from there has the engine's. */
static void handler(int sig, siginfo_t *info, struct ucontext *uc)
{
	uint64_t gs = read_gs_base(), rip = uc->uc_mcontext.rip;
	uint64_t own = (uint64_t)context_of_stack(__builtin_frame_address(0));

	if (gs != own)
		write_gs_base(own);
	handle(sig, info, uc);
	if (gs != own && uc->uc_mcontext.rip == rip)
		write_gs_base(gs);
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

	ours.flags |= has_handler(sig) ? action_of(sig)->flags & passed_on : SA_RESTART;
	kernel_action(sig, &ours, NULL);
}

/* Let the kernel do it where the engine has nothing to do. */
static void install(long sig)
{
	const struct kernel_action *wanted = action_of(sig);

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
	uint64_t mask = mine()->mask | mine()->blocked_faults;

	if (mine()->came_waiting)
		mask = mine()->wait_mask;
	mine()->came_waiting = false;
	return mask;
}

/* What is to be done; once, if the program wants that. */
static struct kernel_action take_action(int sig)
{
	struct kernel_action action;

	engine_lock();
	action = *action_of(sig);
	if (action.flags & SA_RESETHAND && action.handler > IGNORE) {
		action_of(sig)->handler = 0;
		install(sig);
	}
	engine_unlock();
	return action;
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
		if (faults(sig)) {
			memcpy(&mine()->held[sig], &a->info, sizeof(a->info));
			mine()->held_set |= BIT_OF(sig);
		} else {
			syscall4(__NR_rt_tgsigqueueinfo, current->pid, current->tid, sig,
				 (long)&a->info);
		}
		return;
	}
	action = take_action(sig);
	if (action.handler == IGNORE && !a->fault)
		return;
	if (action.handler <= IGNORE) {
		if (a->fault || ends_by_default(sig))
			die(sig);
		return;
	}
	if (!frame_push(a, &action, saved))
		die(SIGSEGV);
	now |= action.mask;
	if (!(action.flags & SA_NODEFER))
		now |= BIT_OF(sig);
	set_mask(now & ~(BIT_OF(SIGKILL) | BIT_OF(SIGSTOP)));
}

static void open_pages(void)
{
	struct signals *s = mine();

	engine_lock();
	threads_stop();
	if (s->unwatches > UNWATCH_MAX)
		memory_unwatch_range(0, PROGRAM_END);
	for (unsigned i = 0; i < s->unwatches && i < UNWATCH_MAX; i++) {
		if (s->unwatch[i] & 1)
			memory_give_up(s->unwatch[i]);
		if (memory_is_watched(s->unwatch[i])) /* else another thread has done it */
			memory_unwatch_range(s->unwatch[i], 1);
	}
	s->unwatches = 0;
	threads_go();
	engine_unlock();
}

void signals_check(void)
{
	thread_check();
	if (mine()->unwatches)
		open_pages();
	if (!current->pending)
		return;
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
	kernel_mask(SIG_SETMASK, mine()->mask);
	send_held();
}

void signals_bad_jump(void)
{
	mine()->bad_jump = true;
	current->resume = current->pc;
	enter();
	mine()->bad_jump = false;
	if (!current->pending)
		engine_unsupported("the program jumped to memory that it may not execute");
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

void signals_inherit(struct signals *to)
{
	memset(to, 0, sizeof(*to));
	to->process = mine()->process;
	to->blocked_faults = mine()->blocked_faults;
}

void signals_start(void)
{
	uint64_t mask = kernel_mask(SIG_UNBLOCK, FAULT_SIGNALS);

	signals_start_thread();
	mine()->process = engine_memory(sizeof(*mine()->process));
	mine()->blocked_faults = mask & FAULT_SIGNALS;
	for (long sig = 1; sig < SIGNALS; sig++) {
		kernel_action(sig, NULL, action_of(sig));
		install(sig);
	}
}

/* --- system calls of the program --- */

long signals_action(long sig, uint64_t action, uint64_t old, uint64_t set_bytes)
{
	struct kernel_action before, after;

	if (sig < 1 || sig >= SIGNALS || set_bytes != 8 ||
	    ((sig == SIGKILL || sig == SIGSTOP) && action))
		return -EINVAL;
	if (action) {
		if (!memory_readable(action, sizeof(after)))
			return -EFAULT;
		memcpy(&after, (const void *)action, sizeof(after));
	}
	engine_lock();
	before = *action_of(sig);
	if (action) {
		*action_of(sig) = after;
		install(sig);
	}
	engine_unlock();
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
	current->pending = 1; /* signals_check() hands out the mask */
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

/* --- other processes and programs --- */

void signals_forget_held(void)
{
	mine()->held_set = 0;
}

void signals_own_dispositions(struct dispositions *copy)
{
	*copy = *mine()->process;
	mine()->process = copy;
}

void signals_clear_handlers(void)
{
	for (long sig = 1; sig < SIGNALS; sig++)
		if (has_handler(sig)) {
			*action_of(sig) = (struct kernel_action){0};
			install(sig);
		}
}

void signals_hand_over(void)
{
	for (int sig = 1; sig < SIGNALS; sig++)
		if (faults(sig) && action_of(sig)->handler == IGNORE)
			kernel_action(sig, action_of(sig), NULL);
	kernel_mask(SIG_BLOCK, mine()->blocked_faults);
}

void signals_take_over(void)
{
	kernel_mask(SIG_UNBLOCK, FAULT_SIGNALS);
	for (int sig = 1; sig < SIGNALS; sig++)
		if (faults(sig))
			install(sig);
}
