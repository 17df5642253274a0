/* SPDX-License-Identifier: MIT */
/*
 * frames.c: the frame of a signal on the program's stack, in the kernel's layout. It has the return
 * address, struct ucontext and siginfo. Above them is the extended state in the standard form of
 * XSAVE. Its bytes for software hold its size.
 *
 * The engine uses no vector registers.  So the extended state is stored when a handler is
 * entered, and loaded when it is left.  The kernel loads it: the engine calls rt_sigreturn(2) with
 * its own frame, which points to the state in the program's frame.  So a damaged state is refused
 * as natively.
 */
#include <asm/errno.h>
#include <asm/unistd.h>

#include <hosts/user/link.h>

#include "engine/count/flow.h"
#include "engine/memory/access.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/signal_state.h"
#include "engine/rt/sys.h"
#include "engine/signal/faults.h"
#include "engine/signal/frames.h"
#include "engine/x86/enter.h"
#include "engine/x86/keys.h"

#define RED_ZONE      128
#define AUTODISARM    (1u << 31)
#define STATE_HEADER  512 /* offset of XSAVE's header (Vol. 1, 13.4) */
#define STATE_SW      464 /* of the bytes for software (asm/sigcontext.h) */
#define USER_CS	      0x33
#define USER_SS	      0x2b
#define RIGHTS_CODE   0x1800 /* of a segment, as LAR gives them (Vol. 3A 3.4.5) */
#define RIGHTS_LONG   0x200000
#define FLAG_RF	      UINT64_C(0x10000)
#define FLAGS_CLEARED (FLAG_RF | 0x400) /* flags that are cleared for a handler: RF, DF; and TF */
#define FLAGS_RETURN  UINT64_C(0x40cd5) /* AC, OF, DF, SF, ZF, AF, PF, CF */

struct frame {
	uint64_t return_address;
	struct ucontext uc;
	siginfo_t info;
};
_Static_assert(sizeof(struct frame) == 440, "as the kernel's");
_Static_assert(__builtin_offsetof(struct frame, uc.uc_mcontext.rsp) == FRAME_RSP, "enter.S");
_Static_assert(__builtin_offsetof(struct frame, uc.uc_mcontext.rip) == FRAME_RIP, "enter.S");

/* --- the alternate stack --- */

static bool is_in(const stack_t *s, uint64_t sp)
{
	return sp > (uint64_t)s->ss_sp && sp - (uint64_t)s->ss_sp <= s->ss_size;
}

static bool is_on_altstack(uint64_t sp)
{
	return !((unsigned)current->signals.altstack.ss_flags & AUTODISARM) &&
	       is_in(&current->signals.altstack, sp);
}

static long set_altstack(const stack_t *new)
{
	unsigned flags = (unsigned)new->ss_flags;

	if (is_on_altstack(current->gpr[4]))
		return -EPERM;
	switch (flags & ~AUTODISARM) {
	case SS_DISABLE:
		current->signals.altstack = (stack_t){.ss_flags = (int)flags};
		return 0;
	case SS_ONSTACK:
	case 0:
		if (new->ss_size < MINSIGSTKSZ)
			return -ENOMEM;
		current->signals.altstack = *new;
		return 0;
	default:
		return -EINVAL;
	}
}

long frame_altstack(uint64_t stack, uint64_t old)
{
	stack_t before = current->signals.altstack, new;
	long result = 0;

	before.ss_flags &= (int)AUTODISARM;
	if (!before.ss_size)
		before.ss_flags |= SS_DISABLE;
	else if (is_on_altstack(current->gpr[4]))
		before.ss_flags |= SS_ONSTACK;
	if (stack) {
		if (!access_readable(stack, sizeof(new)))
			return -EFAULT;
		memcpy(&new, (const void *)stack, sizeof(new));
		result = set_altstack(&new);
	}
	if (!result && old) {
		if (!access_writable(old, sizeof(before)))
			return -EFAULT;
		memcpy((void *)old, &before, sizeof(before));
	}
	return result;
}

