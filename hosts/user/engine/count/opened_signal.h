/* SPDX-License-Identifier: MIT */
/* opened_signal.h: signals of opened events (opened_signal.c). */
#ifndef SOFTPMU_ENGINE_OPENED_SIGNAL_H
#define SOFTPMU_ENGINE_OPENED_SIGNAL_H

#include <asm/siginfo.h>

/* A signal has arrived: says that it is the last one, if it is of an event that is off by now. */
void opened_signal_arrived(siginfo_t *info);

#endif
