/* SPDX-License-Identifier: MIT */
/* faults.h: signals that an instruction has raised, the program's or translated code's (faults.c).
 */
#ifndef SOFTPMU_ENGINE_FAULTS_H
#define SOFTPMU_ENGINE_FAULTS_H

#include "signals.h"

#define FLAG_TF UINT64_C(0x100)

extern const char __executable_start[], etext[]; /* the linker's: the engine's code */

static inline bool in_engine(uint64_t rip)
{
	return rip >= (uint64_t)__executable_start && rip < (uint64_t)etext;
}

/* Deliver it at the instruction, end the program by it, or do what it was brought about for. */
void fault_arrived(int sig, siginfo_t *info, struct ucontext *uc);
/* Pages of code that the thread wanted to write to can be written: at a boundary. */
void faults_open_pages(void);

#endif
