/* SPDX-License-Identifier: MIT */
/*
 * faults.c: signals that an instruction has raised.
 *
 * Signals of the program's instructions get the address of the instruction in the program, and
 * are delivered there.  The engine causes others on purpose: a full log of branches, a probe of
 * memory, and a write to a page with translated code.  At the next boundary between two
 * instructions such a page is opened, and its translations are dropped.
 */
#include <asm/unistd.h>
#include <linux/time.h>

#include "engine/cache/cache.h"
#include "engine/count/activity.h"
#include "engine/count/count.h"
#include "engine/count/flow_log.h"
#include "engine/memory/access.h"
#include "engine/memory/regions.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/lock.h"
#include "engine/rt/signal_state.h"
#include "engine/rt/sys.h"
#include "engine/signal/actions.h"
#include "engine/signal/faults.h"
#include "engine/signal/finish.h"
#include "engine/signal/one.h"
#include "engine/signal/recover.h"
#include "engine/signal/rseq.h"
#include "engine/signal/signals.h"
#include "engine/translate/translate.h"
#include "engine/watch/watch.h"
#include "engine/x86/enter.h"
#include "engine/x86/recognise.h"

#define STACK_NEAR UINT64_C(16384)

/* Exceptions (Vol. 3A, 6.3.1) */
#define TRAP_DEBUG	1
#define TRAP_BREAKPOINT 3
#define TRAP_OVERFLOW	4

