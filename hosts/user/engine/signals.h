/* SPDX-License-Identifier: MIT */
/* signals.h: what else asks about the program's signals (signals.c, actions.c). */
#ifndef SOFTPMU_ENGINE_SIGNALS_H
#define SOFTPMU_ENGINE_SIGNALS_H

#include "context.h"

#define BIT_OF(sig) (UINT64_C(1) << ((sig)-1))
/* What instructions of the program raise.  The engine needs them itself, so they are never
 * blocked for the kernel; the program's wish is kept beside. */
#define FAULT_SIGNALS                                                                              \
	(BIT_OF(SIGSEGV) | BIT_OF(SIGBUS) | BIT_OF(SIGILL) | BIT_OF(SIGFPE) | BIT_OF(SIGTRAP) |    \
	 BIT_OF(SIGSYS))

static inline bool is_fault_signal(long sig)
{
	return FAULT_SIGNALS & BIT_OF(sig);
}

/* What the kernel calls. */
void signals_handler(int sig, siginfo_t *info, struct ucontext *uc);
/* It is delivered at the next boundary: at once when the instruction there raised it. */
void signals_note(const siginfo_t *info, struct ucontext *uc, bool fault);
/* The program meets a fault at current->pc that no instruction has raised. */
void signals_force(const siginfo_t *info);
/* The kernel's mask; what it was. */
uint64_t signals_kernel_mask(int how, uint64_t set);
/* The program ends by this signal, its counts being complete. */
_Noreturn void signals_end_finished(int sig);
/* The running thread, or the process with it, ends by this signal, whatever the program's wish. */
_Noreturn void signals_end(int sig, enum fatal what);

/* A thread or process that the running one starts in its memory: what it has of it, with
 * dispositions of its own or the same ones. */
void signals_inherit(struct signals *to, bool own);
/* The running thread's signal stack is the kernel's to know. */
void signals_start_thread(void);
/* A process that shares this one's memory: with dispositions of its own. */
void signals_own_dispositions(struct dispositions *copy);
/* Dispositions for another context: a copy for one process, or the same ones for one more context;
 * and when that context ends.  The lock is held. */
struct dispositions *dispositions_copy(const struct dispositions *of);
struct dispositions *dispositions_share(struct dispositions *of);
void dispositions_leave(struct dispositions *of);
/* CLONE_CLEAR_SIGHAND: no handlers. */
void signals_clear_handlers(void);
/* Another program is going to be executed: what is ignored and blocked is the kernel's to
 * know.  Undone when that failed. */
void signals_hand_over(void);
void signals_take_over(void);

/* System calls of the program that deal with signals. */
long signals_action(long sig, uint64_t action, uint64_t old, uint64_t set_bytes);
long signals_procmask(long how, uint64_t set, uint64_t old, uint64_t set_bytes);
void signals_return(void);
/* The thread has sent a signal, perhaps to itself. */
static inline void signals_sent(void)
{
	current->signals.sent = true;
}
/* The call that follows waits with the mask at this address, if there is one. */
void signals_waits_with(uint64_t mask_address);

/* --- held.c --- */

/* Keep one of FAULT_SIGNALS that was sent while the program blocks it. */
void signals_hold(const siginfo_t *info);
/* Those that it does not block any more come now. */
void signals_send_held(void);
/* A new process: they stay with its parent. */
void signals_forget_held(void);
/* The kernel has them, and blocks what the program blocks, until they are taken back.  Meanwhile no
 * instruction may fault.  for_others: another thread waits for them. */
void signals_give_faults(bool for_others);
void signals_take_faults_back(void);
/* The same around this call of the program; false: it does not need that.  Then its result. */
bool signals_lend_faults(long nr);
long signals_faults_lent(long nr, long result);
/* The thread ends: other threads get those that were sent to the process. */
void signals_leave_held(void);
/* signalfd(2) with the mask at this address. */
void signals_reads(uint64_t mask_address);

/* --- storms.c --- */

/* Signals have been delivered, or a handler has returned: does the kernel keep others back for some
 * instructions? */
bool signals_hold_storm(void);
/* It hands them out. */
void signals_hand_out(void);
/* A system call is going to be made: nothing is kept back. */
void signals_before_call(void);

#endif
