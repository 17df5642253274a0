/* SPDX-License-Identifier: MIT */
/*
 * area.c: the DS save area as software lays it out and reads it (17.4.9, tables 18-13, 18-23, 18-44
 * and 18-55; adaptive records by their groups). It is typed by hand and does not use the library's
 * layouts.
 */
#include "scenario.h"

#include <stdlib.h>
#include <string.h>

const struct family_area *scenario_area(const struct scenario *s)
{
	return s->ia32e || s->family->dtes64 || !s->family->area_legacy ? s->family->area
									: s->family->area_legacy;
}

unsigned scenario_record_bytes(const struct scenario *s)
{
	static const unsigned bytes[] = {0x90, 0xb0, 0xc0, 0xc8, 0x20};

	if (s->family->adaptive)
		return bytes[4];
	if (s->family->pebs_format < 0 || s->family->pebs_format > 3)
		return 0;
	if (scenario_area(s)->field == 4)
		return 0x28;
	return bytes[s->family->pebs_format];
}

bool scenario_area_field(const struct scenario *s, const char *name, uint64_t *linear,
			 unsigned *bytes)
{
	static const char *const names[] = {"bts_base",	     "bts_index",     "bts_maximum",
					    "bts_threshold", "pebs_base",     "pebs_index",
					    "pebs_maximum",  "pebs_threshold"};
	const struct family_area *area = scenario_area(s);
	uint64_t start = SCENARIO_AREA + s->lp * SCENARIO_AREA_STEP;

	if (!area)
		return false;
	*bytes = area->field;
	for (unsigned i = 0; i < 8; i++)
		if (!strcmp(name, names[i])) {
			*linear = start + (uint64_t)i * area->field;
			return true;
		}
	*bytes = 8;
	if (!strncmp(name, "reset", 5) && name[5] >= '0' && name[5] < '0' + area->resets) {
		*linear = start + area->reset_at + 8u * (unsigned)(name[5] - '0');
		return !name[6];
	}
	if (!strncmp(name, "fixed_reset", 11) && name[11] >= '0' &&
	    name[11] < '0' + area->fixed_resets) {
		*linear = start + area->fixed_reset_at + 8u * (unsigned)(name[11] - '0');
		return !name[12];
	}
	return false;
}

static bool put(struct scenario *s, const char *name, uint64_t value)
{
	uint64_t linear;
	unsigned bytes;

	if (!scenario_area_field(s, name, &linear, &bytes))
		return scenario_refuse(s, "field of the DS area", name);
	scenario_store(s, linear, bytes, value);
	return true;
}

/*
 * Makes empty buffers for this many records. The thresholds are after the end unless the line sets
 * them.
 */
static bool lay_out(struct scenario *s, uint64_t pebs, uint64_t bts, uint64_t pebs_bytes)
{
	uint64_t bts_base = SCENARIO_BTS + s->lp * SCENARIO_BTS_STEP;
	uint64_t pebs_base = SCENARIO_PEBS + s->lp * SCENARIO_PEBS_STEP;
	uint64_t bts_end = bts_base + bts * scenario_area(s)->bts_bytes;
	uint64_t pebs_end = pebs_base + pebs * pebs_bytes;

	return put(s, "bts_base", bts_base) && put(s, "bts_index", bts_base) &&
	       put(s, "bts_maximum", bts_end) && put(s, "bts_threshold", bts_end + 1) &&
	       put(s, "pebs_base", pebs_base) && put(s, "pebs_index", pebs_base) &&
	       put(s, "pebs_maximum", pebs_end) && put(s, "pebs_threshold", pebs_end + 1);
}

/* ds [pebs=RECORDS] [bts=RECORDS] [record=BYTES] [FIELD=VALUE]...: and IA32_DS_AREA. */
bool scenario_ds(struct scenario *s, const struct line *line)
{
	uint64_t pebs = 0, bts = 0, bytes = scenario_record_bytes(s), value;

	if (!scenario_area(s))
		return scenario_check(s, false, "the family has no DS area");
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned i = 1; i < line->count; i++) {
			char *word = line->word[i], *equal = strchr(word, '=');

			if (!equal)
				return scenario_refuse(s, "option", word);
			if (!scenario_value(s, equal + 1, &value))
				return false;
			bool size = scenario_option(word, "pebs") || scenario_option(word, "bts") ||
				    scenario_option(word, "record");

			if (scenario_option(word, "pebs"))
				pebs = value;
			else if (scenario_option(word, "bts"))
				bts = value;
			else if (scenario_option(word, "record"))
				bytes = value;
			if (size || !pass)
				continue;
			*equal = 0;
			bool good = put(s, word, value);

			*equal = '=';
			if (!good)
				return false;
		}
		if (!pass && !lay_out(s, pebs, bts, bytes))
			return false;
	}
	return scenario_check(
		s,
		spmu_write_msr(s->core, s->lp, 0x600, SCENARIO_AREA + s->lp * SCENARIO_AREA_STEP) ==
			SPMU_DONE,
		"IA32_DS_AREA refused the area");
}

