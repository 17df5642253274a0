/* SPDX-License-Identifier: MIT */
/* points.h: addresses at which the engine acts before the instruction runs (points.c). */
#ifndef SOFTPMU_ENGINE_POINTS_H
#define SOFTPMU_ENGINE_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#define POINT_NO_REGION UINT32_MAX

struct point {
	uint64_t address;
	uint32_t region; /* of the function that begins here; POINT_NO_REGION: a return address */
};

/* Returns the point at this address, or NULL. */
const struct point *points_find(uint64_t pc);
extern bool points_used;
static inline bool points_hold(uint64_t pc)
{
	return points_used && points_find(pc);
}

/* Adds a point.  No code there has been translated, or the caller forgets it and no other thread
 * runs. */
void points_add(uint64_t pc, uint32_t region);

/* A program begins: what the tool has found in the one before it does not matter. */
void points_start(void);
/* After a record of a mapping with code: waits until the tool has found the functions in it. */
void points_follow_mapping(void);

#endif
