/* SPDX-License-Identifier: MIT */
/* headroom.h: how much headroom a meter has (headroom.c). */
#ifndef SOFTPMU_ENGINE_HEADROOM_H
#define SOFTPMU_ENGINE_HEADROOM_H

#include <stdint.h>

/* Returns the headroom of meter m, wherever it is. */
int64_t headroom_left(unsigned m);
/* Returns the part of it that bulk code does not have. */
int64_t headroom_held(unsigned m);
/* Returns what bulk code may get of it: all but the reserve. */
int64_t headroom_of_bulk(unsigned m);

#endif
