/* SPDX-License-Identifier: MIT */
/*
 * steps.h: the record that the single-stepper writes for each retired instruction, and the
 * events that the tests compare, as sets of signals.  The table is the tests' own reading of the
 * manual's event list (Vol.  3B chapter 19, 6th generation Core), not the model's.
 *
 */
#ifndef SOFTPMU_TESTS_STEPS_H
#define SOFTPMU_TESTS_STEPS_H

#include <softpmu/signals.h>

struct step {
	uint64_t ip;
	uint64_t signals;
	uint64_t data_address;	/* of the memory operand that it loads, or else stores; 0: none */
	uint64_t store_address; /* of the one that it stores; 0: none */
	uint32_t flags_read;	/* of RFLAGS */
	uint32_t flags_written; /* undefined ones included */
};

/* CF, PF, AF, ZF, SF and OF: what arithmetic changes. */
#define STEP_ARITHMETIC_FLAGS 0x8d5u

/* General registers after an instruction, in perf's names; `-r` of the single-stepper. */
#define STEP_REGISTERS 18
static const char *const step_register_names[STEP_REGISTERS] = {
	"AX", "BX", "CX",  "DX",  "SI",	 "DI",	"BP",  "SP",  "IP",
	"R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15", "FLAGS",
};
struct step_registers {
	uint64_t value[STEP_REGISTERS];
};

struct step_event {
	const char *key;   /* in counts and in `expect:` lines */
	const char *event; /* for -e */
	uint64_t signals;
};

static const struct step_event step_events[] = {
	{"instructions", "instructions:u", SPMU_SIGBIT(INSTRUCTIONS)},
	{"branches", "branches:u", SPMU_SIGSET_BRANCHES},
	{"cond", "BR_INST_RETIRED.CONDITIONAL:u",
	 SPMU_SIGBIT(COND_TAKEN) | SPMU_SIGBIT(COND_NTAKEN)},
	{"not_taken", "BR_INST_RETIRED.NOT_TAKEN:u", SPMU_SIGBIT(COND_NTAKEN)},
	{"taken", "BR_INST_RETIRED.NEAR_TAKEN:u",
	 SPMU_SIGSET_BRANCHES & ~(SPMU_SIGBIT(COND_NTAKEN) | SPMU_SIGBIT(FAR))},
	{"call", "BR_INST_RETIRED.NEAR_CALL:u", SPMU_SIGBIT(CALL_REL) | SPMU_SIGBIT(CALL_IND)},
	{"ret", "BR_INST_RETIRED.NEAR_RETURN:u", SPMU_SIGBIT(RET_NEAR)},
	{"far", "BR_INST_RETIRED.FAR_BRANCH:u", SPMU_SIGBIT(FAR)},
	{"loads", "MEM_INST_RETIRED.ALL_LOADS:u", SPMU_SIGBIT(LOADS)},
	{"stores", "MEM_INST_RETIRED.ALL_STORES:u", SPMU_SIGBIT(STORES)},
	{"locks", "MEM_INST_RETIRED.LOCK_LOADS:u", SPMU_SIGBIT(LOCK_LOADS)},
	{NULL, NULL, 0},
};

#endif
