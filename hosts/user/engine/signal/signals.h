/* SPDX-License-Identifier: MIT */
/* signals.h: the program's signals, as other files see them (signals.c, actions.c). */
#ifndef SOFTPMU_ENGINE_SIGNALS_H
#define SOFTPMU_ENGINE_SIGNALS_H

#include "engine/rt/dispositions.h"

#define BIT_OF(sig) (UINT64_C(1) << ((sig)-1))
/* Signals that instructions of the program raise.  The engine needs them itself, so the kernel
 * never blocks them.  The engine stores separately which ones the program blocks. */
#define FAULT_SIGNALS                                                                              \
	(BIT_OF(SIGSEGV) | BIT_OF(SIGBUS) | BIT_OF(SIGILL) | BIT_OF(SIGFPE) | BIT_OF(SIGTRAP) |    \
	 BIT_OF(SIGSYS))

static inline bool is_fault_signal(long sig)
{
	return FAULT_SIGNALS & BIT_OF(sig);
}

/* The engine's handler begins at `entry` and returns to `back`. */
void signals_start(const char *entry, const char *back);
/* Delivers the signals that have arrived.  current->pc is at an instruction boundary. */
void signals_check(void);
/* The program fetches what is no code at this address: for the instruction at current->pc. */
void faults_bad_fetch(uint64_t address);
/* The handler that the kernel calls. */
void signals_handler(int sig, siginfo_t *info, struct ucontext *uc);
/* Makes the kernel hold back all signals except faults. */
void arrivals_hold_back(struct ucontext *uc);
/* Notes a signal, which is delivered at the next boundary: at once if the instruction there
 * raised it. */
void arrivals_note(const siginfo_t *info, struct ucontext *uc, bool fault);
/* Raises a fault at current->pc that no instruction has raised. */
void arrivals_force(const siginfo_t *info);
/* Ends the program by this signal.  Its counts are complete. */
_Noreturn void finish_raise(int sig);
/* Ends the running thread, or its process, by this signal, whatever the program's disposition
 * is. */
_Noreturn void finish_by_signal(int sig, enum fatal what);

/* Passes signals on to a thread or process that the running one starts in its memory, with its
 * own dispositions or shared ones. */
void signals_inherit(struct signals *to, bool own);
/* Tells the kernel the running thread's signal stack. */
void signals_start_thread(void);
/* Gives a process that shares this one's memory its own dispositions. */
void actions_own_dispositions(struct dispositions *copy);
/* CLONE_CLEAR_SIGHAND: removes all handlers. */
void actions_clear_handlers(void);
/* Tells the kernel what is ignored and blocked, before execve.  The second function undoes this
 * if execve failed. */
void actions_hand_over(void);
void actions_take_over(void);

/* System calls of the program about signals. */
long actions_sigaction(long sig, uint64_t action, uint64_t old, uint64_t set_bytes);
long signals_procmask(long how, uint64_t set, uint64_t old, uint64_t set_bytes);
void signals_return(void);
/* Notes that the thread has sent a signal, perhaps to itself. */
static inline void signals_sent(void)
{
	current->signals.sent = true;
}
/* Notes that the next call waits with the mask at this address, if that is not 0. */
void signals_waits_with(uint64_t mask_address);

/* --- held.c --- */

/* Keeps one of FAULT_SIGNALS that was sent while the program blocks it. */
void held_add(const siginfo_t *info);
/* Delivers those that are no longer blocked. */
void held_send(void);
/* Forgets them in a new process: they stay with its parent. */
void held_forget(void);
/* Gives them to the kernel, which blocks what the program blocks, until they are taken back.
 * Meanwhile no instruction may fault.  for_others: another thread waits for them. */
void held_give(bool for_others);
void held_take_back(void);
/* Does the same for this call of the program.  Returns false if the call does not need it.  The
 * second function returns the call's result. */
bool held_lend(long nr);
long held_lent(long nr, long result);
/* Hands those that were sent to the process to other threads, because the thread ends. */
void held_leave(void);
/* Notes signalfd(2) with the mask at this address. */
void held_reads(uint64_t mask_address);

/* --- storms.c --- */

/* Called after signals were delivered, or a handler has returned.  Returns whether the kernel
 * holds further ones back for some instructions. */
bool storm_hold(void);
/* Makes the kernel deliver them. */
void storm_hand_out(void);
/* Makes the kernel hold nothing back, because a system call is about to be made. */
void storm_before_call(void);

#endif
