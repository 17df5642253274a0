/* SPDX-License-Identifier: MIT */
/* tool_samples.h: samples of the tool's events (tool_samples.c). */
#ifndef SOFTPMU_ENGINE_TOOL_SAMPLES_H
#define SOFTPMU_ENGINE_TOOL_SAMPLES_H

#include <softpmu/driver.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/count/units.h"

/* Returns whether the periods of event `e` differ: by its rate, or at random. */
bool tool_samples_vary(unsigned e);

/* Returns the next period of the event. */
uint64_t tool_samples_period(unsigned e);

/* Allocates what records need. */
void tool_samples_prepare(struct counting *c);

/* Writes a record for the tool. */
void tool_samples_take(const struct spmu_sample *sample);

#endif
