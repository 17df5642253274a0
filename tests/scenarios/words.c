/* SPDX-License-Identifier: MIT */
/* words.c: numbers, names of bits, registers and signals as scenarios write them. */
#include "scenario.h"

#include <stdlib.h>
#include <string.h>

static bool by_name(const struct scenario *s, const char *name, uint64_t *value)
{
	const struct {
		const char *name;
		uint64_t value;
	} names[] = {
		/* IA32_PERFEVTSELx (18.2.1.1) */
		{"USR", UINT64_C(1) << 16},
		{"OS", UINT64_C(1) << 17},
		{"EDGE", UINT64_C(1) << 18},
		{"INT", UINT64_C(1) << 20},
		{"ANY", UINT64_C(1) << 21},
		{"EN", UINT64_C(1) << 22},
		{"INV", UINT64_C(1) << 23},
		{"ADAPTIVE", UINT64_C(1) << 34},
		{"COUNT", UINT64_C(0x430000)},
		{"INSTRUCTIONS", 0xc0},
		{"BRANCHES", 0xc4},
		{"PRECISE", s->precise},
		/* IA32_PERF_GLOBAL_STATUS */
		{"CHANGED", UINT64_C(1) << 63},
		{"CAUSES", ~(UINT64_C(1) << 63)},
		{"OVFBUF", UINT64_C(1) << 62},
		{"CTR_FRZ", UINT64_C(1) << 59},
		{"LBR_FRZ", UINT64_C(1) << 58},
		/* IA32_DEBUGCTL (17.4.1) */
		{"LBR", 1},
		{"BTF", 2},
		{"TR", family_debugctl(s->family, 1 << 6)},
		{"BTS", family_debugctl(s->family, 1 << 7)},
		{"BTINT", family_debugctl(s->family, 1 << 8)},
		{"BTS_OFF_OS", family_debugctl(s->family, 1 << 9)},
		{"BTS_OFF_USR", family_debugctl(s->family, 1 << 10)},
		{"FREEZE_LBRS", 1 << 11},
		{"FREEZE_PERFMON", 1 << 12},
		{"FREEZE_SMM", 1 << 14},
		/* ESCRs and CCCRs (18.15.1, 18.15.3, 18.16.2) */
		{"T1_USR", 1},
		{"T1_OS", 2},
		{"T0_USR", 4},
		{"T0_OS", 8},
		{"THREAD0", 12},
		{"THREAD1", 3},
		{"TAG_ENABLE", 16},
		{"TAG", 1 << 5},
		{"MASK", 1 << 9},
		{"EVENT", 1 << 25},
		{"ENABLE", 1 << 12},
		{"ESCR", 1 << 13},
		{"ACTIVE", 1 << 16},
		{"ANY_ACTIVE", 3 << 16},
		{"COMPARE", 1 << 18},
		{"COMPLEMENT", 1 << 19},
		{"THRESHOLD", 1 << 20},
		{"RISING", 1 << 24},
		{"FORCE_OVF", 1 << 25},
		{"OVF_PMI_T0", 1 << 26},
		{"OVF_PMI_T1", 1 << 27},
		{"CASCADE", 1 << 30},
		{"OVF", UINT64_C(1) << 31},
		{"MY_THR", 1 << 25},
		{"OTH_THR", 1 << 26},
		/* instr_retired, branch_retired, front_end_event, execution_event, uop_type */
		{"INSTR_RETIRED", 2 << 25 | 1 << 9},
		{"BRANCH_RETIRED", 6 << 25 | 15 << 9},
		{"FRONT_END", 8 << 25 | 1 << 9},
		{"EXECUTION", 12 << 25},
		{"TAGLOADS", 2 << 25 | 2 << 9},
		{"TAGSTORES", 2 << 25 | 4 << 9},
		/* places and sizes of the test */
		{"area", SCENARIO_AREA + s->lp * SCENARIO_AREA_STEP},
		{"bts", SCENARIO_BTS + s->lp * SCENARIO_BTS_STEP},
		{"pebs", SCENARIO_PEBS + s->lp * SCENARIO_PEBS_STEP},
		{"record", scenario_record_bytes(s)},
		{"branch", scenario_area(s) ? scenario_area(s)->bts_bytes : 0},
		{"depth", s->family->lbr ? s->family->lbr->depth : 0},
		{"top", family_mask(s->family)},
		{"fixed_top", (UINT64_C(1) << s->family->fixed_bits) - 1},
		{"generals", s->threads == 2 ? s->family->generals_ht : s->family->generals},
		/* What CPUID leaf 0AH reports: less where the cores of a part differ. */
		{"reported_generals", s->family->common_generals ? s->family->common_generals
				      : s->threads == 2		 ? s->family->generals_ht
								 : s->family->generals},
		{"reported_fixed",
		 s->family->common_fixed ? s->family->common_fixed : s->family->fixed},
		{"fixed", s->family->fixed},
		{"buses", s->family->bus_counters},
		{"all_general",
		 (UINT64_C(1) << (s->threads == 2 ? s->family->generals_ht : s->family->generals)) -
			 1},
		{"all_fixed", ((UINT64_C(1) << s->family->fixed) - 1) << 32},
		{"version", s->family->version},
		{"format", (uint64_t)s->family->pebs_format},
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i].name)) {
			*value = names[i].value;
			return true;
		}
	return false;
}

