/* SPDX-License-Identifier: MIT */
/*
 * signals.c: signals as the program would meet them.
 *
 * Signals that would end the program are caught, so that its counts and records are
 * complete up to the last retired instruction, and then end it as they would
 * have.  A signal for which the program has a handler of its own cannot be
 * delivered yet: the run ends with one line when it arrives.  A write to a page
 * that holds translated code comes here too: the translations are thrown away.
 */
#include <asm/siginfo.h>
#include <asm/sigcontext.h>
#include <linux/signal.h>
#include <asm/ucontext.h>
#include <asm/unistd.h>

#include "engine.h"
#include "sys.h"

#define SIGNALS	       65
#define ALTSTACK_BYTES (64u << 10)

struct kernel_action {
	uint64_t handler;
	uint64_t flags;
	uint64_t restorer;
	uint64_t mask;
};

extern const char signal_return[];
extern const char __executable_start[], etext[]; /* the linker's: the engine's code */

bool step_left;
uint64_t log_store;

static struct kernel_action program_action[SIGNALS]; /* what the program asked for */
static stack_t program_altstack = {.ss_flags = SS_DISABLE};
static volatile uint32_t pending; /* a signal that came while the engine was at work */
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
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE || sig == SIGTRAP;
}

static bool is_fault(int sig, const siginfo_t *info)
{
	return info->si_code > 0 && faults(sig);
}

static void default_action(long sig)
{
	struct kernel_action def = {0};

	kernel_action(sig, &def, NULL);
}

static _Noreturn void cannot_deliver(long sig)
{
	char message[128];
	struct text t;

	text_start(&t, message, sizeof(message));
	text_add(&t, "signal ");
	text_add_number(&t, (uint64_t)sig);
	text_add(&t, " arrived for a handler of the program, which cannot be run yet");
	engine_unsupported(message);
}

/* Finish the books; the caller then lets the signal do what it does by default. */
static void finish(void)
{
	counting_finish();
	__atomic_store_n(&engine_link->state, LINK_EXITED, __ATOMIC_RELEASE);
	ring_wake();
}

/* Which instruction of the block is at this offset of its code; *charged: behind its check. */
static unsigned instruction_at(const struct block *b, uint32_t offset, bool *charged)
{
	const uint8_t *map = block_map(b);
	uint32_t end = 0;

	for (unsigned i = 0; i < b->insns; i++) {
		if (i == b->check_at) {
			end += map[0] | (uint32_t)map[1] << 8;
			if (offset < end) {
				*charged = false;
				return i;
			}
		}
		end += map[2 + i];
		if (offset < end) {
			*charged = i >= b->check_at;
			return i;
		}
	}
	*charged = true;
	return b->insns;
}

/* The program's own registers where code that we wrote has borrowed some. */
static void restore_borrowed(const struct block *b, unsigned index, struct sigcontext *regs)
{
	uint64_t pc = block_pc_of(b, index);
	struct insn insn;

	if (index + 1 != b->insns || !insn_decode((const uint8_t *)pc, 15, pc, &insn))
		return;
	if (insn.kind != INSN_RET && insn.kind != INSN_JMP_IND && insn.kind != INSN_CALL_IND)
		return;
	regs->rax = context->spill_rax;
	regs->rcx = context->spill_rcx;
}

/* Put the meters as if the block had ended before the instruction at this code address (behind
 * it: retired is 1); context->pc becomes that instruction's. */
