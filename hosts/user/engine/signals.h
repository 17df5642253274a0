/* SPDX-License-Identifier: MIT */
/* signals.h: what else asks about the program's signals (signals.c). */
#ifndef SOFTPMU_ENGINE_SIGNALS_H
#define SOFTPMU_ENGINE_SIGNALS_H

#include "frames.h"

#define SIGNALS	     65
#define ARRIVALS_MAX 8
#define BIT_OF(sig)  (UINT64_C(1) << ((sig)-1))
/* What instructions of the program raise.  The engine needs them itself, so they are never
 * blocked for the kernel; the program's wish is kept beside. */
#define FAULT_SIGNALS                                                                              \
	(BIT_OF(SIGSEGV) | BIT_OF(SIGBUS) | BIT_OF(SIGILL) | BIT_OF(SIGFPE) | BIT_OF(SIGTRAP))

/* What a process has of its own; a child that shares its parent's memory leaves it alone. */
struct signals {
	struct kernel_action action[SIGNALS]; /* what the program asked for */
	stack_t altstack;
	uint64_t blocked_faults;	      /* FAULT_SIGNALS that the program blocks */
	uint64_t mask;			      /* the program's, while the kernel's is another */
	struct arrival arrived[ARRIVALS_MAX]; /* in the order in which they are delivered */
	unsigned arrivals;
};
extern struct signals signals;
/* A new process: fault signals that were kept back stay with its parent. */
void signals_forget_held(void);
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
/* The call that follows waits with the mask at this address, if there is one. */
void signals_waits_with(uint64_t mask_address);

#endif
