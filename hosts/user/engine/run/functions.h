/* SPDX-License-Identifier: MIT */
/* functions.h: functions whose calls are regions (functions.c). */
#ifndef SOFTPMU_ENGINE_FUNCTIONS_H
#define SOFTPMU_ENGINE_FUNCTIONS_H

/* Precise mode: the program is at a point (points.h). */
void functions_at_point(void);

#endif
