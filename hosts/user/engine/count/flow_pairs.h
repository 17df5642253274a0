/* SPDX-License-Identifier: MIT */
/* flow_pairs.h: where the indirect branches of a thread go (flow_pairs.c). */
#ifndef SOFTPMU_ENGINE_FLOW_PAIRS_H
#define SOFTPMU_ENGINE_FLOW_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

/* An indirect branch was logged: a call, or a jump. */
void flow_pairs_learn(uint64_t from, uint64_t to, bool is_call);
/* The same of a jump out of a linkage table, which the call with that place of sums has entered. */
void flow_pairs_learn_stub(uint32_t place, uint64_t from, uint64_t to);

/* Calls `log` with each jump that was counted, and how often.  All: or only those that had to make
 * room for others. */
typedef int64_t *flow_pairs_log(uint64_t from, uint64_t to, uint64_t times);
void flow_pairs_drain(flow_pairs_log *log, bool all);
/* Forgets everything. */
void flow_pairs_clear(void);

#endif
