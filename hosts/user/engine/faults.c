/* SPDX-License-Identifier: MIT */
/*
 * faults.c: signals that an instruction has raised.  Those of the program's instructions are put
 * where the instruction stands in the program, and delivered there.  Others the engine brings about
 * on purpose: a log of branches that is full, a probe of memory, and a write to a page that
 * holds translated code; such a page is opened, and its translations dropped, at the next boundary
 * between two instructions.
 */
#include <asm/unistd.h>
#include <linux/time.h>

#include "actions.h"
#include "engine.h"
#include "faults.h"
#include "one.h"
#include "pages.h"
#include "settle.h"
#include "sys.h"
#include "threads.h"
#include "vsyscall.h"

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

	if (unknown_fetch_failed(sig, info, regs))
		return true;
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

/* The program has taken away the memory of its area for restartable sequences, and the kernel,
 * which had to write there, has raised SIGSEGV wherever the thread was. */
static bool area_is_gone(int sig, const siginfo_t *info)
{
	return sig == SIGSEGV && info->si_code == SI_KERNEL && current->sequence &&
	       !memory_readable((uint64_t)current->sequence, sizeof(*current->sequence));
}

/* The program has taken RDTSC away (prctl(PR_SET_TSC)), which the engine uses for the times of
 * records: the kernel's clock takes its place. */
static bool own_rdtsc(int sig, struct sigcontext *regs)
{
	static const uint8_t rdtsc[] = {0x0f, 0x31};
	int64_t now[2] = {0, 0}; /* seconds, nanoseconds */
	uint64_t ns;

	if (sig != SIGSEGV || !in_engine(regs->rip) ||
	    memcmp((const void *)regs->rip, rdtsc, sizeof(rdtsc)))
		return false;
	syscall2(__NR_clock_gettime, CLOCK_MONOTONIC, (long)now);
	ns = (uint64_t)now[0] * 1000000000 + (uint64_t)now[1];
	regs->rax = (uint32_t)ns;
	regs->rdx = ns >> 32;
	regs->rip += sizeof(rdtsc);
	return true;
}

static bool is_translated(uint64_t address)
{
	return block_of_code(address) || step_of_code(address);
}

/* A trap comes after its instruction: how many bytes of that are in front of RIP; 0: a fault. */
static unsigned trap_bytes(const struct sigcontext *regs)
{
	const uint8_t *end = (const uint8_t *)regs->rip;

	switch (regs->trapno) {
	case TRAP_DEBUG: /* INT1 */
		return is_translated(regs->rip - 1) && end[-1] == 0xf1;
	case TRAP_BREAKPOINT: /* INT3, or INT 3 in two bytes */
	case TRAP_OVERFLOW:   /* INT 4 */
		if (is_translated(regs->rip - 1) && end[-1] == 0xcc)
			return 1;
		return is_translated(regs->rip - 2) ? 2 : 0;
	default:
		return 0;
	}
}

/* The handler is entered from signals_check(), with the registers that leaving puts away. */
static void deliver_fault(siginfo_t *info, struct ucontext *uc, uint64_t rip)
{
	/* The address of the instruction is the program's; that of data, or of bytes that cannot be
	 * fetched, is as it was. */
	if (!mine()->bad_jump && (uint64_t)info->si_addr == rip)
		info->si_addr = (void *)current->pc;
	if (!mine()->bad_jump && rip == uc->uc_mcontext.cr2)
		uc->uc_mcontext.cr2 = current->pc;
	signals_note(info, uc, true);
	uc->uc_mcontext.rip = (uint64_t)exit_step_jump;
	uc->uc_mcontext.eflags &= ~FLAG_TF;
}

void fault_arrived(int sig, siginfo_t *info, struct ucontext *uc)
{
	struct sigcontext *regs = &uc->uc_mcontext;
	uint64_t rip = regs->rip;
	struct sigcontext settled;
	unsigned trap = trap_bytes(regs);
	bool delivered = action_has_handler(sig) && !(mine()->blocked_faults & BIT_OF(sig));
	const struct step *s = step_of_code(rip);
	bool with_gs = s && s->uses_gs;
	uint64_t flushes = blocks_flushes;

	if (own_fault(sig, info, regs) || own_rdtsc(sig, regs))
		return;
	if (rip == (uint64_t)frame_resume_after)
		signals_end(SIGSEGV, FATAL_PROCESS); /* what the program's frame says is refused */
	if (area_is_gone(sig, info))
		signals_end(SIGSEGV, FATAL_PROCESS);
	if (in_engine(rip) && !mine()->bad_jump)
		internal_error(sig, rip);
	memcpy(&settled, regs, sizeof(settled));
	settled.rip -= trap;
	settle(&settled, trap != 0);
	if (delivered) {
		memcpy(regs, &settled, sizeof(settled));
		deliver_fault(info, uc, rip);
		return;
	}
	if (trap) /* it has retired and does not come again */
		syscall2(__NR_kill, current->pid, sig);
	if (with_gs)
		signals_end(sig, FATAL_PROCESS);
	engine_finish();
	if (blocks_flushes != flushes)
		signals_end_finished(sig); /* the instruction is not there any more */
	action_default(sig); /* a fault: the instruction does it again and ends the program */
}

/* What runs next may be what has written, to a page that it stands in: translated, it would watch
 * that page again. */
static void run_once_unwatched(uint64_t pc)
{
	const struct signals *s = mine();
	bool own = s->unwatches > UNWATCH_MAX;

	for (unsigned i = 0; i < s->unwatches && i < UNWATCH_MAX; i++)
		own |= s->unwatch[i] / PAGE == pc / PAGE ||
		       s->unwatch[i] / PAGE == (pc + INSN_BYTES_MAX - 1) / PAGE;
	if (!own)
		return;
	current->run.unwatched = true;
	if (!current->run.steps_due)
		current->run.steps_due = 1;
}

void faults_open_pages(void)
{
	struct signals *s = mine();

	engine_lock();
	threads_stop();
	run_once_unwatched(current->pc);
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

void signals_bad_jump(void)
{
	if (vsyscall_run())
		return;
	signals_bad_fetch(current->pc);
}

void signals_bad_fetch(uint64_t address)
{
	mine()->bad_jump = true;
	current->resume = address;
	enter();
	mine()->bad_jump = false;
	if (!current->pending)
		engine_unsupported("the program jumped to memory that it may not execute");
}