/* Registers of formats 0 to 3, and of the adaptive group, which has another order. */
static const char *const gprs[] = {"rflags", "rip", "rax", "rbx", "rcx", "rdx",
				   "rsi",    "rdi", "rbp", "rsp", "r8",	 "r9",
				   "r10",    "r11", "r12", "r13", "r14", "r15"};
static const char *const adaptive_gprs[] = {"rflags", "rip", "rax", "rcx", "rdx", "rbx",
					    "rsp",    "rbp", "rsi", "rdi", "r8",  "r9",
					    "r10",    "r11", "r12", "r13", "r14", "r15"};

static int index_of(const char *const *names, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}

/* The groups of an adaptive record: basic, memory, registers, XMM, branches. */
static bool adaptive_field(const struct scenario *s, uint64_t record, const char *name,
			   uint64_t *value)
{
	static const char *const basic[] = {"format", "ip", "applicable", "tsc"};
	static const char *const memory[] = {"address", "source", "latency", "tx"};
	static const char *const branch[] = {"from", "to", "info"};
	uint64_t format = scenario_fetch(s, record, 8), at = record + 0x20;
	int i = index_of(basic, 4, name);
	char *end;

	if (!strcmp(name, "size")) {
		*value = format >> 48;
		return true;
	}
	if (!strcmp(name, "groups")) {
		*value = format & 0xffffffff;
		return true;
	}
	if (i >= 0) {
		*value = scenario_fetch(s, record + 8u * (unsigned)i, 8);
		return true;
	}
	if (format & 1) {
		if ((i = index_of(memory, 4, name)) >= 0) {
			*value = scenario_fetch(s, at + 8u * (unsigned)i, 8);
			return true;
		}
		at += 0x20;
	}
	if (format & 2) {
		if ((i = index_of(adaptive_gprs, 18, name)) >= 0) {
			*value = scenario_fetch(s, at + 8u * (unsigned)i, 8);
			return true;
		}
		at += 0x90;
	}
	if (format & 4) {
		if (!strncmp(name, "xmm", 3)) {
			*value = scenario_fetch(s, at + 16 * strtoul(name + 3, NULL, 10), 8);
			return true;
		}
		at += 0x100;
	}
	if (!(format & 8) || strncmp(name, "lbr", 3))
		return false;
	unsigned long n = strtoul(name + 3, &end, 10);

	if (*end != '.' || (i = index_of(branch, 3, end + 1)) < 0)
		return false;
	*value = scenario_fetch(s, at + 24 * n + 8u * (unsigned)i, 8);
	return true;
}

bool scenario_record_field(const struct scenario *s, uint64_t record, const char *name,
			   uint64_t *value)
{
	static const char *const rest[] = {"status",   "address", "source", "latency",
					   "eventing", "tx",	  "tsc"};
	unsigned bytes = scenario_record_bytes(s);
	int i;

	if (s->family->adaptive)
		return adaptive_field(s, record, name, value);
	if (!strcmp(name, "applicable")) {
		/* Before format 3 this is the status, which also has CondChgd. */
		if (!scenario_record_field(s, record, "status", value))
			return false;
		*value &= ~(UINT64_C(1) << 63);
		return true;
	}
	if (bytes == 0x28) {
		if ((i = index_of(gprs, 10, name)) < 0)
			return false;
		*value = scenario_fetch(s, record + 4u * (unsigned)i, 4);
		return true;
	}
	if ((i = index_of(rest, 7, name)) >= 0)
		i += 18;
	else
		i = index_of(gprs, 18, name);
	if (i < 0 || 8u * (unsigned)i >= bytes)
		return false;
	*value = scenario_fetch(s, record + 8u * (unsigned)i, 8);
	return true;
}
