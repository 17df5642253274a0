/* SPDX-License-Identifier: MIT */
/*
 * row.h: macros for the rows of the event lists in this folder.
 *
 *	EVENT(code, name, fields...)
 *	FIXED_EVENT(fixed, code, name, fields...)
 * The fields are those of struct spmu_event, by name.  A field that a row leaves out is 0.  An
 * event without .signals and .tally is absent on every host, because nothing describes it.
 * FIXED_EVENT: the fixed counter `fixed` counts the event, too.  .section names the manual's
 * section, or the generation whose table lists the event if the edition has none.  .instead names a
 * tally that counts the same better, on hosts that have it.
 *
 * A list has the events that signals and tallies describe, those that the manual calls precise,
 * and those that only some counters can count.  A code without a row counts nothing.
 */
#ifndef SPMU_DATA_EVENTS_ROW_H
#define SPMU_DATA_EVENTS_ROW_H

#include <softpmu/signals.h>

#define EVENT(code_, name_, ...) FIXED_EVENT(-1, code_, name_, __VA_ARGS__)
#define FIXED_EVENT(fixed_, code_, name_, ...)                                                     \
	{                                                                                          \
		.code = (code_), .name = (name_), .fixed = (fixed_), __VA_ARGS__                   \
	}

#define EV_ALL 0xffu /* any general counter */
#define EV_LOW 0x0fu /* IA32_PMC0 to IA32_PMC3 */

/* Conditions that belong to an event. */
#define CMASK(n) ((uint32_t)(n) << 24)
#define INV	 (1u << 23)
#define EDGE	 (1u << 18)

#define S(name)	 SPMU_SIGBIT(name)
#define T(name)	 SPMU_TALLY_##name
#define EV_COND	 (S(COND_TAKEN) | S(COND_NTAKEN))
#define EV_CALLS (S(CALL_REL) | S(CALL_IND))
#define EV_NEAR_TAKEN                                                                              \
	(S(COND_TAKEN) | S(CALL_REL) | S(CALL_IND) | S(RET_NEAR) | S(JMP_REL) | S(JMP_IND))

/* Micro-operations, modelled: each instruction issues, executes and retires one; or those of a
 * model of time. */
#define EV_UOPS	       S(INSTRUCTIONS)
#define EV_UOPS_OF(of) .signals = EV_UOPS, .instead = T(of)

/* Branches of some kinds that were mispredicted, or predicted correctly. */
#define EV_MISSED(kinds)    ((kinds) | S(BRANCH_MISS))
#define EV_PREDICTED(kinds) ((kinds) | S(BRANCH_PREDICTED))

/* Computations of one width. A fused multiply-add counts as two. */
#define EV_FP(width) (S(FP_##width) | S(FMA_##width))

#endif
