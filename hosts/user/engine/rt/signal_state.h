/* SPDX-License-Identifier: MIT */
/* signal_state.h: the state of signals in a thread's context. */
#ifndef SOFTPMU_ENGINE_SIGNAL_STATE_H
#define SOFTPMU_ENGINE_SIGNAL_STATE_H

#include <asm/sigcontext.h>
#include <asm/siginfo.h>
#include <linux/signal.h>

#include <asm/ucontext.h> /* needs the header above */

#include <stdbool.h>
#include <stdint.h>

#define ARRIVALS_MAX 8
#define SIGNALS	     65
#define UNWATCH_MAX  4

struct kernel_action {
	uint64_t handler;
	uint64_t flags;
	uint64_t restorer;
	uint64_t mask;
};

/* What a filter of system calls ends with this signal. */
enum fatal { NOT_FATAL = 0, FATAL_THREAD, FATAL_PROCESS };

/* A signal for the program: the contents of its frame. */
struct arrival {
	siginfo_t info;
	struct sigcontext
		from; /* from the kernel: the parts that are no registers of the program */
	uint64_t uc_flags;
	struct _fpx_sw_bytes state; /* the form of the extended state */
	enum fatal fatal;
	bool fault;    /* of the instruction at current->pc, or a trap after it */
	bool filtered; /* a filter of system calls has trapped: filtered_decide() */
};

/* What a process asked for about signals; its threads share it. */
struct dispositions {
	struct kernel_action action[SIGNALS];
	uint32_t users;		   /* contexts, while several processes are in the memory */
	struct dispositions *next; /* list of unused ones */
	bool reads_faults;	   /* a signalfd(2) of the process includes some of FAULT_SIGNALS */
	uint32_t fault_waiters;	   /* threads in sigtimedwait(2) that block some */
};

/* The signals of the thread (signals.c, actions.c, frames.c). */
struct signals {
	struct dispositions *process;
	uint64_t blocked_faults; /* the FAULT_SIGNALS that the program blocks */
	uint64_t mask;		 /* the program's mask, while the kernel's differs */
	unsigned arrivals;
	bool checking; /* signals_check() is running */
	/* Progress of the program when signals come faster than they are delivered. */
	uint64_t recent;     /* handlers that were entered, or left, one directly after the other */
	unsigned in_a_row;   /* how often this happened */
	unsigned holds;	     /* how often the kernel has held signals back for this */
	unsigned steps_held; /* instructions until the kernel delivers them again; 0: it does */
	bool sent;	     /* the thread has sent signals itself meanwhile */
	bool waiting, came_waiting; /* a system call waits with wait_mask; a signal ended it */
	uint64_t wait_mask;
	uint64_t held_set;
	stack_t altstack; /* the program's */
	/* The last alternate stack that a handler began on, and the stack pointer before. */
	struct {
		uint64_t start, end, interrupted;
	} alternate;
	stack_t own_stack;
	uint32_t handlers_rights; /* PKRU as the kernel sets it for a handler (keys.h) */
	bool bad_jump;		  /* a jump of the program to no code, which faults as natively */
	bool forcing;		  /* the engine sends the program a fault */
	bool refused;		  /* the kernel has refused its signal frame */
	/* Pages of code that the thread wanted to write to.  They are to be opened, and their
	 * translations dropped. */
	struct {
		uint64_t address;
		bool is_stack; /* or it is near one */
	} unwatch[UNWATCH_MAX];
	unsigned unwatches; /* more than UNWATCH_MAX: all pages */
	/* Rarely used fields come last (struct context). */
	struct arrival arrived[ARRIVALS_MAX]; /* in the order of delivery */
	siginfo_t held[SIGNALS];	      /* fault signals that were sent while blocked */
};

#endif
