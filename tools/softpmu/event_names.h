/* SPDX-License-Identifier: MIT */
/*
 * event_names.h: one event name, without modifiers, to its code; and back.
 */
#ifndef SOFTPMU_EVENT_NAMES_H
#define SOFTPMU_EVENT_NAMES_H

#include <softpmu/model.h>

/* Fields of IA32_PERFEVTSELx that an event can carry (Vol. 3B 18.2.1.1, 18.2.2). */
#define SELECT_CODE	UINT64_C(0xffff) /* event select 7:0, unit mask 15:8 */
#define SELECT_USR	(UINT64_C(1) << 16)
#define SELECT_EDGE	(UINT64_C(1) << 18)
#define SELECT_ANY	(UINT64_C(1) << 21)
#define SELECT_INV	(UINT64_C(1) << 23)
#define SELECT_CMASK	(UINT64_C(0xff) << 24)
#define SELECT_CMASK_AT 24
/* What software may choose; privilege, enable, interrupt and pin control are the driver's. */
#define SELECT_CHOSEN (SELECT_CODE | SELECT_EDGE | SELECT_ANY | SELECT_INV | SELECT_CMASK)

struct event_code {
	const struct spmu_event *row; /* NULL: the model's table does not have it */
	uint64_t select;	      /* of SELECT_CHOSEN; code and unit mask only there */
	uint32_t code;		      /* as struct spmu_event has it */
	uint32_t tagger;	      /* as struct spmu_request has it */
	int fixed;		      /* the fixed counter that counts the same, or -1 */
	bool fixed_only;	      /* no general counter counts it */
	uint32_t perf_type;
	uint64_t perf_config;
	bool extra; /* it needs a further MSR (off-core response, front end) */
};

/*
 * Find a name: perf's generic ones, rCODE, the model's table, libpfm4's table.  Parts may be
 * separated by '.' or ':', case is ignored.
 */
bool event_code_find(const struct spmu_model *model, const char *name, struct event_code *code);

/* The code from its fields alone: of IA32_PERFEVTSELx, or where the family programs its counters
 * in another way the code of struct spmu_event. */
void event_code_raw(const struct spmu_model *model, uint64_t select, struct event_code *code);

/* Up to three similar names, "a, b or c", to free(); NULL when nothing is alike. */
char *event_names_similar(const struct spmu_model *model, const char *name);

#endif
