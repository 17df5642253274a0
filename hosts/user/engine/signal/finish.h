/* SPDX-License-Identifier: MIT */
/* finish.h: the end of a thread or a process (finish.c). */
#ifndef SOFTPMU_ENGINE_FINISH_H
#define SOFTPMU_ENGINE_FINISH_H

#include "engine/signal/signals.h"

/* Completes counts and records, because the program is about to end. */
void finish_process(void);

/* Completes those of the running thread. */
void finish_thread(void);

/* Ends the program with this status, by exit(2) or exit_group(2). */
_Noreturn void finish_by_exit(long nr, int status);

#endif
