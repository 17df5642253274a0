/* SPDX-License-Identifier: MIT */
/*
 * event_names.h: an event name without modifiers to its code, and back.
 */
#ifndef SOFTPMU_EVENT_NAMES_H
#define SOFTPMU_EVENT_NAMES_H

#include <softpmu/model.h>

/* Fields of IA32_PERFEVTSELx that an event can carry (Vol. 3B 18.2.1.1, 18.2.2). */
#define SELECT_CODE	UINT64_C(0xff000000ffff) /* event select 7:0, unit masks 15:8 and 47:40 */
#define SELECT_USR	(UINT64_C(1) << 16)
#define SELECT_EDGE	(UINT64_C(1) << 18)
#define SELECT_ANY	(UINT64_C(1) << 21)
#define SELECT_INV	(UINT64_C(1) << 23)
#define SELECT_CMASK	(UINT64_C(0xff) << 24)
#define SELECT_CMASK_AT 24
/* What can belong to a row of a model's table. */
#define SELECT_CONDITION (SELECT_EDGE | SELECT_INV | SELECT_CMASK)
/* What an event chooses.  The driver sets privilege, enable, interrupt and pin control. */
#define SELECT_CHOSEN (SELECT_CODE | SELECT_EDGE | SELECT_ANY | SELECT_INV | SELECT_CMASK)

struct event_code {
	const struct spmu_event *row; /* NULL: not in the model's table */
	uint64_t select;	      /* the bits of SELECT_CHOSEN */
	uint64_t code;		      /* as in struct spmu_event */
	uint32_t tagger;	      /* as in struct spmu_request */
	int fixed;		      /* the fixed counter that counts the same, or -1 */
	bool fixed_only;	      /* no general counter counts it */
	uint32_t perf_type;
	uint64_t perf_config;
	uint64_t load_threshold; /* from a name such as LOAD_LATENCY_GT_32; 0: none */
	uint64_t frontend;	 /* from a name such as FRONTEND_RETIRED.L1I_MISS; 0: none */
	uint64_t offcore;	 /* from a name such as OFFCORE_RESPONSE_0:DMND_RFO; 0: none */
	bool extra;		 /* it needs a further MSR that the model does not have */
};

/*
 * Finds a name among perf's generic names, rCODE, the model's table and libpfm4's table.  '.' and
 * ':' are the same between parts.  Ignores case.
 */
bool event_names_find(const struct spmu_model *model, const char *name, struct event_code *code);

/* Sets *code from a code of struct spmu_event: for event selects a value of IA32_PERFEVTSELx. */
void event_names_raw(const struct spmu_model *model, uint64_t select, struct event_code *code);

/* Returns perf's generic name number `index`, NULL after the last one.  Sets *code to its code and
 * *row to the model's row, or NULL. */
const char *event_names_generic(const struct spmu_model *model, size_t index,
				const struct spmu_event **row, uint64_t *code);

/* Returns perf's name number `index` of an event of caches, NULL after the last one. */
const char *event_names_cache(size_t index);

/*
 * Returns the name of an event select's value with its modifiers, to free():
 * "BR_INST_RETIRED.NEAR_TAKEN:c=2:i".  The name is the model's, otherwise libpfm4's, otherwise
 * "rUUEE".
 */
char *event_names_of_select(const struct spmu_model *model, uint64_t select);

/* Returns up to three similar names, "a, b or c", to free(), or NULL. */
char *event_names_similar(const struct spmu_model *model, const char *wanted);

#endif
