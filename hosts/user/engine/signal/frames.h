/* SPDX-License-Identifier: MIT */
/* frames.h: the signal frames on the program's stack, and the kernel's frames that are their
 * model (frames.c). */
#ifndef SOFTPMU_ENGINE_FRAMES_H
#define SOFTPMU_ENGINE_FRAMES_H

#include "engine/rt/signal_state.h"

#include <stdbool.h>
#include <stdint.h>

/* Notes the contents of a frame of the kernel. */
void frame_note(struct arrival *a, const siginfo_t *info, const struct ucontext *uc);

/* Writes the program's registers for the instruction at current->pc. */
void frame_registers(struct sigcontext *to);

/* Enters the handler with a frame on the program's stack that restores `mask`.  Returns false if
 * the stack cannot hold it. */
bool frame_push(const struct arrival *a, const struct kernel_action *action, uint64_t mask);

/* Executes the program's rt_sigreturn(2): returns to the state in its frame.  Afterwards the
 * kernel's mask is `sigmask`, and the program's is *mask.  Returns false if the frame cannot be
 * read. */
bool frame_return(uint64_t sigmask, uint64_t *mask);
/* Handles a frame whose segments or extended state the kernel refuses: the kernel has raised a
 * fault for the program.  frame_return() continues with these registers. */
void frame_refused(struct sigcontext *regs);
/* Returns the signal of the frame, as far as that is known; 0: unknown. */
int frame_signal(void);

/* Executes sigaltstack(2) of the program. */
long frame_altstack(uint64_t stack, uint64_t old);
/* Sets the engine's own stack, which rt_sigreturn(2) also sets. */
void frame_own_stack(const stack_t *stack);

#endif