/* Reads a name, a number or bitN, up to the next operator. *n*m multiplies. */
static bool term(const struct scenario *s, const char **at, uint64_t *value)
{
	size_t length = strcspn(*at, "|+-*");
	char name[64], *end;

	if (!length || length >= sizeof(name))
		return false;
	memcpy(name, *at, length);
	name[length] = 0;
	*at += length;
	if (!strncmp(name, "bit", 3) && name[3] >= '0' && name[3] <= '9') {
		*value = UINT64_C(1) << (strtoul(name + 3, &end, 10) & 63);
		return !*end;
	}
	if (name[0] >= '0' && name[0] <= '9') {
		*value = strtoull(name, &end, 0);
		return !*end;
	}
	return by_name(s, name, value);
}

static bool expression(const struct scenario *s, const char *at, uint64_t *value)
{
	uint64_t right;
	char sign = '+';

	*value = 0;
	if (*at == '-') {
		sign = '-';
		at++;
	}
	for (;;) {
		if (!term(s, &at, &right))
			return false;
		while (*at == '*') {
			uint64_t factor;

			at++;
			if (!term(s, &at, &factor))
				return false;
			right *= factor;
		}
		*value = sign == '+'   ? *value + right
			 : sign == '-' ? *value - right
				       : (*value | right);
		if (!*at)
			return true;
		sign = *at++;
	}
}

bool scenario_value(struct scenario *s, const char *word, uint64_t *value)
{
	return expression(s, word, value) || scenario_refuse(s, "value", word);
}

bool scenario_msr(struct scenario *s, const char *word, uint32_t *msr)
{
	uint64_t value;

	if (family_register(s->family, word, msr))
		return true;
	if (strncmp(word, "0x", 2) || !expression(s, word, &value))
		return scenario_refuse(s, "register", word);
	*msr = (uint32_t)value;
	return true;
}

bool scenario_signal(struct scenario *s, const char *word, uint64_t *signals)
{
	static const char *const names[] = {
#define SCENARIO_X(name, meaning) #name,
		SPMU_SIGNAL_LIST(SCENARIO_X)
#undef SCENARIO_X
	};

	if (!strcmp(word, "PRECISE")) {
		*signals = s->precise_signal;
		return true;
	}
	for (unsigned i = 0; i < SPMU_SIGNALS; i++)
		if (!strcmp(word, names[i])) {
			*signals = UINT64_C(1) << i;
			return true;
		}
	return scenario_refuse(s, "signal", word);
}

const char *scenario_option(const char *word, const char *key)
{
	size_t length = strlen(key);

	return !strncmp(word, key, length) && word[length] == '=' ? word + length + 1 : NULL;
}