void frame_own_stack(const stack_t *stack)
{
	current->signals.own_stack = *stack;
}

/* --- into a handler --- */

void frame_note(struct arrival *a, const siginfo_t *info, const struct ucontext *uc)
{
	const uint8_t *state = (const uint8_t *)uc->uc_mcontext.fpstate;

	memcpy(&a->info, info, sizeof(a->info));
	memcpy(&a->from, &uc->uc_mcontext, sizeof(a->from));
	a->uc_flags = uc->uc_flags;
	memcpy(&a->state, state + STATE_SW, sizeof(a->state));
	if (a->state.magic1 != FP_XSTATE_MAGIC1)
		engine_unsupported("signal handlers on a machine without XSAVE cannot be run");
	a->fault = false;
	a->fatal = NOT_FATAL;
	a->filtered = false;
}

void frame_registers(struct sigcontext *to)
{
	const uint64_t *g = current->gpr;
	uint64_t low[] = {g[7], g[6], g[5], g[3], g[2], g[0], g[1], g[4], current->pc};

	memcpy(&to->r8, g + 8, 64);
	memcpy(&to->rdi, low, sizeof(low)); /* RDI, RSI, RBP, RBX, RDX, RAX, RCX, RSP, RIP */
	to->eflags = (to->eflags & ~FLAGS_RETURN) | (current->rflags & FLAGS_RETURN);
}

static void registers_in(const struct sigcontext *from)
{
	uint64_t *g = current->gpr;

	flow_break(from->rip, LINK_FLOW_LEAVES);
	memcpy(g + 8, &from->r8, 64);
	g[7] = from->rdi;
	g[6] = from->rsi;
	g[5] = from->rbp;
	g[3] = from->rbx;
	g[2] = from->rdx;
	g[0] = from->rax;
	g[1] = from->rcx;
	g[4] = from->rsp;
	current->pc = from->rip;
	current->rflags = (current->rflags & ~FLAGS_RETURN) | (from->eflags & FLAGS_RETURN);
	current->run.trap_flag = from->eflags & FLAG_TF;
}

/* Stores the current extended state.  The header is cleared first, because XSAVE does not write
 * all of it. */
static void state_out(uint8_t *to, const struct arrival *a)
{
	uint32_t low = (uint32_t)a->state.xfeatures, high = (uint32_t)(a->state.xfeatures >> 32);
	uint32_t magic = FP_XSTATE_MAGIC2;
	uint64_t present;

	memset(to + STATE_HEADER, 0, 64);
	__asm__ volatile("xsave64 (%0)" : : "r"(to), "a"(low), "d"(high) : "memory");
	memcpy(to + STATE_SW, &a->state, sizeof(a->state));
	memcpy(to + a->state.xstate_size, &magic, sizeof(magic));
	memcpy(&present, to + STATE_HEADER, sizeof(present));
	present |= 3; /* x87 and SSE are always included */
	memcpy(to + STATE_HEADER, &present, sizeof(present));
}