static void settle(struct sigcontext *regs, unsigned retired)
{
	const struct block *b = block_of_code(regs->rip);
	const struct step *s = step_of_code(regs->rip);
	unsigned index;
	bool charged;

	if (s) {
		step_left = true;
		context->pc = s->pc + (retired ? s->insn.length : 0);
		if (retired)
			counting_retire(s->pc, context->pc, s->insn.signals, 0);
		return;
	}
	if (!b)
		return; /* at an instruction boundary: context->pc is right */
	index = instruction_at(b, (uint32_t)(regs->rip - (uint64_t)cache_base) - b->code,
			       &charged) +
		retired;
	for (unsigned m = 0; m < meters; m++) {
		if (charged)
			context->lane[m][0] += block_occurrences(b, index, b->insns, m);
		else
			context->lane[m][0] -= block_occurrences(b, 0, index, m);
	}
	restore_borrowed(b, index, regs);
	context->pc = block_pc_of(b, index);
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

static bool is_breakpoint(int sig, uint64_t rip)
{
	return sig == SIGTRAP && (block_of_code(rip - 1) || step_of_code(rip - 1)) &&
	       *(const uint8_t *)(rip - 1) == 0xcc;
}

static void fault(int sig, const siginfo_t *info, struct sigcontext *regs)
{
	uint64_t rip = regs->rip;
	bool in_engine = rip >= (uint64_t)__executable_start && rip < (uint64_t)etext;

	if (in_engine && !bad_jump)
		internal_error(sig, rip);
	if (sig == SIGSEGV && regs->err & 2 && branches_full_at((uint64_t)info->si_addr)) {
		log_store = rip;
		regs->rip = (uint64_t)exit_log_full;
		return;
	}
	if (sig == SIGSEGV && regs->err & 2 && memory_unwatch((uint64_t)info->si_addr)) {
		settle(regs, 0);
		flush_due = true;
		regs->rip = (uint64_t)exit_step_jump;
		return;
	}
	if (is_breakpoint(sig, rip)) {
		/* A trap: INT3 has retired and does not fault again. */
		regs->rip = rip - 1;
		settle(regs, 1);
		regs->rip = rip;
		syscall2(__NR_kill, engine_pid, sig);
	} else {
		settle(regs, 0);
	}
	if (program_action[sig].handler > 1)
		cannot_deliver(sig);
	finish();
	default_action(sig); /* a fault: the instruction does it again and ends the program */
}

static void handler(int sig, siginfo_t *info, struct ucontext *uc)
{
	struct sigcontext *regs = &uc->uc_mcontext;
	bool in_engine = regs->rip >= (uint64_t)__executable_start && regs->rip < (uint64_t)etext;

	if (is_fault(sig, info)) {
		fault(sig, info, regs);
		return;
	}
	if (program_action[sig].handler == 1)
		return;
	if (in_engine && !signals_in_syscall) {
		pending = (uint32_t)sig;
		return;
	}
	if (program_action[sig].handler > 1)
		cannot_deliver(sig);
	settle(regs, 0);
	finish();
	default_action(sig);
	syscall2(__NR_kill, engine_pid, sig); /* it is blocked until this handler returns */
}

void signals_check(void)
{
	if (flush_due) {
		flush_due = false;
		blocks_flush();
	}
	if (pending) {
		long sig = (long)pending;

		if (program_action[sig].handler > 1)
			cannot_deliver(sig);
		finish();
		default_action(sig);
		syscall2(__NR_kill, engine_pid, sig);
	}
}

void signals_bad_jump(void)
{
	if (program_stack_executable && context->pc - context->gpr[4] + (1u << 20) < 8u << 20)
		engine_unsupported("the program runs code on its stack, which cannot be run yet");
	bad_jump = true;
	context->resume = context->pc;
	enter();
	engine_unsupported("the program jumped to memory that it may not execute");
}

static void catch (long sig)
{
	struct kernel_action ours = {
		.handler = (uint64_t)handler,
		.flags = SA_SIGINFO | SA_ONSTACK | SA_RESTORER | SA_RESTART,
		.restorer = (uint64_t)signal_return,
		.mask = ~UINT64_C(0),
	};

	kernel_action(sig, &ours, NULL);
}

void signals_start(void)
{
	stack_t stack = {
		.ss_sp = engine_memory(ALTSTACK_BYTES),
		.ss_size = ALTSTACK_BYTES,
	};

	syscall2(__NR_sigaltstack, (long)&stack, 0);
	for (long sig = 1; sig < SIGNALS; sig++) {
		if (!ends_by_default(sig))
			continue;
		kernel_action(sig, NULL, &program_action[sig]);
		if (program_action[sig].handler == 0 || faults(sig))
			catch (sig);
	}
}

long signals_action(long sig, uint64_t action, uint64_t old, uint64_t set_bytes)
{
	struct kernel_action new, before;

	if (sig < 1 || sig >= SIGNALS || set_bytes != 8 ||
	    ((sig == SIGKILL || sig == SIGSTOP) && action))
		return -22; /* EINVAL */
	before = program_action[sig];
	if (action) {
		memcpy(&new, (const void *)action, sizeof(new));
		program_action[sig] = new;
		/* Faults of ours are never ignored; a program's own end it even so. */
		if ((new.handler == 1 && !faults(sig)) ||
		    (new.handler == 0 && !ends_by_default(sig)))
			kernel_action(sig, &new, NULL);
		else
			catch (sig);
	}
	if (old)
		memcpy((void *)old, &before, sizeof(before));
	return 0;
}

long signals_altstack(uint64_t stack, uint64_t old)
{
	stack_t before = program_altstack;

	if (stack)
		memcpy(&program_altstack, (const void *)stack, sizeof(program_altstack));
	if (old)
		memcpy((void *)old, &before, sizeof(before));
	return 0;
}
