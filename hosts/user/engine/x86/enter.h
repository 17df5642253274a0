/* SPDX-License-Identifier: MIT */
/* enter.h: the ways between the engine, translated code and the kernel (enter.S). */
#ifndef SOFTPMU_ENGINE_ENTER_H
#define SOFTPMU_ENGINE_ENTER_H

#include <stdbool.h>
#include <stdint.h>

/* Runs translated code from ctx->resume until it leaves.  ctx->reason says why. */
void enter(void);

/* The same for one instruction, after which SIGTRAP comes (one.c). */
void enter_one(void);

/* Between the first and the last address enter() no longer looks for a signal.  A signal that came
 * before raises a trap at enter_trap. */
extern const char enter_check[], enter_trap[], enter_end[];

/*
 * Makes a system call of the program.  Returns its result, or CALL_NO_RESULT; current->call tells
 * which.  A signal can interrupt the thread in [check, at].  The engine's handler then continues at
 * `again` if the kernel restarts the call, and at `interrupted` if the call has not begun.
 */
long syscall_program(long nr, const uint64_t a[6]);
extern const char clone_after[]; /* the instruction after the call of clone_process() */
extern const char syscall_check[], syscall_at[], syscall_after[], syscall_again[],
	syscall_interrupted[];

/* Executes rt_sigreturn(2) with a frame of the engine's, which returns here (frames.c).  The
 * kernel faults at frame_back if it refuses the program's frame. */
void frame_resume(void *frame);
extern const char frame_resume_after[], frame_back[];

/* Returns whether the byte can be read and the same value stored.  These are the only places
 * where the engine may fault. */
bool probe_read(uint64_t address);
bool probe_write(uint64_t address);
extern const char probe_read_at[], probe_write_at[], probe_failed[];

/* The places where translated code leaves, one for each reason (enter.S). */
extern const char exit_link[], exit_indirect[], exit_headroom[], exit_syscall[], exit_step_next[],
	exit_step_taken[], exit_step_jump[], exit_headroom_edge[], exit_step_me[], exit_log_full[],
	exit_return[], exit_headroom_flags[], exit_step_aborted[];

#endif
