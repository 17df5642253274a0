/* SPDX-License-Identifier: MIT */
/* opened_samples.h: samples of opened events (opened_samples.c). */
#ifndef SOFTPMU_ENGINE_OPENED_SAMPLES_H
#define SOFTPMU_ENGINE_OPENED_SAMPLES_H

#include <softpmu/driver.h>

#include "engine/count/opened.h"

/* The tags of their samples: this, and the place of the event. */
#define OPENED_TAG UINT32_C(0x80000000)

/* Adds the event, which samples, to the set of the running task. */
enum spmu_status opened_samples_add(struct opened_event *e, struct spmu_request *request,
				    unsigned *number);

/* The sink of the driver for a sample of the unit: makes a record, and signals. */
void opened_samples_take(const struct spmu_sample *unit);

#endif
