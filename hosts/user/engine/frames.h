/* SPDX-License-Identifier: MIT */
/* frames.h: the signal frames on the program's stack, and the kernel's that they follow (frames.c).
 */
#ifndef SOFTPMU_ENGINE_FRAMES_H
#define SOFTPMU_ENGINE_FRAMES_H

#include <asm/sigcontext.h>
#include <asm/siginfo.h>
#include <linux/signal.h>

#include <asm/ucontext.h> /* needs what stands above */

#include <stdbool.h>
#include <stdint.h>

struct kernel_action {
	uint64_t handler;
	uint64_t flags;
	uint64_t restorer;
	uint64_t mask;
};

/* What it ends, by a filter of system calls. */
enum fatal { NOT_FATAL = 0, FATAL_THREAD, FATAL_PROCESS };

/* A signal for the program: what its frame will say. */
struct arrival {
	siginfo_t info;
	struct sigcontext from; /* as the kernel gave it: what is no register of the program's */
	uint64_t uc_flags;
	struct _fpx_sw_bytes state; /* how extended state is stored */
	enum fatal fatal;
	bool fault; /* of the instruction at current->pc, or a trap behind it */
};

/* Note what a frame of the kernel's says. */
void frame_note(struct arrival *a, const siginfo_t *info, const struct ucontext *uc);

/* The program's registers, as they are for the instruction at current->pc. */
void frame_registers(struct sigcontext *to);

/* Enter the handler: a frame on the program's stack that restores `mask`.  False: the stack
 * cannot hold it. */
bool frame_push(const struct arrival *a, const struct kernel_action *action, uint64_t mask);

/* The program's rt_sigreturn(2): back to what its frame says.  The kernel's mask is then
 * `sigmask`; the program's is to be *mask.  False: the frame cannot be read. */
bool frame_return(uint64_t sigmask, uint64_t *mask);
/* The kernel refuses what the frame says, its segments or the extended state, and has raised a
 * fault for the program.  frame_return() goes on with these registers. */
void frame_refused(struct sigcontext *regs);
/* The signal that its frame is of, as far as one can say; 0: none. */
int frame_signal(void);

/* sigaltstack(2) of the program. */
long frame_altstack(uint64_t stack, uint64_t old);
/* Of the engine, which rt_sigreturn(2) also sets. */
void frame_own_stack(const stack_t *stack);

/* Can all of it be read or written?  What the engine protects is opened for writing. */
bool memory_readable(uint64_t start, uint64_t bytes);
bool memory_writable(uint64_t start, uint64_t bytes);

#endif
