/* SPDX-License-Identifier: MIT */
/* faults.h: signals that an instruction has raised, the program's or translated code's (faults.c).
 */
#ifndef SOFTPMU_ENGINE_FAULTS_H
#define SOFTPMU_ENGINE_FAULTS_H

#include "engine/signal/signals.h"

#define FLAG_TF UINT64_C(0x100)

extern const char __executable_start[], etext[]; /* of the linker: the engine's code */

static inline bool in_engine(uint64_t rip)
{
	return rip >= (uint64_t)__executable_start && rip < (uint64_t)etext;
}

/* Delivers the signal at the instruction, ends the program by it, or does what the engine caused
 * it for. */
void fault_arrived(int sig, siginfo_t *info, struct ucontext *uc);
/* Opens the pages of code that the thread wanted to write to, at a boundary. */
void faults_open_pages(void);

#endif
