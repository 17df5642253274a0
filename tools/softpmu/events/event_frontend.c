/* SPDX-License-Identifier: MIT */
/*
 * event_frontend.c: Intel's names of the conditions of FRONTEND_RETIRED, with the values of
 * MSR_PEBS_FRONTEND from Intel's event lists (18.13.1.4).
 */
#include "tools/softpmu/events/event_frontend.h"

#include <strings.h>

static const char event_name[] = "FRONTEND_RETIRED";

/* The fields of the register are EVTSEL, a time in clocks, and the number of slots that were empty:
 * all six. */
#define LATENCY(clocks)                                                                            \
	{                                                                                          \
		"FRONTEND_RETIRED.LATENCY_GE_" #clocks, 0x06 | (clocks) << 8 | 6 << 20,            \
			"instructions after the front end gave nothing for " #clocks " clocks"     \
	}

static const struct {
	const char *name;
	uint32_t value;
	const char *meaning;
} conditions[] = {
	{"FRONTEND_RETIRED.ANY_ANT", 0x09, "instructions after a branch that was corrected early"},
	{"FRONTEND_RETIRED.ANY_DSB_MISS", 0x01, "instructions after a miss of the decoded cache"},
	{"FRONTEND_RETIRED.DSB_MISS", 0x11,
	 "instructions after a miss of the decoded cache that delayed the back end"},
	{"FRONTEND_RETIRED.ITLB_MISS", 0x14, "instructions after a miss of the first-level TLB"},
	{"FRONTEND_RETIRED.L1I_MISS", 0x12, "instructions after a miss of the first-level cache"},
	{"FRONTEND_RETIRED.L2_MISS", 0x13, "instructions after a miss of the second-level cache"},
	{"FRONTEND_RETIRED.STLB_MISS", 0x15, "instructions after a miss of the second-level TLB"},
	{"FRONTEND_RETIRED.MS_FLOWS", 0x08, "instructions from the microcode sequencer"},
	{"FRONTEND_RETIRED.UNKNOWN_BRANCH", 0x17, "instructions after a branch not known before"},
	{"FRONTEND_RETIRED.LATENCY_GE_2_BUBBLES_GE_1", 0x06 | 2 << 8 | 1 << 20,
	 "instructions after 2 clocks in which the front end left a slot empty"},
	LATENCY(2),
	LATENCY(4),
	LATENCY(8),
	LATENCY(16),
	LATENCY(32),
	LATENCY(64),
	LATENCY(128),
	LATENCY(256),
	LATENCY(512),
};
#define CONDITIONS (sizeof(conditions) / sizeof(conditions[0]))

static const struct spmu_event *row_of(const struct spmu_model *model)
{
	if (spmu_model_describe(model).pfm)
		return NULL;
	for (size_t i = 0; i < spmu_event_count(model); i++)
		if (!strcasecmp(spmu_event_at(model, i)->name, event_name))
			return spmu_event_at(model, i);
	return NULL;
}

const char *event_frontend_name(const struct spmu_model *model, size_t index, const char **meaning)
{
	if (index >= CONDITIONS || !row_of(model))
		return NULL;
	*meaning = conditions[index].meaning;
	return conditions[index].name;
}

bool event_frontend_find(const struct spmu_model *model, const char *name, struct event_code *code)
{
	const struct spmu_event *row = row_of(model);

	for (size_t i = 0; row && i < CONDITIONS; i++) {
		if (strcasecmp(conditions[i].name, name))
			continue;
		event_names_raw(model, row->code, code);
		code->row = row;
		code->frontend = conditions[i].value;
		return true;
	}
	return false;
}
