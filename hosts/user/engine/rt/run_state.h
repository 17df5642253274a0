/* SPDX-License-Identifier: MIT */
/* run_state.h: what a thread's context knows of how its code runs. */
#ifndef SOFTPMU_ENGINE_RUN_STATE_H
#define SOFTPMU_ENGINE_RUN_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* Why an instruction runs with RFLAGS.TF (one.c). */
enum one_purpose { ONE_OFF = 0, ONE_OF_PROGRAM, ONE_UNKNOWN, ONE_RAISES };

/* System calls that raise SIGSYS: all except those from this range (dispatch.c). */
struct dispatch_range {
	uint32_t of; /* the kernel's number of the thread that asked for it; 0: none */
	uint64_t start, bytes;
	uint64_t selector; /* address of the byte that switches it; 0: always on */
};

/* The state of the dispatcher (run.c). */
struct dispatch {
	unsigned
		/* Precise steps that must run whatever the meters say: the rest of a block whose
		 * charge did not fit, or an instruction that the engine handles itself. */
		steps_due;
	uint64_t
		/* Where bulk code continues inside a block; 0: at the beginning of a block. */
		resume_at;
	uint64_t log_store; /* the store into the full log that faulted */
	/* Little headroom is left: run low-headroom blocks (low_headroom_for_once: for the next
	 * block, even if it is rarely needed). */
	bool low_headroom, low_headroom_for_once;
	/* A fault left a step before its instruction retired; pc says where to continue. */
	bool step_left;
	bool recording;	      /* the path is recorded for a trace (hot.c) */
	bool unwatched;	      /* the next step may write to its own page (faults.c) */
	bool trap_flag;	      /* the program's RFLAGS.TF, which is not in rflags */
	bool traps;	      /* the step's instruction has run, and traps because of that flag */
	bool again;	      /* it is repeated and has done one iteration: it has not retired */
	bool fetch_failed;    /* of an unknown instruction (unknown.c) */
	enum one_purpose one; /* the purpose of the instruction that runs with TF now */
	uint64_t one_at; /* an unknown instruction that runs after code in front of it; 0: now */
	uint64_t
		one_bytes; /* length of an unknown or far instruction that has run; 0: it faulted */
	uint64_t retired_at, retired_rsp; /* a SYSCALL: a signal came between it and the call */
};

#endif
