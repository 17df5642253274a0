/* SPDX-License-Identifier: MIT */
/* filtered.h: system calls that a filter has trapped (filtered.c). */
#ifndef SOFTPMU_ENGINE_FILTERED_H
#define SOFTPMU_ENGINE_FILTERED_H

#include "engine/rt/context.h"

/* Notes the system call that a filter has trapped, from the signal that resulted. */
void filtered_note(const siginfo_t *info, const struct sigcontext *regs);
/* Returns what the filters do about that call: end the thread, end the process, or raise this
 * signal, whose data is corrected. */
enum fatal filtered_decide(siginfo_t *info);

#endif
