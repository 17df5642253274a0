/* SPDX-License-Identifier: MIT */
/* one.h: one instruction with RFLAGS.TF, for the program or for the engine (one.c). */
#ifndef SOFTPMU_ENGINE_ONE_H
#define SOFTPMU_ENGINE_ONE_H

#include "engine/translate/translate.h"
#include "engine/rt/context.h"

/* Handles SIGTRAP after one instruction (TRAP_TRACE), according to the purpose for which it ran. */
void one_trapped(siginfo_t *info, struct ucontext *uc);

/* Runs the instruction at current->resume, and the code after it up to an exit. */
void one_run(enum one_purpose purpose);

/* Raises SIGTRAP at current->pc, as RFLAGS.TF does after an instruction. */
void one_raise(void);

/* unknown.c */
/* Lets the processor decide about an instruction that the decoder does not know: its signal is
 * delivered, or it retires. */
void unknown_run(const struct step *s);
/* one.c: returns true if the processor has asked for more bytes of it than can be executed. */
bool one_fetch_failed(int sig, const siginfo_t *info, struct sigcontext *regs);

#endif
