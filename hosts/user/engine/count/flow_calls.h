/* SPDX-License-Identifier: MIT */
/* flow_calls.h: the records of calls and jumps, as they are in the process (flow_calls.c). */
#ifndef SOFTPMU_ENGINE_FLOW_CALLS_H
#define SOFTPMU_ENGINE_FLOW_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns what the first word of a record of a taken branch has besides the address.  The function
 * that it goes to becomes active. */
uint64_t flow_calls_kind(uint64_t to, uint64_t signals);

/* Returns whether these are the first words of a call that has not returned. */
bool flow_calls_is_open(uint64_t from, uint64_t to);

/* Makes the records of a buffer what the tool expects, and learns from them. */
void flow_calls_convert(void *records, size_t count);

#endif
