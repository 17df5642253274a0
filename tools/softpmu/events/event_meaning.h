/* SPDX-License-Identifier: MIT */
/* event_meaning.h: how the count of an event is computed, as a sentence. */
#ifndef SOFTPMU_EVENT_MEANING_H
#define SOFTPMU_EVENT_MEANING_H

#include <softpmu/model.h>

/* Returns how the count of a row is computed on this host, to free(); NULL: it is not. */
char *event_meaning(const struct spmu_event *row);

#endif
