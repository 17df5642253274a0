/* SPDX-License-Identifier: MIT */
/*
 * event_costs.h: what each instruction costs of the events of the run (LINK_WANT_EVENT_COSTS).
 */
#ifndef SOFTPMU_ENGINE_EVENT_COSTS_H
#define SOFTPMU_ENGINE_EVENT_COSTS_H

#include <softpmu/uarch.h>
#include <softpmu/unit.h>
#include <stdbool.h>
#include <stdint.h>

struct activity;
struct insn_cost;

/* Returns whether the costs are those of events. */
bool event_costs_wanted(void);

/* Event `e` counts what this meter counts, too. */
void event_costs_add(unsigned e, const struct spmu_meter *meter);

/* An instruction has these signals whenever it retires. */
void event_costs_describe(struct insn_cost *insn, uint64_t signals);

/* Returns whether the model must be told of accesses. */
bool event_costs_need_accesses(void);

/* Each of these needs a model that knows everything up to here. */

/* The instruction has retired once.  `accessed`: the model was told of accesses or fetches.
 * `idle`: it repeated zero times, and accessed no memory. */
void event_costs_retire(struct activity *a, struct insn_cost *insn, bool accessed, bool idle);
/* It has ended in a branch. */
void event_costs_branch(struct activity *a, struct insn_cost *insn,
			const struct spmu_executed_branch *branch);
/* What the model has counted since the last time belongs to the instruction. */
void event_costs_count(struct activity *a, struct insn_cost *insn);
/* The same, and it belongs to none. */
void event_costs_skip(struct activity *a);

/* The instruction has accessed memory; a call or return shows the stack pointer by that. */
void event_costs_access(struct activity *a, uint64_t address, uint32_t bytes, unsigned kind);

#endif
