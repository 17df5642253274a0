/* SPDX-License-Identifier: MIT */
/* flow_sums.h: what a thread has counted of calls and indirect jumps (flow_sums.c). */
#ifndef SOFTPMU_ENGINE_FLOW_SUMS_H
#define SOFTPMU_ENGINE_FLOW_SUMS_H

/* Moves it to the log. */
void flow_sums_drain(void);
/* Forgets it. */
void flow_sums_clear(void);

#endif
