/* SPDX-License-Identifier: MIT */
/*
 * event_offcore.c: Intel's names of off-core responses from Haswell to Skylake (18.9.5, 18.13.2).
 *
 * A name has the kind of request and the response.  The response is ANY_RESPONSE, or the supplier
 * and the outcome of snoops.  Their bits are those of Intel's event lists.  libpfm4 has other names
 * for the same bits.
 */
#include "tools/softpmu/events/event_offcore.h"

#include <string.h>
#include <strings.h>

struct part {
	const char *name; /* NULL: the end of the list */
	uint64_t bits;
};

static const struct part requests[] = {
	{"DEMAND_DATA_RD", 0x1}, {"DEMAND_RFO", 0x2},	    {"DEMAND_CODE_RD", 0x4},
	{"COREWB", 0x8},	 {"PF_L2_DATA_RD", 0x10},   {"PF_L2_RFO", 0x20},
	{"PF_L2_CODE_RD", 0x40}, {"PF_L3_DATA_RD", 0x80},   {"PF_LLC_DATA_RD", 0x80},
	{"PF_L3_RFO", 0x100},	 {"PF_LLC_RFO", 0x100},	    {"PF_L3_CODE_RD", 0x200},
	{"ALL_RFO", 0x122},	 {"PF_LLC_CODE_RD", 0x200}, {"ALL_PF_RFO", 0x120},
	{"ALL_CODE_RD", 0x244},	 {"ALL_PF_CODE_RD", 0x240}, {"ALL_READS", 0x7f7},
	{"OTHER", 0x8000},	 {"ALL_REQUESTS", 0x8fff},  {NULL, 0},
};

/* Reads of data by demand and by prefetchers. */
static const struct part client_data[] = {
	{"ALL_DATA_RD", 0x91}, {"ALL_PF_DATA_RD", 0x90}, {NULL, 0}};
static const struct part server_data[] = {
	{"ALL_DATA_RD", 0x491}, {"ALL_PF_DATA_RD", 0x490}, {"PF_L1D_AND_SW", 0x400}, {NULL, 0}};

/* Responses.  Bit 16 of the register is bit 0 here.  The bits of suppliers are below those of
 * outcomes. */
#define ANY_RESPONSE  0x1
#define FIRST_OUTCOME 0x4000

static const struct part haswell[] = {
	{"L3_HIT.ANY_RESPONSE", 0x3f803c},	   {"L3_HIT.HITM_OTHER_CORE", 0x10003c},
	{"L3_HIT.HIT_OTHER_CORE_NO_FWD", 0x4003c}, {"L3_MISS.ANY_RESPONSE", 0x3fffc0},
	{"L3_MISS.LOCAL_DRAM", 0x10040},	   {NULL, 0},
};

static const struct part haswell_server[] = {
	{"LLC_HIT.ANY_RESPONSE", 0x3f803c},
	{"LLC_HIT.HITM_OTHER_CORE", 0x10003c},
	{"LLC_HIT.HIT_OTHER_CORE_NO_FWD", 0x4003c},
	{"LLC_MISS.ANY_RESPONSE", 0x3fbfc0},
	{"LLC_MISS.LOCAL_DRAM", 0x60040},
	{"LLC_MISS.REMOTE_DRAM", 0x63f80},
	{"LLC_MISS.REMOTE_HITM", 0x103fc0},
	{"LLC_MISS.REMOTE_HIT_FORWARD", 0x83fc0},
	{NULL, 0},
};

static const struct part broadwell_server[] = {
	{"LLC_HIT.ANY_RESPONSE", 0x3f803c},
	{"LLC_HIT.HITM_OTHER_CORE", 0x10003c},
	{"LLC_HIT.HIT_OTHER_CORE_NO_FWD", 0x4003c},
	{"LLC_MISS.ANY_RESPONSE", 0x3fbfc0},
	{"LLC_MISS.LOCAL_DRAM", 0x60400},
	{"LLC_MISS.REMOTE_DRAM", 0x63bc0},
	{"LLC_MISS.REMOTE_HITM", 0x103fc0},
	{"LLC_MISS.REMOTE_HIT_FORWARD", 0x87fc0},
	{NULL, 0},
};

/* These lists have each supplier with each outcome. */
#define OUTCOMES                                                                                   \
	{"SNOOP_NONE", 0x8000}, {"SNOOP_NOT_NEEDED", 0x10000}, {"SNOOP_MISS", 0x20000},            \
		{"SNOOP_HIT_NO_FWD", 0x40000}, {"SNOOP_HITM", 0x100000},                           \
	{                                                                                          \
		"SNOOP_NON_DRAM", 0x200000                                                         \
	}

