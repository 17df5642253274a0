/* SPDX-License-Identifier: MIT */
/*
 * rseq.c: restartable sequences (rseq(2)).
 *
 * The kernel knows the program's own area and keeps the processor's number in it.  A program
 * arms a critical section by storing the address of the section's descriptor into the area's
 * word rseq_cs.  When the thread loses its processor or gets a signal, the kernel checks whether
 * the thread is in that section.  Translated code is at other addresses, so it never is, and the
 * kernel clears the word.  The engine treats that as an abort:
 *
 *	- A section, and the instruction before it, which arms it, run as single steps
 *	  (sections.c).  The engine itself stores the word when an instruction arms a section.  So
 *	  it knows the section even if the kernel clears the word at once.
 *	- Before each step the engine checks the word.  If it is 0, the program continues at the
 *	  abort handler.
 *	- While an instruction of the section runs, the word points to a descriptor of the engine's,
 *	  the guard.  Its range is the code of the step: a check that the word is not 0, and the
 *	  instruction as its last part.  So the kernel aborts that code if it intervenes.  Then
 *	  the instruction has not run.
 *
 * Simplified: these run without a guard: branches, repeated string instructions, instructions
 * with an operand in GS or out of the copy's reach, and instructions that the engine handles
 * itself.  Such an instruction may store although the thread has lost its processor since the
 * check.  An instruction of a section that reads the word itself reads the guard.
 */
#include "engine/signal/rseq.h"

#include <asm/sigcontext.h>
#include <asm/unistd.h>

#include "engine/count/count.h"
#include "engine/count/flow.h"
#include "engine/memory/access.h"
#include "engine/memory/regions.h"
#include "engine/rt/context.h"
#include "engine/rt/lock.h"
#include "engine/rt/segments.h"
#include "engine/rt/sys.h"
#include "engine/signal/finish.h"
#include "engine/translate/sections.h"
#include "engine/translate/translate.h"
#include "engine/watch/watch.h"
#include "engine/x86/emit.h"
#include "engine/x86/enter.h"
#include "engine/x86/operands.h"

#define SPARED_MAX 64

static struct restartable *mine(void)
{
	return &current->restartable;
}

static uint64_t word(void)
{
	return __atomic_load_n(current->sequence, __ATOMIC_RELAXED);
}

