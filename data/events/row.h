/* SPDX-License-Identifier: MIT */
/*
 * row.h: words in which the event lists of this folder are written.
 *
 *	X(code, name, signals, fidelity, counters, pebs, fixed, data, section, description)
 * code: unit mask in 15:8, event select in 7:0.  counters and pebs: bit n is PMCn; on pebs the
 * event is precise.  fixed: the fixed counter that counts the same, or -1.  data: 1 when the PEBS
 * record has a data linear address.  section: of the manual, or the generation whose table it is
 * when the edition has none.  An event without signals is absent on every host: nothing that a
 * host reports describes it.
 *
 * A list names what signals describe, what the manual calls precise, and what only some counters
 * can count.  A code without a row counts nothing.
 */
#ifndef SPMU_DATA_EVENTS_ROW_H
#define SPMU_DATA_EVENTS_ROW_H

#include <softpmu/signals.h>

#define EV_ALL 0xffu /* any general counter */
#define EV_LOW 0x0fu /* IA32_PMC0 to IA32_PMC3 */

#define S(name)	 SPMU_SIGBIT(name)
#define EV_COND	 (S(COND_TAKEN) | S(COND_NTAKEN))
#define EV_CALLS (S(CALL_REL) | S(CALL_IND))
#define EV_NEAR_TAKEN                                                                              \
	(S(COND_TAKEN) | S(CALL_REL) | S(CALL_IND) | S(RET_NEAR) | S(JMP_REL) | S(JMP_IND))

/* Micro-operations, modelled: one for each instruction, which issues, executes and retires. */
#define EV_UOPS S(INSTRUCTIONS)

/* Branches of some kinds that were mispredicted, and that were not. */
#define EV_MISSED(kinds)    ((kinds) | S(BRANCH_MISS))
#define EV_PREDICTED(kinds) ((kinds) | S(BRANCH_PREDICTED))

/* Computations of one width, both operations of a fused multiply-add. */
#define EV_FP(width) (S(FP_##width) | S(FMA_##width))

#endif