static struct signals *mine(void)
{
	return &current->signals;
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

/* Notes that the thread has written to code, perhaps on its own stack. */
static void open_soon(uint64_t address, uint64_t rsp)
{
	bool stack = address - rsp + STACK_NEAR < 2 * STACK_NEAR;

	if (mine()->unwatches < UNWATCH_MAX) {
		mine()->unwatch[mine()->unwatches].address = address;
		mine()->unwatch[mine()->unwatches].is_stack = stack;
	}
	mine()->unwatches++;
}

/* Empties the log of activity if it is full.  The store is repeated. */
static bool activity_was_full(struct sigcontext *regs, uint64_t address)
{
	uint64_t *place;
	unsigned log;

	if (!block_of_code(regs->rip) ||
	    !recognise_activity_store((const uint8_t *)regs->rip, &log))
		return false;
	place = recover_high_register(regs, log);
	return activity_full_at(address, place);
}

/* Handles faults that the engine causes on purpose.  Returns true if this was one. */
static bool own_fault(int sig, const siginfo_t *info, struct sigcontext *regs)
{
	uint64_t rip = regs->rip, address = (uint64_t)info->si_addr;
	bool probe = rip == (uint64_t)probe_read_at || rip == (uint64_t)probe_write_at;

	if (one_fetch_failed(sig, info, regs))
		return true;
	if (sig == SIGSEGV && regs->err & 2 &&
	    (branches_full_at(address) || flow_log_full_at(address))) {
		current->run.log_store = rip;
		regs->rip = (uint64_t)exit_log_full;
		return true;
	}
	if (sig == SIGSEGV && regs->err & 2 && activity_was_full(regs, address))
		return true;
	if (sig == SIGSEGV && regs->err & 2 && watch_has_page(address)) {
		open_soon(address, in_engine(rip) ? current->gpr[4] : regs->rsp);
		if (in_engine(rip)) {
			watch_open(address);
		} else {
			recover(regs, 0);
			regs->rip = (uint64_t)exit_step_jump;
		}
		return true;
	}
	if (probe)
		regs->rip = (uint64_t)probe_failed;
	return probe;
}

/* Handles SIGSEGV because the program has unmapped its rseq(2) area, to which the kernel had to
 * write. */
static bool area_is_gone(int sig, const siginfo_t *info)
{
	return sig == SIGSEGV && info->si_code == SI_KERNEL && rseq_area_is_gone();
}

/* Handles RDTSC after the program has disabled it (prctl(PR_SET_TSC)).  The engine uses it for
 * the times of records.  The kernel's clock replaces it. */
static bool own_rdtsc(int sig, struct sigcontext *regs)
{
	int64_t now[2] = {0, 0}; /* seconds, nanoseconds */
	uint64_t ns;

	if (sig != SIGSEGV || !in_engine(regs->rip) || !recognise_rdtsc((const uint8_t *)regs->rip))
		return false;
	syscall2(__NR_clock_gettime, CLOCK_MONOTONIC, (long)now);
	ns = (uint64_t)now[0] * 1000000000 + (uint64_t)now[1];
	regs->rax = (uint32_t)ns;
	regs->rdx = ns >> 32;
	regs->rip += RDTSC_BYTES;
	return true;
}

static bool is_translated(uint64_t address)
{
	return block_of_code(address) || step_of_code(address);
}

/* Returns the length of the instruction before RIP if this is a trap, which comes after its
 * instruction.  0: a fault. */
static unsigned trap_bytes(const struct sigcontext *regs)
{
	const uint8_t *end = (const uint8_t *)regs->rip;

	switch (regs->trapno) {
	case TRAP_DEBUG: /* INT1 */
		return is_translated(regs->rip - 1) && recognise_int1_before(end);
	case TRAP_BREAKPOINT: /* INT3, or INT 3 in two bytes */
	case TRAP_OVERFLOW:   /* INT 4 */
		if (is_translated(regs->rip - 1) && recognise_int3_before(end))
			return 1;
		return is_translated(regs->rip - 2) ? 2 : 0;
	default:
		return 0;
	}
}

/* Delivers a fault.  The handler is entered from signals_check(), with the registers that
 * leaving translated code saves. */
static void deliver_fault(siginfo_t *info, struct ucontext *uc, uint64_t rip)
{
	/* The address of the instruction is the program's.  The address of data, or of bytes
	 * that cannot be fetched, is unchanged. */
	if (!mine()->bad_jump && (uint64_t)info->si_addr == rip)
		info->si_addr = (void *)current->pc;
	if (!mine()->bad_jump && rip == uc->uc_mcontext.cr2)
		uc->uc_mcontext.cr2 = current->pc;
	arrivals_note(info, uc, true);
	uc->uc_mcontext.rip = (uint64_t)exit_step_jump;
	uc->uc_mcontext.eflags &= ~FLAG_TF;
}

/* An instruction of a restartable sequence faults: natively the handler finds the thread at the
 * abort handler. */
static void fault_in_section(const struct step *s, siginfo_t *info, struct ucontext *uc,
			     bool delivered)
{
	if ((uint64_t)info->si_addr == s->code)
		info->si_addr = (void *)s->pc;
	rseq_abort();
	current->run.step_left = true;
	if (!delivered)
		finish_by_signal(info->si_signo, FATAL_PROCESS);
	deliver_fault(info, uc, uc->uc_mcontext.rip);
}

void fault_arrived(int sig, siginfo_t *info, struct ucontext *uc)
{
	struct sigcontext *regs = &uc->uc_mcontext;
	const struct step *aborted = rseq_aborted(regs);
	uint64_t rip = regs->rip;
	struct sigcontext recovered;
	unsigned trap = trap_bytes(regs);
	bool delivered = action_has_handler(sig) && !(mine()->blocked_faults & BIT_OF(sig));
	const struct step *s = step_of_code(rip);
	bool with_gs = s && s->uses_gs;
	uint64_t flushes = cache_flushes;

	if (own_fault(sig, info, regs) || own_rdtsc(sig, regs))
		return;
	if (rip == (uint64_t)frame_resume_after)
		finish_by_signal(SIGSEGV,
				 FATAL_PROCESS); /* the kernel would refuse the program's frame */
	if (area_is_gone(sig, info))
		finish_by_signal(SIGSEGV, FATAL_PROCESS);
	if (aborted) {
		fault_in_section(aborted, info, uc, delivered);
		return;
	}
	if (in_engine(rip) && !mine()->bad_jump)
		internal_error(sig, rip);
	memcpy(&recovered, regs, sizeof(recovered));
	recovered.rip -= trap;
	recover(&recovered, trap != 0);
	if (delivered) {
		memcpy(regs, &recovered, sizeof(recovered));
		deliver_fault(info, uc, rip);
		return;
	}
	if (trap) /* it has retired and does not run again */
		syscall2(__NR_kill, current->pid, sig);
	if (with_gs)
		finish_by_signal(sig, FATAL_PROCESS);
	finish_process();
	if (cache_flushes != flushes)
		finish_raise(sig); /* the instruction no longer exists */
	action_default(sig);	   /* a fault: the instruction runs again and ends the program */
}

/* Runs the next instruction once without watching its page: it may be the one that wrote to its
 * own page.  A new translation would watch the page again. */
static void run_once_unwatched(uint64_t pc)
{
	const struct signals *s = mine();
	bool own = s->unwatches > UNWATCH_MAX;

	for (unsigned i = 0; i < s->unwatches && i < UNWATCH_MAX; i++)
		own |= s->unwatch[i].address / PAGE == pc / PAGE ||
		       s->unwatch[i].address / PAGE == (pc + INSN_BYTES_MAX - 1) / PAGE;
	if (!own)
		return;
	current->run.unwatched = true;
	if (!current->run.steps_due)
		current->run.steps_due = 1;
}

void faults_open_pages(void)
{
	struct signals *s = mine();

	lock_take();
	lock_stop_others();
	run_once_unwatched(current->pc);
	if (s->unwatches > UNWATCH_MAX)
		watch_end(0, PROGRAM_END);
	for (unsigned i = 0; i < s->unwatches && i < UNWATCH_MAX; i++) {
		if (s->unwatch[i].is_stack)
			watch_give_up(s->unwatch[i].address);
		if (watch_has_page(
			    s->unwatch[i].address)) /* otherwise another thread has opened it */
			watch_end(s->unwatch[i].address, 1);
	}
	s->unwatches = 0;
	lock_resume_others();
	lock_release();
}

void faults_bad_fetch(uint64_t address)
{
	mine()->bad_jump = true;
	current->resume = address;
	enter();
	mine()->bad_jump = false;
	if (!current->pending)
		engine_unsupported("the program jumped to memory that it may not execute");
}