bool frame_push(const struct arrival *a, const struct kernel_action *action, uint64_t mask)
{
	uint64_t sp = current->gpr[4] - RED_ZONE, top, state;
	bool nested = is_on_altstack(current->gpr[4]), entering = false;
	struct frame *f;

	if (action->flags & SA_ONSTACK && current->signals.altstack.ss_size &&
	    !is_on_altstack(sp)) {
		sp = (uint64_t)current->signals.altstack.ss_sp + current->signals.altstack.ss_size;
		entering = true;
	}
	top = sp;
	state = (sp - a->state.extended_size) & ~UINT64_C(63);
	sp = ((state - sizeof(*f)) & ~UINT64_C(15)) - 8;
	if ((nested || entering) && !is_in(&current->signals.altstack, sp))
		return false;
	if (!access_writable(sp, top - sp))
		return false;
	if (entering) {
		current->signals.alternate.start = (uint64_t)current->signals.altstack.ss_sp;
		current->signals.alternate.end = top;
		current->signals.alternate.interrupted = current->gpr[4];
	}
	f = (struct frame *)sp;
	state_out((uint8_t *)state, a);
	memcpy(&f->info, &a->info, sizeof(f->info));
	f->return_address = action->restorer;
	f->uc.uc_flags = a->uc_flags;
	f->uc.uc_link = NULL;
	f->uc.uc_stack = current->signals.altstack;
	if ((unsigned)current->signals.altstack.ss_flags & AUTODISARM)
		current->signals.altstack = (stack_t){.ss_flags = SS_DISABLE};
	memcpy(&f->uc.uc_mcontext, &a->from, sizeof(a->from));
	frame_registers(&f->uc.uc_mcontext);
	f->uc.uc_mcontext.eflags = current->rflags | (a->fault ? a->from.eflags & FLAG_RF : 0) |
				   (current->run.trap_flag ? FLAG_TF : 0);
	f->uc.uc_mcontext.oldmask = mask;
	f->uc.uc_mcontext.fpstate = (struct _fpstate *)state;
	f->uc.uc_sigmask = mask;
	current->gpr[0] = 0;
	current->gpr[7] = (uint64_t)a->info.si_signo;
	current->gpr[6] = (uint64_t)&f->info;
	current->gpr[2] = (uint64_t)&f->uc;
	current->gpr[4] = sp;
	flow_break(action->handler, LINK_FLOW_HANDLER);
	current->pc = action->handler;
	current->rflags &= ~FLAGS_CLEARED;
	current->run.trap_flag = false;
	if (keys_used)
		keys_set_rights(current->signals.handlers_rights);
	return true;
}

/* --- back --- */

int frame_signal(void)
{
	const struct frame *f = (const struct frame *)(current->gpr[4] - 8);

	if (!access_readable((uint64_t)&f->info, sizeof(f->info.si_signo)) ||
	    f->info.si_signo < 1 || f->info.si_signo >= SIGNALS)
		return 0;
	return f->info.si_signo;
}

/* Returns whether IRET would continue in 32-bit or 16-bit code. */
static bool is_narrow_code(uint16_t selector)
{
	uint32_t rights = 0;
	bool valid;

	__asm__("lar %2, %0" : "+r"(rights), "=@ccz"(valid) : "r"((uint32_t)selector | 3) : "cc");
	return valid && (rights & RIGHTS_CODE) == RIGHTS_CODE && !(rights & RIGHTS_LONG);
}

bool frame_return(uint64_t sigmask, uint64_t *mask)
{
	const struct frame *f = (const struct frame *)(current->gpr[4] - 8);
	struct frame own;
	stack_t stack;

	if (!access_readable((uint64_t)f, __builtin_offsetof(struct frame, info)))
		return false;
	memcpy(&own.uc, &f->uc, sizeof(own.uc));
	*mask = own.uc.uc_sigmask;
	stack = own.uc.uc_stack;
	if (is_narrow_code(own.uc.uc_mcontext.cs))
		engine_unsupported("a signal handler returns to 32-bit code, which cannot be run");
	registers_in(&own.uc.uc_mcontext);
	own.uc.uc_stack = current->signals.own_stack;
	own.uc.uc_sigmask = sigmask;
	own.uc.uc_mcontext.eflags = 0x202;
	current->signals.refused = false;
	frame_resume(&own);
	if (!current->signals.refused)
		set_altstack(&stack);
	return true;
}

void frame_refused(struct sigcontext *regs)
{
	current->signals.refused = true;
	if (regs->cs == USER_CS &&
	    regs->ss == USER_SS) /* the state is loaded: the call has ended with 0 */
		current->gpr[0] = 0;
	regs->cs = USER_CS;
	regs->ss = USER_SS;
}