/* Replaces the word of the own thread.  Only the kernel can intervene. */
static bool replace(uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(current->sequence, &from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/* Returns whether the area exists: the program may have unmapped its memory. */
static bool is_there(void)
{
	return current->sequence && probe_read((uint64_t)current->sequence);
}

static bool is_accepted(uint64_t descriptor)
{
	struct rseq_cs cs;

	return sections_read(descriptor, &cs) && sections_accept(&cs, mine()->signature);
}

static bool in_section(uint64_t pc)
{
	return pc - mine()->start < mine()->length;
}

/* --- the area --- */

void rseq_unregistered(void)
{
	current->sequence = NULL;
	mine()->armed = mine()->seen = 0;
}

/* Pins the area, because the kernel writes there at any time. */
static void pin(uint64_t area, uint64_t bytes)
{
	bool code, writable;

	lock_take();
	region_as_mapped(area, area + bytes, &code, &writable);
	if (code)
		watch_pin(area, bytes);
	lock_release();
}

void rseq_registered(uint64_t area, uint32_t bytes, uint32_t signature)
{
	sections_expect(signature);
	if (mine()->signature != signature)
		step_forget_all(); /* guards depend on it */
	*mine() = (struct restartable){.bytes = bytes, .signature = signature};
	current->sequence = (uint64_t *)(area + __builtin_offsetof(struct rseq, rseq_cs));
	pin(area, bytes);
}

/*
 * Makes the kernel forget the thread's area, which is about to be unmapped.  Natively the thread
 * can still end if nothing interrupts it before.  The engine takes longer.
 */
void rseq_leave_area(uint64_t start, uint64_t bytes)
{
	uint64_t area = (uint64_t)current->sequence - __builtin_offsetof(struct rseq, rseq_cs);

	if (!current->sequence || area - start >= bytes)
		return;
	syscall4(__NR_rseq, (long)area, mine()->bytes, RSEQ_FLAG_UNREGISTER, mine()->signature);
	rseq_unregistered();
}

bool rseq_area_is_gone(void)
{
	return current->sequence &&
	       !access_readable((uint64_t)current->sequence, sizeof(*current->sequence));
}

bool rseq_is_refused(void)
{
	return is_there() && word() && !is_accepted(word());
}

/* --- sections --- */

/* Puts the thread into the section of this descriptor, if pc is in it. */
static void enter_section(uint64_t descriptor, uint64_t pc)
{
	struct restartable *r = mine();
	struct rseq_cs cs;

	r->armed = 0;
	if (!sections_read(descriptor, &cs))
		return;
	r->start = cs.start_ip;
	r->length = cs.post_commit_offset;
	r->abort = cs.abort_ip;
	/* The kernel no longer supports the flags, and refuses them. */
	r->refused = cs.flags || !sections_accept(&cs, r->signature);
	r->calls = current->calls;
	if (in_section(pc))
		r->armed = descriptor;
}

void rseq_abort(void)
{
	struct restartable *r = mine();

	r->armed = 0;
	if (r->refused)
		finish_by_signal(SIGSEGV, FATAL_PROCESS);
	flow_break(r->abort, 0);
	current->pc = r->abort;
}

void rseq_after_bulk(void)
{
	struct restartable *r = mine();
	struct rseq_cs cs;
	uint64_t now;

	if (!is_there())
		return;
	now = word();
	if (!now || now == r->seen)
		return;
	r->seen = now;
	if (!sections_read(now, &cs))
		return;
	lock_take();
	sections_add(&cs);
	sections_publish();
	lock_release();
}

/*
 * Aborts the section, because the engine has made a system call in the middle of it.  From Linux
 * 6.19 on the kernel does not abort for events during a call, because programs make none in a
 * section.  So the engine does, except for sections that would otherwise never end.
 */
static void clear_after_call(void)
{
	struct restartable *r = mine();

	if (!r->armed || r->calls == current->calls)
		return;
	r->calls = current->calls;
	if (r->spared++ < SPARED_MAX)
		replace(r->armed, 0);
}

void rseq_before_step(void)
{
	struct restartable *r = mine();
	uint64_t now;

	if (!r->armed && !sections_hold(current->pc))
		return;
	clear_after_call();
	now = is_there() ? word() : 0;
	if (r->armed && now == r->armed && in_section(current->pc))
		return;
	if (r->armed && !now && in_section(current->pc))
		rseq_abort();
	else if (now)
		enter_section(now, current->pc);
	else
		r->armed = 0;
}

bool rseq_arm(const struct step *s, const struct accesses *list)
{
	const uint8_t *code = (const uint8_t *)s->pc;
	uint64_t after = s->pc + s->insn[0].bytes, value;
	struct insn insn;

	if (s->insns != 1 || !sections_begin(after) || current->run.trap_flag ||
	    !insn_decode(code, s->insn[0].bytes, s->pc, &insn) ||
	    !operand_stored(&insn, code, current->gpr, &value) ||
	    insn_data_address(&insn, s->pc, current->gpr, read_fs_base(), current->program_gs) !=
		    (uint64_t)current->sequence ||
	    !is_there())
		return false;
	__atomic_store_n(current->sequence, value, __ATOMIC_RELAXED);
	current->pc = after;
	if (value)
		enter_section(value, after);
	counting_retire(s->pc, after, s->insn[0].signals, list);
	return true;
}

/* --- the guard --- */

uint64_t rseq_guard(const struct step *s)
{
	struct restartable *r = mine();
	struct guarded_code at;

	if (!r->armed || !s->guarded || current->run.trap_flag)
		return s->code;
	at = step_guarded_code(s);
	r->guard.start_ip = at.start;
	r->guard.post_commit_offset = at.end - at.start;
	r->guard.abort_ip = at.abort;
	/* If this fails, the word is 0, and the check finds it. */
	replace(r->armed, (uint64_t)&r->guard);
	return at.entry;
}

void rseq_after_step(void)
{
	struct restartable *r = mine();

	if (!r->armed)
		return;
	replace((uint64_t)&r->guard, r->armed);
	if (in_section(current->pc))
		return;
	r->armed = 0;
	r->spared = 0;
}

const struct step *rseq_aborted(struct sigcontext *regs)
{
	const struct step *s = step_of_code(regs->rip);

	if (!s || !s->guarded || regs->rip != step_guarded_code(s).abort)
		return NULL;
	regs->rcx = current->spill_rcx;
	regs->rip = (uint64_t)exit_step_aborted;
	return s;
}

void rseq_interrupted(void)
{
	struct restartable *r = mine();
	uint64_t now;

	if (!is_there())
		return;
	rseq_before_step();
	now = word();
	if (!now)
		return;
	if (!is_accepted(now))
		finish_by_signal(SIGSEGV, FATAL_PROCESS);
	enter_section(now, current->pc);
	__atomic_store_n(current->sequence, 0, __ATOMIC_RELAXED);
	if (r->armed)
		rseq_abort();
}
