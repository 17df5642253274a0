/* SPDX-License-Identifier: MIT */
/* flow_log.h: the buffer of a thread's log of control flow (flow_log.c). */
#ifndef SOFTPMU_ENGINE_FLOW_LOG_H
#define SOFTPMU_ENGINE_FLOW_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* Adds a record with these words (hosts/user/link.h).  Returns the place of those that follow, one
 * for each meter. */
int64_t *flow_log_next(uint64_t from, uint64_t to, uint64_t third);
/* Adds the record of a branch that was counted.  0 is no address. */
int64_t *flow_log_counted(uint64_t from, uint64_t to, uint64_t times);
/* Adds the record of a meter.  `held`: how much of its headroom translated code does not have now.
 * The calls that have not returned stay the newest records. */
void flow_log_meter(unsigned m, int64_t held);
/* Gives the tool what has been logged. */
void flow_log_hand_over(void);
/* Forgets it. */
void flow_log_discard(void);
/* Returns whether translated code faulted at this address because the log is full. */
bool flow_log_full_at(uint64_t address);
/* Empties a full log.  Returns where logging continues. */
uint64_t flow_log_make_room(void);

#endif