static const struct part broadwell[] = {
	{"ANY_RESPONSE", ANY_RESPONSE},
	{"SUPPLIER_NONE", 0x2},
	{"L3_HIT", 0x3c},
	{"L3_MISS", 0x3c00},
	{"L3_MISS_LOCAL_DRAM", 0x400},
	{"ANY_SNOOP", 0x3f8000},
	OUTCOMES,
	{NULL, 0},
};

static const struct part skylake[] = {
	{"ANY_RESPONSE", ANY_RESPONSE},
	{"SUPPLIER_NONE", 0x2},
	{"L3_HIT_M", 0x4},
	{"L3_HIT_E", 0x8},
	{"L3_HIT_S", 0x10},
	{"L3_HIT", 0x1c},
	{"L4_HIT_LOCAL_L4", 0x40},
	{"L3_MISS", 0x3c40},
	{"L3_MISS_LOCAL_DRAM", 0x400},
	{"SPL_HIT", 0x4000},
	{"ANY_SNOOP", 0x3fc000},
	OUTCOMES,
	{NULL, 0},
};

static const struct part skylake_server[] = {
	{"ANY_RESPONSE", ANY_RESPONSE},
	{"L3_HIT.ANY_SNOOP", 0x3f803c},
	{"L3_HIT.HITM_OTHER_CORE", 0x10003c},
	{"L3_HIT.HIT_OTHER_CORE_FWD", 0x8003c},
	{"L3_HIT.HIT_OTHER_CORE_NO_FWD", 0x4003c},
	{"L3_HIT.NO_SNOOP_NEEDED", 0x1003c},
	{"L3_HIT.SNOOP_HIT_WITH_FWD", 0x8003c},
	{"L3_MISS.ANY_SNOOP", 0x3fbc00},
	{"L3_MISS.REMOTE_HITM", 0x103fc0},
	{"L3_MISS.REMOTE_HIT_FORWARD", 0x83fc0},
	{"L3_MISS.SNOOP_MISS_OR_NO_FWD", 0x63fc0},
	{"L3_MISS_LOCAL_DRAM.SNOOP_MISS_OR_NO_FWD", 0x60400},
	{"L3_MISS_REMOTE_DRAM.SNOOP_MISS_OR_NO_FWD", 0x63b80},
	{NULL, 0},
};

static const struct generation {
	const char *pfm; /* libpfm4's name of the model */
	const struct part *data, *responses;
} generations[] = {
	{"hsw", client_data, haswell},	 {"hsw_ep", client_data, haswell_server},
	{"bdw", client_data, broadwell}, {"bdw_ep", client_data, broadwell_server},
	{"skl", client_data, skylake},	 {"skx", server_data, skylake_server},
};

static const struct generation *generation_of(const struct spmu_model *model)
{
	const char *pfm = spmu_model_describe(model).pfm;

	for (size_t i = 0; pfm && i < sizeof(generations) / sizeof(generations[0]); i++)
		if (!strcmp(generations[i].pfm, pfm))
			return &generations[i];
	return NULL;
}

/* Returns the bits of the part with this name, or 0. */
static uint64_t find(const struct part *list, const char *name, size_t length)
{
	for (; list->name; list++)
		if (strlen(list->name) == length && !strncasecmp(list->name, name, length))
			return list->bits;
	return 0;
}

static uint64_t bits_of_response(const struct part *responses, const char *name)
{
	const char *dot = strchr(name, '.');
	uint64_t all = find(responses, name, strlen(name)), supplier, outcome;

	if (!dot)
		return all == ANY_RESPONSE ? all : 0;
	if (all)
		return all;
	supplier = find(responses, name, (size_t)(dot - name));
	outcome = find(responses, dot + 1, strlen(dot + 1));
	return supplier > ANY_RESPONSE && supplier < FIRST_OUTCOME && outcome >= FIRST_OUTCOME
		       ? supplier | outcome
		       : 0;
}

/* Returns the register's value for a name after "OFFCORE_RESPONSE.", or 0. */
static uint64_t value_of(const struct generation *generation, const char *name)
{
	const char *dot = strchr(name, '.');
	uint64_t request, response;

	if (!dot)
		return 0;
	request = find(requests, name, (size_t)(dot - name));
	if (!request)
		request = find(generation->data, name, (size_t)(dot - name));
	response = bits_of_response(generation->responses, dot + 1);
	return request && response ? request | response << 16 : 0;
}

bool event_offcore_find(const struct spmu_model *model, const char *name, struct event_code *code)
{
	static const char beginning[] = "OFFCORE_RESPONSE.";
	const struct generation *generation = generation_of(model);
	uint64_t value;

	if (!generation || strncasecmp(name, beginning, sizeof(beginning) - 1))
		return false;
	value = value_of(generation, name + sizeof(beginning) - 1);
	if (!value)
		return false;
	event_names_raw(model, 0x01b7, code);
	code->row = spmu_event_by_code(model, 0x01b7);
	code->offcore = value;
	return true;
}
