/* SPDX-License-Identifier: MIT */
/* opened_wake.h: wakes who waits for an opened event (opened_wake.c). */
#ifndef SOFTPMU_ENGINE_OPENED_WAKE_H
#define SOFTPMU_ENGINE_OPENED_WAKE_H

#include <hosts/user/link.h>
#include <stdbool.h>
#include <stddef.h>

/* Stores the name of the event's FIFO. */
void opened_wake_name(uint32_t named, char *to, size_t bytes);

/* Makes the event's descriptors readable, which sends the signal that was asked for. */
void opened_wake(unsigned place);
/* The same for all events whose records go to the event's ring, except those that send a signal: a
 * signal comes with each sample. */
void opened_wake_readers(unsigned place);
/* Wakes all events that were opened on a task, which has ended. */
void opened_wake_ended(uint32_t tid);

#endif
