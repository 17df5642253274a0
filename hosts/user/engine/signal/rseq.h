/* SPDX-License-Identifier: MIT */
/* rseq.h: restartable sequences of a thread (rseq.c). */
#ifndef SOFTPMU_ENGINE_RSEQ_H
#define SOFTPMU_ENGINE_RSEQ_H

#include <stdbool.h>
#include <stdint.h>

struct accesses;
struct sigcontext;
struct step;

/* Notes the area that the kernel knows for the thread, or that there is none. */
void rseq_registered(uint64_t area, uint32_t bytes, uint32_t signature);
void rseq_unregistered(void);
/* Makes the kernel forget the area if the program is about to unmap this memory. */
void rseq_leave_area(uint64_t start, uint64_t bytes);
/* Returns whether the memory of the area is unmapped. */
bool rseq_area_is_gone(void);

/* Returns whether the kernel would refuse the descriptor that the area points to. */
bool rseq_is_refused(void);

/* Notes, after bulk code has run, the section that is armed now. */
void rseq_after_bulk(void);
/* Prepares the step at current->pc.  current->pc becomes the abort handler if the section is
 * aborted. */
void rseq_before_step(void);
/* Runs the instruction of a step if it arms a section.  Returns false if it does not. */
bool rseq_arm(const struct step *s, const struct accesses *list);
/* Returns where to enter the step's code: with a guard, if the thread is in a section. */
uint64_t rseq_guard(const struct step *s);
/* Ends the guard after the step. */
void rseq_after_step(void);
/* Aborts the section: the program continues at its abort handler. */
void rseq_abort(void);
/* Handles a signal after the kernel has aborted a guarded step: the engine's exit replaces the
 * abort.  Returns the step, or NULL if this did not happen. */
const struct step *rseq_aborted(struct sigcontext *regs);
/* Aborts the section, because the program is about to enter a handler at current->pc. */
void rseq_interrupted(void);

#endif
